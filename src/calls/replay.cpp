// replay.cpp: the call "replay": make the bundle of a search again from its recipe.
#include "jobs/replay.h"
#include "calls/call.h"

namespace lathe::calls {
namespace {

nlohmann::json run_replay(Options& options, const JobListener& listener) {
  ReplayOptions job;
  job.recipe = options.required("recipe");
  job.folder = options.required("output");
  options.read("network", job.network);
  options.check_all_read();
  nlohmann::json result = to_json(replay_bundle(job, listener));
  result["folder"] = job.folder;
  return result;
}

}  // namespace

ForeignCall replay() {
  return {"replay", "make the bundle of a search again from its recipe", run_replay};
}

}  // namespace lathe::calls
