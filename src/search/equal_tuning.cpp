// equal_tuning.cpp: tuning all alike, then measuring. Interface: equal_tuning.h.
#include "search/equal_tuning.h"

#include "base/error.h"
#include "search/native_bench.h"
#include "search/tune.h"

namespace lathe {
namespace {

/// The subject of trials in the journal.
constexpr const char* subject = "tuned network";

}  // namespace

EqualTuning::EqualTuning(const Graph& original, std::string store, Journal& journal,
                         EqualTuningOptions options)
    : original_(original),
      store_(std::move(store)),
      journal_(journal),
      options_(std::move(options)) {
  options_.bench.target.workers = options_.bench.threads;
}

bool EqualTuning::tune_once(const Graph& network, const std::string& name,
                            const std::string& recipe) {
  if (options_.seconds <= 0) return true;
  std::string key = fmt::format("tuned for {} s: {}", options_.seconds, recipe);
  if (journal_.number(key)) return true;
  TunedStore store(store_);
  TuneOptions how;
  how.threads = options_.bench.threads;
  how.seconds = options_.seconds;
  how.seed = options_.seed;
  how.stop = options_.stop;
  if (options_.progress) {
    how.progress = [&](const TuneState& state) { options_.progress(name, state.elapsed); };
  }
  auto bench = native_bench(network, options_.bench.target, how.threads);
  TuneReport report = tune(network, options_.bench.target, *bench, store, how);
  if (report.stopped) return false;
  journal_.set_number(key, static_cast<double>(report.trials));
  return true;
}

std::optional<NetworkTimes> EqualTuning::measure(const Graph& candidate,
                                                 const std::string& recipe) {
  auto known = journal_.find(subject, recipe);
  if (known && known->details.value("seconds", -1.0) == options_.seconds) {
    NetworkTimes times;
    times.failure = known->reason;
    times.own = known->own;
    times.time = known->time;
    times.spread = known->details.value("spread", 0.0);
    if (known->details.contains("checks")) {
      times.checks = network_checks_from_json(known->details["checks"]);
      times.own_checks = network_checks_from_json(known->details["original_checks"]);
    }
    return times;
  }
  if (!tune_once(original_, "the original", "")) return std::nullopt;
  if (!tune_once(candidate, "what was found", recipe)) return std::nullopt;
  BenchOptions how = options_.bench;
  CompileOptions compiling = this->compiling();
  how.choose = compiling.choose;
  how.layouts = compiling.layouts;
  NetworkTimes times = NetworkBench(original_, how).measure(candidate);
  Trial trial{.subject = subject, .recipe = recipe, .time = times.time, .own = times.own};
  trial.reason = times.failure;
  if (!times.failure.empty()) trial.outcome = Trial::Outcome::failed;
  trial.details = {{"seconds", options_.seconds}, {"spread", times.spread}};
  if (times.failure.empty()) {
    trial.details["checks"] = to_json(times.checks);
    trial.details["original_checks"] = to_json(times.own_checks);
  }
  journal_.add(trial);
  return times;
}

CompileOptions EqualTuning::compiling() const {
  CompileOptions how;
  how.target = options_.bench.target;
  how.max_error = options_.bench.max_error;
  if (options_.seconds <= 0) return how;
  int threads = options_.bench.threads;
  how.choose = tuned_choices(store_, how.target, threads, [](const std::string& what) {
    fail("what tuning found cannot be read: {}", what);
  });
  how.layouts = tuned_layouts(store_, how.target, threads);
  return how;
}

}  // namespace lathe
