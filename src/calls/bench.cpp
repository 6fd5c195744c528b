// bench.cpp: the call "bench": measure how fast a network runs here.
#include "jobs/bench.h"
#include "calls/call.h"
#include "calls/call_network.h"
#include "jobs/peers.h"

namespace lathe::calls {
namespace {

nlohmann::json run_bench(Options& options, const JobListener& listener) {
  BenchJobOptions job;
  std::string against, lathe;
  bool machine = false;
  options.read("machine", machine);
  if (machine) {
    options.check_all_read();
    return to_json(bench_machine());
  }
  job.network = network_options(options);
  PrecisionChoice choice = precision_options(options);
  options.read("target", job.target);
  options.read("threads", job.threads, {1, 256});
  options.read("seconds", job.seconds, {0.01, 3600});
  options.read("layers", job.layers);
  options.read("thorough", job.thorough);
  options.read("tuned", job.tuned);
  options.read("max_error", job.max_error, {0});
  options.read("against", against);
  options.read("lathe", lathe);
  options.check_all_read();
  job.precision = choice.precision;
  job.calibration = choice.calibration;
  if (!against.empty()) {
    return nlohmann::json::parse(measured_peers({job.network, against, lathe, job.threads,
                                                 job.seconds, name_of(job.precision)})
                                     .all);
  }
  return to_json(bench_network(job, listener));
}

}  // namespace

ForeignCall bench() { return {"bench", "measure how fast a network runs here", run_bench}; }

}  // namespace lathe::calls
