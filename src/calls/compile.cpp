// compile.cpp: the call "compile": write a network as a library.
#include "calls/call.h"
#include "calls/call_network.h"

namespace lathe::calls {
namespace {

nlohmann::json run_compile(Options& options, const JobListener& listener) {
  CompileJobOptions job;
  job.network = network_options(options);
  job.folder = options.required("output");
  options.read("target", job.target);
  options.read("host", job.library.host);
  options.read("name", job.library.name);
  options.read("recipe", job.recipe);
  options.read("threads", job.threads, {0, 256});
  options.read("also", job.also);
  options.read("passes", job.passes);
  options.read("thorough", job.thorough);
  options.read("tuned", job.tuned);
  options.read("max_error", job.max_error, {0});
  PrecisionChoice choice = precision_options(options);
  options.check_all_read();
  job.precision = choice.precision;
  job.calibration = choice.calibration;
  CompileJobResult made = compile_network(job, listener);
  nlohmann::json result{{"folder", job.folder}, {"name", made.name}, {"kept", made.kept}};
  if (made.schedules) {
    result["units"] = made.schedules->units;
    result["unknown_units"] = made.schedules->unknown;
  }
  return result;
}

}  // namespace

ForeignCall compile() { return {"compile", "write a network as a library", run_compile}; }

}  // namespace lathe::calls
