// round_bench.cpp: networks by the times of their units. Interface: round_bench.h.
#include "search/round_bench.h"

#include <algorithm>

#include "base/error.h"
#include "search/round_tuning.h"

namespace lathe {
namespace {

using Json = nlohmann::json;

/// Candidates of each unit beside the template's own choice: in the first round, and on average
/// later, where jobs are carried to the device and where it is here.
constexpr size_t first_candidates = 5, first_here = 1;
constexpr double later_candidates = 3, later_here = 0.5;

/// No more than so many of them are compiled for a round, as somebody waits for it.
constexpr double most_candidates = 600;

/// A unit gets at most so many times that.
constexpr double most_of_a_unit = 8;

/// What the outputs of units on a GPU are compared with.
constexpr const char* by_cpu = "compared with the code for CPUs, not with the interpreter";

constexpr const char* name_of_original = "original";

std::string name_of_network(const std::string& recipe) { return "recipe: " + recipe; }

double sum_of(const std::vector<NodeTime>& nodes) {
  double sum = 0;
  for (const NodeTime& node : nodes) sum += node.seconds;
  return sum;
}

UnitRoundsOptions unit_options(const RoundBenchOptions& options) {
  UnitRoundsOptions how;
  how.seed = options.seed;
  how.threads = options.threads;
  how.stop = options.stop;
  how.progress = options.progress;
  return how;
}

}  // namespace

RoundBench::RoundBench(JobFolder& folder, const Target& target, TunedStore& store,
                       RoundBenchOptions options)
    : folder_(folder),
      target_(target),
      store_(store),
      options_(std::move(options)),
      rounds_(folder, target, store, unit_options(options_)) {
  target_.workers = options_.threads;
}

void RoundBench::begin(const Graph& original) {
  original_ = &original;
  asked_.clear();
  unknown_.clear();
  waits_ = false;
  rounds_.set_network_weights(weights_of(original));
  Json about{{"search", fmt::format("{} {:016x}", original.name, structural_hash(original))},
             {"target", full_name(target_)},
             {"multiprocessors", target_.gpu.multiprocessors},
             {"threads", options_.threads},
             {"seed", options_.seed}};
  if (!folder_.plan.contains("about")) folder_.plan["about"] = about;
  for (const auto& [what, value] : about.items()) {
    const Json before = folder_.plan["about"].value(what, Json());
    if (before == value) continue;
    fail("the jobs in '{}' have another {}: {} instead of {}; give another folder", folder_.path(),
         what, before.dump(), value.dump());
  }
  // What is missing is asked for again: then the round waits.
  if (rounds_.missing() > 0) throw JobsWait();
  rounds_.take_in();
}

std::optional<double> RoundBench::time_of(const Unit& unit, std::string& failure) {
  const UnitOwn* own = rounds_.own(unit.key);
  if (own == nullptr) return std::nullopt;
  if (!own->failure.empty()) {
    failure = fmt::format("{}: {}", print(unit.call), own->failure);
    return 0;
  }
  auto found = store_.found(rounds_.about(unit.key));
  return found ? own->time * found->time / found->own : own->time;
}

std::vector<NodeTime> RoundBench::node_times(const Graph& graph, std::string& failure) {
  std::vector<NodeTime> result;
  bool waits = !is_refined() && !are_over();
  for (const NodeUnit& node : units_for(graph, target_)) {
    auto [at, is_new] = asked_.try_emplace(node.unit.key, node.unit, 0);
    at->second.second += 1;
    std::optional<double> time = time_of(node.unit, failure);
    if (time) {
      result.push_back({node.node, *time});
    } else if (are_over()) {
      failure = fmt::format("{}: no round is left to measure it", print(node.unit.call));
    } else {
      unknown_.insert(node.unit.key);
      waits = true;
    }
  }
  if (waits) throw JobsWait();
  return result;
}

NetworkTimes RoundBench::measure(const Graph& candidate) {
  NetworkTimes times;
  bool waits = false;
  for (auto [graph, nodes] :
       {std::pair(original_, &times.own_nodes), std::pair(&candidate, &times.nodes)}) {
    try {
      *nodes = node_times(*graph, times.failure);
    } catch (const JobsWait&) {
      waits = true;  // of both, all units are wanted
    }
  }
  if (waits) throw JobsWait();
  if (!times.failure.empty()) return times;
  times.own = sum_of(times.own_nodes);
  times.time = sum_of(times.nodes);
  times.checks = checks_of(candidate);
  times.own_checks = checks_of(*original_);
  return times;
}

NetworkChecks RoundBench::checks_of(const Graph& graph) const {
  NetworkChecks checks;
  std::set<std::string> keys;
  for (const NodeUnit& node : units_for(graph, target_)) {
    if (!keys.insert(node.unit.key).second) continue;
    ++checks.units;
    std::string unchecked = rounds_.unchecked(node.unit.key);
    ++checks.unchecked[unchecked.empty() ? by_cpu : unchecked];
  }
  return checks;
}

std::optional<NetworkTimes> RoundBench::measure(const Graph& candidate, const std::string& recipe) {
  std::string name = name_of_network(recipe);
  for (const auto& [network, graph] :
       {std::pair<std::string, const Graph*>(name_of_original, original_), {name, &candidate}}) {
    if (rounds_.has_network(network)) continue;
    rounds_.add_network(network, *graph, compiling());
    waits_ = true;
  }
  const JobResult *own = rounds_.network(name_of_original), *other = rounds_.network(name);
  if (own == nullptr || other == nullptr) return std::nullopt;
  if (!own->failure.empty()) fail("the original cannot be measured: {}", own->failure);
  NetworkTimes times;
  times.failure = other->failure;
  times.own = own->time;
  times.time = other->time;
  times.checks = checks_of(candidate);
  times.own_checks = checks_of(*original_);
  return times;
}

void RoundBench::expect_all() const {
  if (waits_) throw JobsWait();
}

CompileOptions RoundBench::compiling() const {
  CompileOptions how;
  how.target = target_;
  how.max_error = options_.max_error;
  std::map<std::string, Choice> choices;
  for (const auto& [unit, found] : store_.others(rounds_.about(""))) choices[unit] = found.choice;
  how.choose = [choices](const std::string& key) -> std::optional<Choice> {
    auto found = choices.find(key);
    return found == choices.end() ? std::nullopt : std::optional(found->second);
  };
  return how;
}

bool RoundBench::prepare_new() {
  std::vector<UnitSearch> searches;
  std::vector<UnitRounds::Share> shares;
  for (const std::string& key : unknown_) {
    UnitSearch search(asked_.at(key).first, rounds_.about(key));
    if (rounds_.round() > 0) search.resume(store_);
    searches.push_back(std::move(search));
  }
  auto most = static_cast<size_t>(most_candidates) / std::max<size_t>(1, searches.size());
  size_t count = std::min(folder_.is_here() ? first_here : first_candidates, most);
  for (UnitSearch& search : searches) shares.push_back({&search, count});
  bool done = rounds_.prepare(shares, UnitRounds::Kind::broad);
  if (done && !shares.empty() && folder_.bytes() == 0) {
    fail("not even one job fits into {} MiB: give --most", folder_.most_bytes() >> 20);
  }
  return done;
}

bool RoundBench::prepare_better() {
  folder_.plan["refined"] = true;
  std::vector<UnitSearch> searches;
  double all = 0;
  for (const auto& [key, asked] : asked_) {
    const UnitOwn* own = rounds_.own(key);
    if (own == nullptr || own->time <= 0) continue;
    UnitSearch search(asked.first, rounds_.about(key));
    search.unit().time = own->time * asked.second;
    search.resume(store_);
    all += search.promise();
    searches.push_back(std::move(search));
  }
  std::vector<UnitRounds::Share> shares;
  double most = most_candidates / static_cast<double>(std::max<size_t>(1, searches.size()));
  double each = std::min(folder_.is_here() ? later_here : later_candidates, most);
  for (UnitSearch& search : searches) {
    double part = all > 0 ? search.promise() / all * static_cast<double>(searches.size()) : 0;
    auto count = static_cast<size_t>(each * std::min(part, most_of_a_unit));
    if (count > 0) shares.push_back({&search, count});
  }
  return rounds_.prepare(shares, UnitRounds::Kind::near);
}

RoundsWaiting RoundBench::next_round() {
  RoundsWaiting waiting;
  waiting.jobs = rounds_.missing();
  waiting.round = rounds_.round();
  if (waiting.jobs > 0 && !waits_) return waiting;
  if (!waits_) {
    waiting.stopped = !prepare_new();
    if (!waiting.stopped && rounds_.round() > 0 && !is_refined()) {
      waiting.stopped = !prepare_better();
    }
    if (waiting.stopped) return waiting;
  }
  waiting.bytes = folder_.bytes();
  if (waiting.bytes == 0) {  // there was nothing to make better
    folder_.write_plan();
    return waiting;
  }
  rounds_.write();
  waiting.round = rounds_.round();
  waiting.jobs = rounds_.missing();
  waiting.is_new = true;
  return waiting;
}

bool RoundBench::run() {
  if (!folder_.is_here()) return false;
  folder_.run();
  if (rounds_.missing() > 0 && !(options_.stop && options_.stop())) {
    fail("'{}/measure-jobs' ended before all jobs were measured: give the command again",
         folder_.path());
  }
  return true;
}

}  // namespace lathe
