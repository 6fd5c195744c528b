// conformance.cpp: the call "conformance": run ONNX's own tests of backends.
#include "jobs/conformance.h"
#include "calls/call.h"

namespace lathe::calls {
namespace {

nlohmann::json run_conformance(Options& options, const JobListener& listener) {
  ConformanceOptions job;
  job.folder = options.required("folder");
  options.read("only", job.only);
  options.read("jobs", job.jobs, {0, 256});
  options.check_all_read();
  return to_json(lathe::conformance(job, listener));
}

}  // namespace

ForeignCall conformance() {
  return {"conformance", "run ONNX's own tests of backends", run_conformance};
}

}  // namespace lathe::calls
