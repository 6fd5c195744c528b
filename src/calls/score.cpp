// score.cpp: the call "score": score a network before it is trained.
#include "jobs/score.h"
#include "calls/call.h"
#include "calls/call_network.h"

namespace lathe::calls {
namespace {

nlohmann::json run_score(Options& options, const JobListener& listener) {
  ScoreJobOptions job;
  job.score = score_options(options);
  options.read("metrics", job.metrics);
  options.read("recipe", job.recipe);
  options.check_all_read();
  return to_json(job, score_network(job, listener));
}

}  // namespace

ForeignCall score() { return {"score", "score a network before it is trained", run_score}; }

}  // namespace lathe::calls
