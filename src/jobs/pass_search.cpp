// pass_search.cpp: see pass_search.h.
#include "jobs/pass_search.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/memo.h"
#include "compile/embedded.h"
#include "compile/ready.h"
#include "compile/tuned.h"
#include "jobs/amount.h"
#include "jobs/work_folder.h"
#include "search/isolated.h"
#include "search/journal.h"

namespace lathe {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::pair<PassObjective, const char*> objectives[] = {
    {PassObjective::latency, "latency"},
    {PassObjective::throughput, "throughput"},
    {PassObjective::compile_time, "compile-time"},
    {PassObjective::memory, "memory"},
    {PassObjective::power, "power"}};

/// As many as the study has of each before climbing begins.
constexpr long random_selections = 4, random_orders = 2;

/// Sequences in a row that led to known graphs only, after which there is nothing new nearby.
constexpr long most_known_in_a_row = 60;

/// The best so many are measured again, for longer: the best of many short measurements is one that
/// was lucky. Each gets such a share of the budget, within bounds.
constexpr size_t measured_again = 3;
constexpr double first_seconds = 0.6, again_share = 0.03, least_again = 1, most_again = 6;

/// What is not so many times better than the usual passes is no better, by a clock.
constexpr double least_gain = 1.01;

/// Seconds for compiling one candidate with empty caches.
constexpr double compile_limit = 600;

/// The subjects of trials in the journal.
constexpr const char *tried = "passes", *confirmed = "passes, measured longer",
                     *compiled_cold = "passes, compiled with empty caches";

Json to_json(const PassCandidate& candidate) {
  const PassMeasures& m = candidate.measures;
  Json json{{"way", candidate.way},
            {"hash", fmt::format("{:016x}", candidate.hash)},
            {"bytes", m.bytes},
            {"pass_seconds", m.pass_seconds},
            {"kernel_seconds", m.kernel_seconds}};
  if (m.power.watts) json["watts"] = *m.power.watts;
  if (m.power.celsius) json["celsius"] = *m.power.celsius;
  return json;
}

/// Puts what a journal has of a candidate into it.
void take_over(const Trial& trial, PassCandidate& candidate) {
  candidate.failure = trial.reason;
  PassMeasures& m = candidate.measures;
  m.seconds = trial.time;
  m.own = trial.own;
  m.bytes = trial.details.value("bytes", 0L);
  m.pass_seconds = trial.details.value("pass_seconds", 0.0);
  m.kernel_seconds = trial.details.value("kernel_seconds", 0.0);
  if (trial.details.contains("watts")) m.power.watts = trial.details["watts"];
  if (trial.details.contains("celsius")) m.power.celsius = trial.details["celsius"];
}

Trial trial_of(const std::string& subject, const PassCandidate& candidate) {
  Trial trial{.subject = subject, .recipe = print_passes(candidate.passes)};
  trial.reason = candidate.failure;
  if (!trial.reason.empty()) trial.outcome = Trial::Outcome::failed;
  trial.time = candidate.measures.seconds;
  trial.own = candidate.measures.own;
  trial.details = to_json(candidate);
  return trial;
}

/// May a pass be in a sequence? It can change a graph, and keeps what that computes, or nearly.
bool may_be_tried(const Pass& pass, bool inexact) {
  return is_rewrite(pass) && (inexact || pass.tolerance == 0);
}

PassList passes_to_try(bool inexact) {
  PassList result;
  for (const Pass& pass : passes::all()) {
    if (may_be_tried(pass, inexact)) result.push_back(pass.name);
  }
  return result;
}

Journal::Identity identity_of(const PassSearchOptions& options, const Graph& graph) {
  return {{"network", fmt::format("{} {:016x}", graph.name, structural_hash(graph))},
          {"version of Lathe", std::string(lathe_version())},
          {"machine", tuned_target(native_target())},
          {"objective", name_of(options.objective)},
          {"passes", options.inexact ? "all" : "exact"},
          {"seed", std::to_string(options.seed)},
          {"number of threads", std::to_string(options.threads)}};
}

std::string folder_of(const PassSearchOptions& options) {
  if (!options.folder.empty()) return options.folder;
  return fmt::format("{}-passes-{}", work_folder_of(options.network.network),
                     name_of(options.objective));
}

class PassSearch {
 public:
  PassSearch(const Graph& graph, const std::vector<PassRelevance>& relevance,
             const PassSearchOptions& options, const JobListener& listener)
      : graph_(graph),
        options_(options),
        listener_(listener),
        folder_(folder_of(options)),
        journal_(folder_.path(), identity_of(options, graph)),
        context_{.workers = options.threads},
        random_(options.seed, "passes"),
        everything_(passes_to_try(options.inexact)) {
    for (const PassRelevance& each : relevance) {
      bool tried = may_be_tried(find_pass(each.pass), options.inexact);
      if (each.is_relevant() && tried) relevant_.push_back(each.pass);
    }
    PowerMeter meter;
    result_.sensors = meter.sources();
    if (options.objective == PassObjective::power && !meter.shows_power()) {
      fail("this machine does not show its power: neither powercap, hwmon nor NVML has it");
    }
    result_.folder = folder_.path();
    result_.batch = graph.values[graph.inputs.front()].type.shape.empty()
                        ? 1
                        : graph.values[graph.inputs.front()].type.shape.front();
  }

