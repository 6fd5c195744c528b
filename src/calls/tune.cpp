// tune.cpp: the call "tune": find better schedules and layouts for a network by measuring.
#include "jobs/tune.h"
#include "calls/call.h"
#include "calls/call_network.h"

namespace lathe::calls {
namespace {

nlohmann::json run_tune(Options& options, const JobListener& listener) {
  TuneJobOptions job;
  std::string budget;
  bool again = false, show = false;
  job.network = network_options(options);
  PrecisionChoice choice = precision_options(options);
  options.read("budget", budget);
  options.read("threads", job.tune.threads, {1, 256});
  options.read("layer", job.tune.layers);
  options.read("search_seed", job.tune.seed, {0, 1e18});
  options.read("again", again);
  options.read("show", show);
  options.check_all_read();
  set_budget(job.tune, budget);
  job.precision = choice.precision;
  job.calibration = choice.calibration;
  job.tune.begin = again ? TuneOptions::Begin::again : TuneOptions::Begin::resume;
  Graph network = network_to_tune(job, listener);
  TuneReport found =
      show ? tuned_network(network, native_target(), job.tune.threads, job.tune.layers)
           : tune_network(network, job.tune, listener);
  nlohmann::json result = to_json(network.name, {job.tune.threads}, found);
  result["stopped"] = found.stopped;
  return result;
}

}  // namespace

ForeignCall tune() {
  return {"tune", "find better schedules and layouts for a network by measuring", run_tune};
}

}  // namespace lathe::calls
