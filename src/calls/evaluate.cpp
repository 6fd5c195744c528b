// evaluate.cpp: the call "evaluate": count how often a network is right on labelled samples.
#include "jobs/evaluate.h"
#include "calls/call.h"
#include "calls/call_network.h"

namespace lathe::calls {
namespace {

nlohmann::json run_evaluate(Options& options, const JobListener& listener) {
  EvaluateOptions job;
  job.run.network = network_options(options);
  job.data = options.required("data");
  job.normalize = normalize_option(options);
  std::string split = "test";
  options.read("split", split);
  options.read("limit", job.limit, {0});
  options.read("threads", job.run.threads, {0, 256});
  options.check_all_read();
  if (!split_named(split)) fail("split is '{}': there are test, train and validation", split);
  job.split = *split_named(split);
  CompileOptions how;
  how.target = native_target();
  use_tuned(how, job.run.threads, listener);
  job.run.target = how.target;
  job.run.choose = how.choose;
  job.run.layouts = how.layouts;
  return to_json(lathe::evaluate(job, listener));
}

}  // namespace

ForeignCall evaluate() {
  return {"evaluate", "count how often a network is right on labelled samples", run_evaluate};
}

}  // namespace lathe::calls