  PassSearchResult run() {
    try_sequence("BL", usual_passes());
    folder_.keep();
    result_.usual = result_.candidates.front();
    if (!result_.usual.failure.empty()) fail("{}", result_.usual.failure);
    explore();
    settle();
    return std::move(result_);
  }

 private:
  const Graph& graph_;
  const PassSearchOptions& options_;
  const JobListener& listener_;
  WorkFolder folder_;
  Journal journal_;
  PassContext context_;
  Random random_;
  PassList everything_, relevant_;
  std::unique_ptr<NetworkBench> bench_;
  std::set<uint64_t> known_;  // graphs of the candidates
  PassSearchResult result_;
  Clock::time_point begin_ = Clock::now();

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  /// Has the time for trying come to an end? A part is for measuring the best ones again.
  bool is_over() const {
    constexpr double for_trying = 0.7;
    return listener_.is_stopped() || elapsed() > for_trying * options_.seconds;
  }

  double gain(const PassCandidate& candidate) const {
    return result_.gain(candidate, options_.objective);
  }

  // ---- trying -------------------------------------------------------------------------------

  void explore() {
    for (long i = 0; i < std::max(random_selections, random_orders) && !is_over(); ++i) {
      if (i < random_orders) {
        try_sequence(fmt::format("AS-{}", i), random_order(relevant_, random_));
      }
      if (i < random_selections) {
        try_sequence(fmt::format("PO-{}", i), random_selection(everything_, random_));
      }
    }
    // Climbing begins with what of the usual passes has work here.
    PassList lean;
    for (const std::string& pass : usual_passes()) {
      if (std::find(relevant_.begin(), relevant_.end(), pass) != relevant_.end()) {
        lean.push_back(pass);
      }
    }
    long climbed = 0, known_in_a_row = 0;
    for (PassList next = lean; known_in_a_row < most_known_in_a_row && !is_over();
         next = changed(best().passes, relevant_, random_)) {
      bool is_new = try_sequence(fmt::format("C-{}", climbed), next);
      known_in_a_row = is_new ? 0 : known_in_a_row + 1;
      climbed += is_new ? 1 : 0;
    }
  }

  /// Returns the best candidate so far.
  const PassCandidate& best() const {
    const PassCandidate* best = &result_.candidates.front();
    for (const PassCandidate& each : result_.candidates) {
      if (each.failure.empty() && gain(each) > gain(*best)) best = &each;
    }
    return *best;
  }

  /// Tries a sequence, unless its graph was tried before. Returns whether it was new.
  bool try_sequence(const std::string& way, const PassList& passes) {
    ++result_.sequences;
    PassCandidate candidate{way, passes, 0, "", {}};
    try {
      candidate.hash = hash_after(passes);
    } catch (const UserError& error) {
      candidate.failure = error.what();
    }
    if (candidate.failure.empty()) {
      if (!known_.insert(candidate.hash).second) return false;
      measure(tried, first_seconds, candidate);
    }
    result_.candidates.push_back(candidate);
    if (result_.candidates.size() == 1) result_.usual = candidate;
    tell(candidate);
    return true;
  }

