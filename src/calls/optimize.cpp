// optimize.cpp: the call "optimize": find a faster network that keeps its capacity.
#include "calls/call.h"
#include "calls/call_network.h"
#include "calls/call_search.h"

namespace lathe::calls {
namespace {

nlohmann::json run_optimize(Options& options, const JobListener& listener) {
  OptimizeOptions job = search_options(options);
  std::string rule = "two-sided", budget, max_params, max_macs, constraint;
  bool is_thorough = false;
  options.read("rule", rule);
  job.rule = find_rule(rule);
  options.read("tolerance", job.rule.tolerance, {0});
  options.read("strategy", job.strategy);
  options.read("precision", job.precision);
  options.read("trials", job.trials, {1, 1e7});
  options.read("max_params", max_params);
  options.read("max_macs", max_macs);
  options.read("constraint", constraint);
  options.read("budget", budget);
  options.read("blocks", job.blocks);
  options.read("thorough", is_thorough);
  options.read("workers", job.workers.address);
  options.read("python", job.workers.python);
  options.read("machine", job.workers.kind);
  options.read("tls_ca", job.workers.tls_ca);
  options.read("tls_cert", job.workers.tls_cert);
  options.read("tls_key", job.workers.tls_key);
  options.read("insecure", job.workers.insecure);
  options.check_all_read();
  job.limits = {parse_limit("max_params", max_params), parse_limit("max_macs", max_macs),
                parse_latency("constraint", constraint)};
  job.budget = parse_budget("budget", budget);
  if (is_thorough) job = thorough(job);
  OptimizeResult found = lathe::optimize(job, listener);
  nlohmann::json result{{"folder", found.folder}, {"stopped", found.stopped}};
  if (found.result) {
    result["success"] = is_success(*found.result);
    result["result"] = to_json(*found.result);
  }
  return result;
}

}  // namespace

ForeignCall optimize() {
  return {"optimize", "find a faster network that keeps its capacity", run_optimize};
}

}  // namespace lathe::calls
