// emit.cpp: the call "emit": print a nest, a layer or a graph at a stage of the compiler.
#include "jobs/emit.h"
#include "calls/call.h"
#include "calls/call_network.h"

namespace lathe::calls {
namespace {

nlohmann::json run_emit(Options& options, const JobListener& listener) {
  EmitOptions job;
  options.read("nest", job.nest);
  if (job.nest.empty()) job.network = network_options(options);
  options.read("layer", job.layer);
  options.read("recipe", job.recipe);
  options.read("max_error", job.limits.error, {0});
  options.read("at", job.at);
  options.read("target", job.target);
  options.read("threads", job.threads, {1, 256});
  options.read("tuned", job.tuned);
  options.read("passes", job.passes);
  options.read("after", job.after);
  options.read("diff", job.diff);
  options.check_all_read();
  Emitted made = lathe::emit(job, listener);
  if (made.refused) {
    const auto& [step, verdict] = *made.refused;
    fail("{}: {}{}{}", print(step), verdict.reason, verdict.evidence.empty() ? "" : "; ",
         verdict.evidence);
  }
  return {{"text", made.text}};
}

}  // namespace

ForeignCall emit() {
  return {"emit", "print a nest, a layer or a graph at a stage of the compiler", run_emit};
}

}  // namespace lathe::calls
