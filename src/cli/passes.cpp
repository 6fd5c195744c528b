// passes.cpp: "lathe passes NETWORK": which passes change a network's graph, alone or after others;
// "lathe passes --table": the same of many networks, beside what was published.
#include <algorithm>

#include "base/error.h"
#include "cli/verb_listener.h"
#include "cli/verb_network.h"
#include "cli/verb_text.h"
#include "jobs/relevance.h"
#include "models/model.h"

namespace lathe::cli {
namespace {

struct PassesArgs {
  NetworkArguments network;
  int threads = 1;
  bool json = false, table = false;
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

nlohmann::json to_json(const PassRelevance& each) {
  nlohmann::json json{{"pass", each.pass},
                      {"relevant", each.is_relevant()},
                      {"alone", each.alone},
                      {"after", each.after},
                      {"after_all", each.after_all}};
  if (each.is_relevant()) json["nodes"] = {each.nodes_before, each.nodes_after};
  const Pass& pass = find_pass(each.pass);
  if (!pass.never.empty()) json["never"] = pass.never;
  if (pass.adds_outputs) json["adds_outputs"] = true;
  return json;
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
    auto known = published.find(each.network);
    if (known == published.end()) continue;
    print_marks("  as published", [&](const Pass& pass) {
      const auto& list = known->second;
      return std::find(list.begin(), list.end(), pass.name) != list.end() ? "#" : " ";
    });
  }
  fmt::print("\n{}\n", wrapped("# changes the graph alone, + after others, . never. Passes that "
                               "change no graph here or add outputs ('lathe list passes') are "
                               "left out.",
                               0, 0));
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
  if (!options.json) {
    print_table(networks);
    return 0;
  }
  nlohmann::json json = nlohmann::json::object();
  for (const NetworkRelevance& each : networks) {
    for (const PassRelevance& one : each.found) json[each.network].push_back(to_json(one));
  }
  fmt::print("{}\n", json.dump(2));
  return 0;
}

int run_passes(const PassesArgs& options) {
  if (options.table != options.network.network.empty()) {
    fail("give a NETWORK, or --table for all that are built in");
  }
  if (options.table) return run_table(options);
  Graph graph = initialised(load_network(options.network), options.network.seed);
  std::vector<PassRelevance> found;
  {
    JobBar bar("passes");
    found = relevance_of(graph, {.workers = options.threads}, bar.listener());
  }
  if (!options.json) {
    print_found(graph, found);
    return 0;
  }
  nlohmann::json json = nlohmann::json::array();
  for (const PassRelevance& each : found) json.push_back(to_json(each));
  fmt::print("{}\n", json.dump(2));
  return 0;
}

std::function<int()> set_up_passes(Command& app) {
  auto options = std::make_shared<PassesArgs>();
  add_network_arguments(app, options->network);
  app.option("NETWORK")->optional();
  app.add_flag("--table", options->table, "all built-in networks, beside what was published");
  app.add_option("--threads", options->threads, "number of workers that the network will run with")
      ->check(range(1, 256));
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run_passes(*options); };
}

}  // namespace

Verb passes() {
  return {"passes", "find out which passes change a network's graph", set_up_passes,
          "lathe passes resnet18-cifar"};
}

}  // namespace lathe::cli
