// passes.cpp: "lathe passes NETWORK": which passes change a network's graph, alone or after others.
#include "cli/verb_listener.h"
#include "cli/verb_network.h"
#include "cli/verb_text.h"
#include "jobs/relevance.h"

namespace lathe::cli {
namespace {

struct PassesArgs {
  NetworkArguments network;
  int threads = 1;
  bool json = false;
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
  if (const std::string& never = find_pass(each.pass).never; !never.empty()) json["never"] = never;
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
  std::vector<std::string> none, never;
  for (const PassRelevance& each : found) {
    if (!each.is_relevant()) {
      (find_pass(each.pass).never.empty() ? none : never).push_back(each.pass);
      continue;
    }
    fmt::print("{:<24} {:>5} -> {:<4}  {}\n", each.pass, each.nodes_before, each.nodes_after,
               wrapped(when(each), 40, 40));
  }
  fmt::print("\n{}\n", wrapped("irrelevant here: " + joined(none), 17, 0));
  fmt::print("{}\n", wrapped("always, as 'lathe list passes' says: " + joined(never), 17, 0));
}

int run_passes(const PassesArgs& options) {
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