  uint64_t hash_after(const PassList& passes) const {
    return written_hash(ready_to_compile(graph_, context_, passes));
  }

  /// Leaves out passes one by one, as long as the same graph comes out.
  PassList shortened(PassList passes, uint64_t hash) const {
    for (size_t i = passes.size(); i-- > 0 && !listener_.is_stopped();) {
      PassList fewer = passes;
      fewer.erase(fewer.begin() + static_cast<long>(i));
      if (hash_after(fewer) == hash) passes = std::move(fewer);
    }
    return passes;
  }

  void measure(const char* subject, double seconds, PassCandidate& candidate) {
    if (auto known = journal_.find(subject, print_passes(candidate.passes))) {
      return take_over(*known, candidate);
    }
    if (!bench_) {
      BenchOptions how{.target = native_target(), .threads = options_.threads, .seconds = seconds};
      how.power = options_.objective == PassObjective::power;
      bench_ = std::make_unique<NetworkBench>(graph_, how);
    }
    NetworkTimes times = bench_->measure_passes(candidate.passes, tolerance_of(candidate.passes));
    candidate.failure = times.failure;
    PassMeasures& m = candidate.measures;
    m.seconds = times.time;
    m.own = times.own;
    m.bytes = times.bytes;
    m.power = times.power;
    bool compiles = options_.objective == PassObjective::compile_time && candidate.failure.empty();
    if (compiles) measure_compiling(candidate);
    journal_.add(trial_of(subject, candidate));
  }

  static double tolerance_of(const PassList& passes) {
    double sum = 0;
    for (const std::string& pass : passes) sum += find_pass(pass).tolerance;
    return sum;
  }

  /// Compiles a candidate as for the first time: nothing is remembered, and no file is used.
  void measure_compiling(PassCandidate& candidate) {
    if (auto known = journal_.find(compiled_cold, print_passes(candidate.passes))) {
      candidate.measures.pass_seconds = known->details.at("pass_seconds");
      candidate.measures.kernel_seconds = known->details.at("kernel_seconds");
      return;
    }
    Outcome outcome = isolated(
        [&] {
          AnyMemo::forget_all();
          CompileOptions how;
          how.target = native_target();
          how.target.workers = options_.threads;
          how.cache = false;
          how.passes = candidate.passes;
          Compiled compiled = compile(graph_, how);
          return Json{compiled.pass_seconds, compiled.kernel_seconds}.dump();
        },
        compile_limit);
    if (!outcome.failure.empty()) {
      candidate.failure = outcome.failure;
      return;
    }
    Json seconds = Json::parse(outcome.result);
    candidate.measures.pass_seconds = seconds[0];
    candidate.measures.kernel_seconds = seconds[1];
    journal_.add(trial_of(compiled_cold, candidate));
  }

  void tell(const PassCandidate& candidate) const {
    listener_(NetworkTried{trial_of(tried, candidate), static_cast<long>(result_.candidates.size()),
                           candidate.way});
  }

  // ---- the end ------------------------------------------------------------------------------

  /// Measures the best candidates again, and what they are compared with.
  void settle() {
    bench_.reset();  // the next one measures for longer
    result_.best = result_.usual;
    result_.all = {"all", in_stages(everything_), 0, "", {}};
    if (!listener_.is_stopped()) {
      std::vector<PassCandidate> best = finalists();
      measure_again(result_.usual);
      result_.best = result_.usual;
      for (PassCandidate& each : best) {
        if (listener_.is_stopped()) break;
        measure_again(each);
        if (each.failure.empty() && is_better(each)) result_.best = each;
      }
      measure_again(result_.all);
      result_.lean = result_.usual;
      result_.lean.passes = shortened(result_.usual.passes, result_.usual.hash);
      if (result_.best.hash != result_.usual.hash) {
        result_.best.passes = shortened(result_.best.passes, result_.best.hash);
      }
    }
    for (PassCandidate* each : {&result_.usual, &result_.lean, &result_.best, &result_.all}) {
      if (!listener_.is_stopped()) measure_compiling(*each);
    }
    result_.stopped = listener_.is_stopped();
  }

