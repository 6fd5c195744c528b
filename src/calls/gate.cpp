// gate.cpp: the call "gate": judge whether a network keeps its capacity.
#include "jobs/gate.h"
#include "calls/call.h"
#include "calls/call_network.h"

namespace lathe::calls {
namespace {

nlohmann::json run_gate(Options& options, const JobListener& listener) {
  GateJobOptions job;
  job.score = score_options(options);
  std::string recipe = options.required("recipe"), rule = "two-sided";
  options.read("rule", rule);
  options.check_all_read();
  check_recipe(recipe, job.score.network.network, load_network(job.score.network));
  job.recipe = load_network_recipe("recipe", recipe);
  job.rule = find_rule(rule);
  return to_json(job.rule, judge_network(job, listener));
}

}  // namespace

ForeignCall gate() { return {"gate", "judge whether a network keeps its capacity", run_gate}; }

}  // namespace lathe::calls
