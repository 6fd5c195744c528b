// fit.cpp: the call "fit": give a changed network weights from its trained original.
#include "jobs/fit.h"
#include "calls/call.h"
#include "calls/call_network.h"
#include "onnx/onnx.h"

namespace lathe::calls {
namespace {

nlohmann::json run_fit(Options& options, const JobListener& listener) {
  FitJobOptions job;
  std::string output;
  job.network = network_options(options);
  job.data = options.required("data");
  job.normalize = normalize_option(options);
  options.read("samples", job.samples, {1, 1 << 20});
  options.read("validate", job.validate, {0, 1 << 20});
  options.read("ridge", job.ridge, {0, 1e6});
  options.read("threads", job.threads, {0, 256});
  options.read("output", output);
  options.check_all_read();
  FitResult found = fit_network(job, listener);
  if (!output.empty()) write_onnx(found.fit.network, output);
  return to_json(found);
}

}  // namespace

ForeignCall fit() {
  return {"fit", "give a changed network weights from its trained original", run_fit};
}

}  // namespace lathe::calls
