// round_tuning.cpp: tuning in rounds. Interface: round_tuning.h.
#include "search/round_tuning.h"

#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "compile/ready.h"
#include "search/unit_rounds.h"

namespace lathe {
namespace {

using Json = nlohmann::json;
using Kind = UnitRounds::Kind;
using Clock = std::chrono::steady_clock;

/// Candidates of each unit, on average, in the rounds where jobs are carried to the device ...
constexpr size_t of_broad = 40, of_near = 24, of_last = 8;
/// ... and where it is here, of all units together but for the first round.
constexpr size_t of_broad_here = 6, of_near_here = 24;

/// A unit gets at most so many times what it would get if all had the same.
constexpr double most_share = 4;

/// The network as it is kept must take this share of the time.
constexpr double enough_of_network = 0.995;

/// A choice that takes no more than this share of the default's time is surely better.
constexpr double surely_better = 0.9;

/// The part of the time that is left for whole networks.
constexpr double left_for_networks = 0.2;

constexpr const char *own_network = "own", *tuned_network = "tuned", *sure_network = "sure",
                     *kept_network = "kept";

Chooser choosing(const std::map<std::string, Choice>& choices) {
  return [choices](const std::string& key) -> std::optional<Choice> {
    auto found = choices.find(key);
    return found == choices.end() ? std::nullopt : std::optional(found->second);
  };
}

class RoundTuning {
 public:
  RoundTuning(const Graph& graph, const Target& target, JobFolder& folder, TunedStore& store,
              const RoundTuneOptions& options)
      : graph_(graph), target_(target), folder_(folder), store_(store), options_(options) {
    target_.workers = options.tune.threads;
    collect();
    if (options.tune.begin == TuneOptions::Begin::again) forget();
    check_plan();
    rounds_.emplace(folder_, target_, store_, rounds_options());
  }

  RoundOutcome run() {
    while (true) {
      if (rounds_->missing() > 0) {
        measure_here();
        if (rounds_->missing() > 0) return waiting(false);
      }
      rounds_->take_in();
      renew_searches();
      if (rounds_->has_network(own_network)) return finished();
      if (is_stopped()) return stopped();
      bool last = is_last();
      if (!(last ? prepare_networks() : prepare_units())) return stopped();
      // There was nothing to try, or nothing was found.
      if (folder_.bytes() == 0) return finished();
      long bytes = folder_.bytes();
      rounds_->write();
      if (folder_.is_here()) continue;
      RoundOutcome outcome = waiting(true);
      outcome.bytes = bytes;
      return outcome;
    }
  }

 private:
  const Graph& graph_;
  Target target_;
  JobFolder& folder_;
  TunedStore& store_;
  const RoundTuneOptions& options_;
  std::vector<UnitSearch> searches_;
  std::vector<std::vector<std::string>> nodes_;  // of each search
  std::optional<UnitRounds> rounds_;
  Clock::time_point begin_ = Clock::now();

  void forget() {
    Target target = target_;
    if (auto device = folder_.device()) target.gpu.model = device->model;
    std::vector<TunedFor> all;
    for (const UnitSearch& search : searches_) {
      all.push_back({search.work().key, store_.target_of(target), options_.tune.threads});
    }
    store_.forget(all);
    folder_.clear();
  }

  UnitRoundsOptions rounds_options() {
    UnitRoundsOptions how;
    how.seed = options_.tune.seed;
    how.threads = options_.tune.threads;
    how.network_weights = weights_of(graph_);
    how.stop = options_.tune.stop;
    how.progress = [this](size_t done, size_t all) {
      if (options_.compiled) options_.compiled(rounds_->round() + 1, done, all);
    };
    return how;
  }

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  bool is_stopped() const { return options_.tune.stop && options_.tune.stop(); }

  void collect() {
    for (const NodeUnit& node : units_for(graph_, target_)) {
      if (fnmatch(options_.tune.layers.c_str(), node.node.c_str(), 0) != 0) continue;
      auto same = std::find_if(searches_.begin(), searches_.end(), [&](const UnitSearch& search) {
        return search.work().key == node.unit.key;
      });
      if (same == searches_.end()) {
        searches_.emplace_back(node.unit, TunedFor{node.unit.key, "", options_.tune.threads});
        nodes_.emplace_back();
        same = searches_.end() - 1;
      }
      nodes_[static_cast<size_t>(same - searches_.begin())].push_back(node.node);
    }
    if (searches_.empty()) {
      fail("no layer of '{}' is called '{}'", graph_.name, options_.tune.layers);
    }
  }

