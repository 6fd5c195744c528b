// quantize.cpp: the call "quantize": make layers read 8-bit integers, and say what that costs.
#include "jobs/quantize.h"
#include "calls/call.h"
#include "calls/call_network.h"
#include "onnx/onnx.h"

namespace lathe::calls {
namespace {

nlohmann::json run_quantize(Options& options, const JobListener& listener) {
  QuantizeOptions job;
  std::string output;
  job.network = network_options(options);
  job.calibration = calibration_source(options);
  options.read("limit", job.limit, {0});
  options.read("threads", job.threads, {0, 256});
  options.read("output", output);
  options.check_all_read();
  QuantizeResult found = quantize_network(job, listener);
  if (!output.empty()) write_onnx(found.found.network, output);
  return to_json(found);
}

}  // namespace

ForeignCall quantize() {
  return {"quantize", "make layers read 8-bit integers, and say what that costs", run_quantize};
}

}  // namespace lathe::calls
