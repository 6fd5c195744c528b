// passes.cpp: "lathe passes NETWORK": which passes change a network's graph, alone or after others,
// and the best selection and order of them; "lathe passes --table": which ones change each of many
// networks, beside what was published.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/verb_listener.h"
#include "cli/verb_network.h"
#include "cli/verb_pass_search.h"
#include "cli/verb_text.h"
#include "data/file.h"
#include "jobs/relevance.h"
#include "models/model.h"
#include "report/grid.h"

namespace lathe::cli {
namespace {

struct PassesArgs {
  NetworkArguments network;
  int threads = 1;
  std::string objective = "latency", budget = "1m", folder, picture;
  bool json = false, table = false, inexact = false;
};

/// A network and what is found of it.
struct NetworkRelevance {
  std::string network;
  std::vector<PassRelevance> found;
};

/// Passes that Verma et al. (2022) count to the class of a network, by hand, for TVM's graphs.
const std::map<std::string, std::vector<std::string>> published = {
    {"resnet50",
     {"AlterOpLayout", "CanonicalizeCast", "CombineParallelConv2D", "CombineParallelDense",
      "DeadCodeElimination", "EliminateCommonSubexpr", "FoldConstant", "FoldExplicitPadding",
      "FuseOps", "MergeComposite", "SimplifyExpr", "SimplifyInference", "ToGraphNormalForm"}},
    {"mobilenet_v2",
     {"AlterOpLayout", "DeadCodeElimination", "EliminateCommonSubexpr", "FastMath",
      "FirstOrderGradient", "FoldConstant", "FuseOps", "MergeComposite", "SimplifyExpr",
      "SimplifyFCTranspose", "SimplifyInference", "ToGraphNormalForm"}},
    {"ssd_resnet50",
     {"AlterOpLayout", "DeadCodeElimination", "FastMath", "FoldConstant", "FoldExplicitPadding",
      "FuseOps", "MergeComposite", "RemoveUnusedFunctions", "SimplifyExpr", "SimplifyInference"}},
    {"bert_base",
     {"AlterOpLayout", "BatchingOps", "FastMath", "ForwardFoldScaleAxis", "FuseOps",
      "SimplifyFCTranspose"}},
};

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Says in which case a pass changes the graph.
std::string when(const PassRelevance& each) {
  if (each.alone) return "alone";
  if (!each.after.empty()) return "after " + joined(each.after);
  return "after all of the usual ones before it";
}

void print_found(const Graph& graph, const std::vector<PassRelevance>& found) {
  fmt::print("{}: {} nodes\n\n", graph.name, graph.nodes.size());
  fmt::print("{:<24} {:>13}  {}\n", "pass", "nodes", "changes the graph");
  std::vector<std::string> none, never, more;
  for (const PassRelevance& each : found) {
    if (!each.is_relevant()) {
      const Pass& pass = find_pass(each.pass);
      (pass.adds_outputs ? more : pass.never.empty() ? none : never).push_back(each.pass);
      continue;
    }
    fmt::print("{:<24} {:>5} -> {:<4}  {}\n", each.pass, each.nodes_before, each.nodes_after,
               wrapped(when(each), 40, 40));
  }
  fmt::print("\n{}\n", wrapped("irrelevant here: " + joined(none), 17, 0));
  fmt::print("{}\n", wrapped("always, as 'lathe list passes' says: " + joined(never), 17, 0));
  fmt::print("{}\n", wrapped("not tried, as they add outputs: " + joined(more), 17, 0));
}

bool is_published(const std::string& network, const std::string& pass) {
  auto known = published.find(network);
  return known != published.end() &&
         std::find(known->second.begin(), known->second.end(), pass) != known->second.end();
}

/// Prints a row of the table: a mark for each pass that can rewrite a graph.
void print_marks(const std::string& name, const std::function<const char*(const Pass&)>& mark) {
  std::string row;
  for (const Pass& pass : lathe::passes::all()) {
    if (is_rewrite(pass)) row += fmt::format(" {}", mark(pass));
  }
  fmt::print("{:<20.20}{}\n", name, row);
}

void print_table(const std::vector<NetworkRelevance>& networks) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string legend, header;
  for (const Pass& pass : lathe::passes::all()) {
    if (!is_rewrite(pass)) continue;
    char letter = letters.at(header.size() / 2);
    legend += fmt::format("{}{}={}", legend.empty() ? "" : ", ", letter, pass.name);
    header += fmt::format(" {}", letter);
  }
  fmt::print("{}\n\n{:<20}{}\n", wrapped(legend, 0, 0), "", header);
  for (const NetworkRelevance& each : networks) {
    print_marks(each.network, [&](const Pass& pass) {
      auto found = std::find_if(each.found.begin(), each.found.end(),
                                [&](const PassRelevance& one) { return one.pass == pass.name; });
      return found->alone ? "#" : found->is_relevant() ? "+" : ".";
    });
    if (!published.contains(each.network)) continue;
    print_marks("  as published", [&](const Pass& pass) {
      return is_published(each.network, pass.name) ? "#" : " ";
    });
  }
  fmt::print("\n{}\n", wrapped("# changes the graph alone, + after others, . never. Passes that "
                               "change no graph here or add outputs ('lathe list passes') are "
                               "left out.",
                               0, 0));
}

/// Draws the table, published classes as rings.
std::string picture_of(const std::vector<NetworkRelevance>& networks) {
  CellGrid grid{.title = "Which passes change which network",
                .columns = {},
                .full = "alone",
                .half = "after others",
                .ring = "published for TVM"};
  for (const Pass& pass : lathe::passes::all()) grid.columns.push_back(pass.name);
  for (const NetworkRelevance& each : networks) {
    GridRow row{each.network, {}};
    for (const PassRelevance& one : each.found) {
      GridMark mark = one.alone           ? GridMark::full
                      : one.is_relevant() ? GridMark::half
                                          : GridMark::none;
      row.cells.push_back({mark, is_published(each.network, one.pass)});
    }
    grid.rows.push_back(std::move(row));
  }
  return print_svg(grid);
}

std::vector<PassRelevance> found_of(const NetworkArguments& network, int threads,
                                    const JobListener& listener) {
  return relevance_of(initialised(load_network(network), network.seed), {.workers = threads},
                      listener);
}

int run_table(const PassesArgs& options) {
  std::vector<NetworkRelevance> networks;
  std::vector<ModelEntry> models = list_models();
  {
    JobBar bar("networks");
    JobListener listener = bar.listener();
    for (const ModelEntry& model : models) {
      NetworkArguments network = options.network;
      network.network = model.example;
      JobListener quiet{nullptr, listener.stop};
      networks.push_back({model.example, found_of(network, options.threads, quiet)});
      listener(WorkDone{"networks", networks.size(), models.size()});
    }
  }
  if (!options.picture.empty()) {
    std::string picture = picture_of(networks);
    write_file(options.picture, {std::as_bytes(std::span(picture))});
  }
  if (!options.json) {
    print_table(networks);
    return 0;
  }
  nlohmann::json json = nlohmann::json::object();
  for (const NetworkRelevance& each : networks) json[each.network] = to_json(each.found);
  fmt::print("{}\n", json.dump(2));
  return 0;
}

PassSearchOptions search_options(const PassesArgs& options) {
  PassSearchOptions search;
  search.network = options.network;
  search.objective = objective_named(options.objective);
  search.seconds = parse_pass_budget("--budget", options.budget);
  search.folder = options.folder;
  search.threads = options.threads;
  search.seed = options.network.seed;
  search.inexact = options.inexact;
  return search;
}

int run_passes(const PassesArgs& options) {
  if (options.table != options.network.network.empty()) {
    fail("give a NETWORK, or --table for all that are built in");
  }
  if (!options.table && !options.picture.empty()) fail("--picture draws what --table shows");
  if (options.table) return run_table(options);
  PassSearchOptions search = search_options(options);
  Graph graph = initialised(load_network(options.network), options.network.seed);
  std::vector<PassRelevance> found;
  {
    JobBar bar("passes");
    found = relevance_of(graph, {.workers = options.threads}, bar.listener());
  }
  nlohmann::json json{{"relevance", to_json(found)}};
  if (!options.json) print_found(graph, found);
  if (search.seconds > 0) {
    PassSearchResult best = search_passes(graph, found, search, telling_of_passes());
    json["search"] = to_json(best, search);
    if (!options.json) print_pass_search(best, search);
  }
  if (options.json) fmt::print("{}\n", json.dump(2));
  return 0;
}

std::function<int()> set_up_passes(Command& app) {
  auto options = std::make_shared<PassesArgs>();
  add_network_arguments(app, options->network);
  app.option("NETWORK")->optional();
  app.add_flag("--table", options->table, "all built-in networks, beside what was published");
  app.add_option("--picture FILE", options->picture, "with --table: draw it as SVG, too")->writes();
  app.add_option("--threads", options->threads, "number of workers that the network will run with")
      ->check(range(1, 256));
  app.add_option("--objective WHAT", options->objective,
                 "latency, throughput, compile-time, memory or power: what a search improves");
  app.add_option("--budget TIME", options->budget, "how long to search, as in 5m; 0: not at all");
  app.add_flag("--inexact", options->inexact,
               "try passes that change what is computed, too: 'lathe list passes' says how far");
  app.add_option("--work-dir FOLDER", options->folder,
                 "where the search is kept (default: one in runs/)");
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run_passes(*options); };
}

}  // namespace

Verb passes() {
  return {"passes", "find the passes that a network needs, and their order", set_up_passes,
          "lathe passes mobilenet_v2 --objective throughput --budget 5m"};
}

}  // namespace lathe::cli
