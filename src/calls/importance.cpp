// importance.cpp: the call "importance": find the channels that a trained network owes most to.
#include "jobs/importance.h"
#include "calls/call.h"
#include "calls/call_network.h"

namespace lathe::calls {
namespace {

nlohmann::json run_importance(Options& options, const JobListener& listener) {
  ImportanceOptions job;
  std::string by = "fisher", output;
  job.score = score_options(options);
  options.read("by", by);
  options.read("output", output);
  options.check_all_read();
  auto known = importance_named(by);
  if (!known) fail("by is '{}': there are fisher, taylor and magnitude", by);
  job.by = *known;
  ImportanceResult found = find_importance(job, listener);
  if (!output.empty()) write_network_recipe(found.order, output);
  return to_json(found);
}

}  // namespace

ForeignCall importance() {
  return {"importance", "find the channels that a trained network owes most to", run_importance};
}

}  // namespace lathe::calls
