// verify.cpp: the call "verify": check that all files of a bundle compute the same.
#include "jobs/verify.h"
#include "calls/call.h"

namespace lathe::calls {
namespace {

nlohmann::json run_verify(Options& options, const JobListener& /*listener*/) {
  VerifyJobOptions job;
  job.folder = options.required("folder");
  options.read("onnx", job.onnx);
  options.read("python", job.python);
  options.read("threads", job.how.threads, {1, 256});
  options.read("patience", job.how.patience, {0, 1e9});
  options.read("seed", job.how.seed, {0, 1e18});
  options.check_all_read();
  return to_json(verify_folder(job));
}

}  // namespace

ForeignCall verify() {
  return {"verify", "check that all files of a bundle compute the same", run_verify};
}

}  // namespace lathe::calls
