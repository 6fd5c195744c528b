// optimize.cpp: searches here, and in rounds with a GPU that may be elsewhere. Interface:
// optimize.h.
#include "jobs/optimize.h"

#include "base/error.h"
#include "jobs/network_search.h"
#include "jobs/precision.h"

namespace lathe {
namespace {

/// Searches with networks that are measured on a GPU. Where that is elsewhere, the search ends when
/// it knows what is to be measured next, and goes on in the next call.
OptimizeResult optimize_for_gpu(const OptimizeOptions& options, const JobListener& listener) {
  check_precision_on_gpu(options.precision);
  WorkFolder work(options.folder);
  JobFolderOptions jobs = options.jobs;
  if (jobs.folder.empty()) jobs.folder = options.folder + "/jobs";
  JobFolder folder(jobs);
  TunedStore store(options.folder + "/tuned.db");
  RoundBenchOptions how;
  how.seed = options.score.network.seed;
  how.threads = options.threads;
  how.max_error = options.score.max_error;
  how.stop = [&] { return listener.is_stopped(); };
  how.progress = [&](size_t done, size_t all) {
    listener(WorkDone{"candidates compiled", done, all});
  };
  RoundBench rounds(folder, *options.gpu, store, how);
  while (true) {
    try {
      OptimizeResult result = NetworkSearch(options, listener, &rounds).run();
      work.keep();
      return result;
    } catch (const JobsWait&) {
      work.keep();
      RoundsWaiting waiting = rounds.next_round();
      if (!waiting.stopped && waiting.jobs == 0) continue;
      if (waiting.stopped) throw JobStopped();
      if (!rounds.run()) return {options.folder, false, waiting};
      if (listener.is_stopped()) throw JobStopped();
    }
  }
}

/// Fails where other machines cannot do what is wanted.
void check_workers(const OptimizeOptions& options) {
  if (options.workers.address.empty()) return;
  if (options.gpu) fail("--workers measure on CPUs, and --target is a GPU: leave out one of them");
  if (options.precision != name_of(Precision::f32)) {
    fail("--workers measure in f32, and --precision is {}: leave out one of them",
         options.precision);
  }
}

}  // namespace

OptimizeOptions thorough(OptimizeOptions options) {
  auto raise = [](auto& value, const auto& usual, auto large) {
    if (value == usual) value = large;
  };
  OptimizeOptions usual;
  raise(options.space.most, usual.space.most, size_t{60});
  raise(options.exact, usual.exact, 20L);
  raise(options.score.samples, usual.score.samples, 64L);
  raise(options.score.seeds, usual.score.seeds, 3L);
  raise(options.tune, usual.tune, 180.0);
  return options;
}

OptimizeResult optimize(OptimizeOptions options, const JobListener& listener) {
  if (options.folder.empty()) options.folder = work_folder_of(options.score.network.network);
  try {
    check_workers(options);
    if (options.gpu) return optimize_for_gpu(options, listener);
    long lanes = native_target().lanes(size_of(Element::f32));
    options.space.channel_step = std::max(options.space.channel_step, lanes);
    return NetworkSearch(options, listener, nullptr).run();
  } catch (const JobStopped&) {
    return {options.folder, true};
  }
}

bool is_success(const SearchResult& result) {
  bool asked = std::any_of(result.limits.begin(), result.limits.end(),
                           [](const ResultLimit& limit) { return limit.what == "latency"; });
  bool all_met = std::all_of(result.limits.begin(), result.limits.end(),
                             [](const ResultLimit& limit) { return limit.met; });
  return result.found || (asked && all_met);
}

}  // namespace lathe