  /// Fails if the folder's jobs are for something else.
  void check_plan() {
    std::string units;
    for (const UnitSearch& search : searches_) units += search.work().key + "\n";
    Json about{{"tuning", fmt::format("{} {:016x}", graph_.name, hash_bytes(units))},
               {"target", full_name(target_)},
               {"multiprocessors", target_.gpu.multiprocessors},
               {"layers", options_.tune.layers},
               {"threads", options_.tune.threads},
               {"seed", options_.tune.seed}};
    if (folder_.plan.is_null()) folder_.plan = Json::object();
    if (!folder_.plan.contains("about")) folder_.plan["about"] = about;
    for (const auto& [what, value] : about.items()) {
      const Json& before = folder_.plan["about"][what];
      if (before == value) continue;
      fail("the jobs in '{}' have another {}: {} instead of {}; give another folder, or --again",
           folder_.path(), what, before.dump(), value.dump());
    }
  }

  /// Begins the searches again from what the store knows by now.
  void renew_searches() {
    std::vector<UnitSearch> all;
    for (size_t i = 0; i < searches_.size(); ++i) {
      const Unit& work = searches_[i].work();
      UnitSearch search(work, rounds_->about(work.key));
      search.unit().nodes = nodes_[i];
      const UnitOwn* own = rounds_->own(work.key);
      if (own != nullptr) search.unit().time = own->time * static_cast<double>(nodes_[i].size());
      // Before anything was measured, nobody knows the device whose choices these would be.
      if (rounds_->round() > 0) search.resume(store_);
      all.push_back(std::move(search));
    }
    searches_ = std::move(all);
  }

  void measure_here() {
    if (!folder_.is_here()) return;
    if (options_.measured) options_.measured(rounds_->round(), rounds_->missing());
    folder_.run();
    if (rounds_->missing() == 0 || is_stopped()) return;
    fail("'{}/measure-jobs' ended before all jobs were measured: give the command again",
         folder_.path());
  }

  /// Is the next round the one of whole networks?
  bool is_last() const {
    int next = rounds_->round() + 1;
    if (!folder_.is_here()) return next >= folder_.most_rounds() || is_enough();
    double limit = options_.tune.seconds * (1 - left_for_networks);
    bool late = options_.tune.seconds > 0 && elapsed() > limit;
    return next > 1 && (late || is_enough());
  }

  /// Were as many candidates tried as were asked for?
  bool is_enough() const {
    return options_.tune.trials > 0 && rounds_->tried() >= options_.tune.trials;
  }

  /// Shares the candidates of a round among units, by what they promise.
  std::vector<UnitRounds::Share> shares_of(double each) {
    double all = 0;
    for (const UnitSearch& search : searches_) all += search.promise();
    std::vector<UnitRounds::Share> shares;
    for (UnitSearch& search : searches_) {
      const UnitOwn* own = rounds_->own(search.work().key);
      bool is_first = rounds_->round() == 0;
      if (!is_first && (own == nullptr || own->time <= 0)) continue;  // the default itself failed
      double part = all > 0 ? search.promise() / all * static_cast<double>(searches_.size()) : 1;
      double count = each * (is_first ? 1 : std::min(part, most_share));
      if (count >= 1) shares.push_back({&search, static_cast<size_t>(count)});
    }
    return shares;
  }

  bool prepare_units() {
    int next = rounds_->round() + 1;
    Kind kind = next == 1                           ? Kind::broad
                : next == folder_.most_rounds() - 1 ? Kind::last
                                                    : Kind::near;
    auto units = static_cast<double>(searches_.size());
    double each = static_cast<double>(next == 1            ? of_broad
                                      : kind == Kind::last ? of_last
                                                           : of_near);
    if (folder_.is_here()) each = next == 1 ? of_broad_here : std::max(1.0, of_near_here / units);
    if (folder_.is_here() && next > 1) kind = next % 2 == 0 ? Kind::near : Kind::last;
    if (options_.tune.trials > 0) {
      auto left = static_cast<double>(options_.tune.trials - rounds_->tried());
      // Half of what is left, so that later rounds have something to improve.
      each = std::min(each, std::max(1.0, left / units * (kind == Kind::last ? 1 : 0.5)));
    }
    return rounds_->prepare(shares_of(each), kind);
  }

