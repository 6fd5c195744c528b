// passes.cpp: the call "passes": find the passes that a network needs, and their order.
#include "calls/call.h"
#include "calls/call_network.h"
#include "jobs/pass_search.h"

namespace lathe::calls {
namespace {

nlohmann::json run_passes(Options& options, const JobListener& listener) {
  PassSearchOptions job;
  std::string objective = "latency", budget = "1m";
  job.network = network_options(options);
  options.read("objective", objective);
  options.read("budget", budget);
  options.read("work_dir", job.folder);
  options.read("threads", job.threads, {1, 256});
  options.read("inexact", job.inexact);
  options.check_all_read();
  job.objective = objective_named(objective);
  job.seconds = parse_pass_budget("budget", budget);
  job.seed = job.network.seed;
  Graph graph = initialised(load_network(job.network), job.network.seed);
  std::vector<PassRelevance> found = relevance_of(graph, {.workers = job.threads}, listener);
  nlohmann::json result{{"nodes", graph.nodes.size()}, {"relevance", to_json(found)}};
  if (job.seconds > 0) result["search"] = to_json(search_passes(graph, found, job, listener), job);
  return result;
}

}  // namespace

ForeignCall passes() {
  return {"passes", "find the passes that a network needs, and their order", run_passes};
}

}  // namespace lathe::calls