  /// Is a candidate better than the best so far? Than the usual passes by more than a clock's
  /// noise; what those seem to gain beside themselves is noise, too.
  bool is_better(const PassCandidate& candidate) const {
    bool is_exact = options_.objective == PassObjective::memory;
    bool is_usual = result_.best.hash == result_.usual.hash;
    return gain(candidate) > (is_usual && !is_exact ? least_gain : 1) * gain(result_.best);
  }

  double again_seconds() const {
    return std::clamp(again_share * options_.seconds, least_again, most_again);
  }

  std::vector<PassCandidate> finalists() const {
    std::vector<PassCandidate> list;
    for (const PassCandidate& each : result_.candidates) {
      if (each.failure.empty() && each.hash != result_.usual.hash) list.push_back(each);
    }
    std::stable_sort(list.begin(), list.end(),
                     [&](const auto& a, const auto& b) { return gain(a) > gain(b); });
    if (list.size() > measured_again) list.resize(measured_again);
    return list;
  }

  void measure_again(PassCandidate& candidate) {
    PassMeasures before = candidate.measures;
    measure(confirmed, again_seconds(), candidate);
    candidate.measures.pass_seconds = before.pass_seconds;
    candidate.measures.kernel_seconds = before.kernel_seconds;
  }
};

nlohmann::json measures_json(const PassCandidate& candidate) {
  const PassMeasures& m = candidate.measures;
  nlohmann::json json{{"way", candidate.way}, {"passes", candidate.passes}};
  if (!candidate.failure.empty()) {
    json["failure"] = candidate.failure;
    return json;
  }
  json["seconds"] = m.seconds;
  json["usual_seconds"] = m.own;
  json["bytes"] = m.bytes;
  if (m.pass_seconds > 0) json["pass_seconds"] = m.pass_seconds;
  if (m.kernel_seconds > 0) json["kernel_seconds"] = m.kernel_seconds;
  if (m.power.watts) json["watts"] = *m.power.watts;
  if (m.power.celsius) json["celsius"] = *m.power.celsius;
  return json;
}

}  // namespace

const char* name_of(PassObjective objective) {
  for (const auto& [each, name] : objectives) {
    if (each == objective) return name;
  }
  check(false, "every objective has a name");
  return "";
}

PassObjective objective_named(const std::string& name) {
  std::string known;
  for (const auto& [each, own] : objectives) {
    if (name == own) return each;
    known += std::string(known.empty() ? "" : ", ") + own;
  }
  fail("no objective '{}'; there are {}", name, known);
}

double PassSearchResult::gain(const PassCandidate& candidate, PassObjective objective) const {
  const PassMeasures &own = usual.measures, &other = candidate.measures;
  switch (objective) {
    case PassObjective::latency:
    case PassObjective::throughput:
      return other.own / other.seconds;
    case PassObjective::compile_time:
      return (own.pass_seconds + own.kernel_seconds) / (other.pass_seconds + other.kernel_seconds);
    case PassObjective::memory:
      return static_cast<double>(own.bytes) / static_cast<double>(other.bytes);
    case PassObjective::power:
      return *own.power.watts * own.seconds / (*other.power.watts * other.seconds);
  }
  return 1;
}

PassSearchResult search_passes(const Graph& graph, const std::vector<PassRelevance>& relevance,
                               const PassSearchOptions& options, const JobListener& listener) {
  return PassSearch(graph, relevance, options, listener).run();
}

double parse_pass_budget(const std::string& option, const std::string& text) {
  if (text == "0") return 0;
  if (auto seconds = parse_duration(text)) return *seconds;
  fail("{} {}: write a time, as in 90s, 10m or 1h, or 0 for no search", option, text);
}

nlohmann::json to_json(const PassSearchResult& found, const PassSearchOptions& options) {
  nlohmann::json json{{"objective", name_of(options.objective)},
                      {"threads", options.threads},
                      {"batch", found.batch},
                      {"sequences", found.sequences},
                      {"default", measures_json(found.usual)},
                      {"found", measures_json(found.best)},
                      {"gain", found.gain(found.best, options.objective)},
                      {"sensors", found.sensors},
                      {"stopped", found.stopped}};
  if (!found.stopped) {
    json["lean"] = measures_json(found.lean);
    json["all"] = measures_json(found.all);
  }
  for (const PassCandidate& each : found.candidates) {
    json["candidates"].push_back(measures_json(each));
  }
  return json;
}

}  // namespace lathe