  using Choices = std::map<std::string, Choice>;

  Choices found_choices(double most) {
    Choices choices;
    for (UnitSearch& search : searches_) {
      const auto& found = search.unit().found;
      if (found && found->time < most * found->own) choices[search.work().key] = found->choice;
    }
    return choices;
  }

  Choices kept_choices() {
    Choices choices;
    for (UnitSearch& search : searches_) {
      auto kept = store_.kept(search.where());
      search.unit().kept = kept.has_value();
      if (kept) choices[search.work().key] = kept->choice;
    }
    return choices;
  }

  /// Adds the network as the templates choose, and as was found. They are told by their names.
  bool prepare_networks() {
    Choices tuned = found_choices(1), sure = found_choices(surely_better), kept = kept_choices();
    if (tuned.empty() || tuned == kept) return true;
    add_network(own_network, {});
    add_network(tuned_network, tuned);
    if (!sure.empty() && sure != tuned) add_network(sure_network, sure);
    if (!kept.empty()) add_network(kept_network, kept);
    return true;
  }

  void add_network(const std::string& name, const Choices& choices) {
    CompileOptions how;
    how.target = target_;
    if (!choices.empty()) how.choose = choosing(choices);
    rounds_->add_network(name, graph_, how);
  }

  double time_of(const char* network) const {
    const JobResult* result = rounds_->network(network);
    bool known = result != nullptr && result->failure.empty();
    return known ? result->time : std::numeric_limits<double>::infinity();
  }

  /// Keeps what makes the network faster, as tune() does.
  RoundOutcome finished() {
    TuneReport report;
    report.trials = rounds_->tried();
    report.failed = rounds_->failed();
    kept_choices();
    if (rounds_->has_network(own_network)) {
      const JobResult* own = rounds_->network(own_network);
      if (!own->failure.empty()) fail("the network cannot be measured: {}", own->failure);
      double tuned = time_of(tuned_network), sure = time_of(sure_network);
      report.own = own->time;
      report.tuned = std::min({tuned, sure, time_of(kept_network)});
      if (std::isinf(report.tuned)) report.tuned = report.own;
      double better = std::min(tuned, sure);
      if (better <= report.tuned && better < enough_of_network * report.own) {
        keep(tuned <= sure ? found_choices(1) : found_choices(surely_better));
        report.kept = true;
      }
    }
    for (UnitSearch& search : searches_) report.units.push_back(search.unit());
    std::stable_sort(report.units.begin(), report.units.end(),
                     [](const TunedUnit& a, const TunedUnit& b) { return a.time > b.time; });
    RoundOutcome outcome;
    outcome.report = std::move(report);
    outcome.round = rounds_->round();
    return outcome;
  }

  void keep(const Choices& choices) {
    std::vector<TunedFor> found, dropped;
    for (UnitSearch& search : searches_) {
      bool stays = choices.contains(search.work().key);
      if (search.unit().found) (stays ? found : dropped).push_back(search.where());
      search.unit().kept = stays;
    }
    store_.keep(found, dropped);
  }

  RoundOutcome waiting(bool is_new) {
    RoundOutcome outcome;
    outcome.round = rounds_->round();
    outcome.jobs = rounds_->missing();
    outcome.is_new = is_new;
    outcome.stopped = is_stopped();
    return outcome;
  }

  RoundOutcome stopped() {
    RoundOutcome outcome;
    outcome.round = rounds_->round();
    outcome.stopped = true;
    return outcome;
  }
};

}  // namespace

std::vector<NodeUnit> units_for(const Graph& graph, const Target& target) {
  return units_of_stored(ready_to_compile(graph, context_of({.target = target})));
}

long weights_of(const Graph& graph) {
  long bytes = 0;
  for (const Value& value : graph.values) {
    if (value.data) bytes += static_cast<long>(value.data->bytes().size());
  }
  return bytes;
}

RoundOutcome tune_in_rounds(const Graph& graph, const Target& target, JobFolder& folder,
                            TunedStore& store, const RoundTuneOptions& options) {
  return RoundTuning(graph, target, folder, store, options).run();
}

}  // namespace lathe
