// tune.cpp: the search over all units of a network. Interface: tune.h.
#include "search/tune.h"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "search/unit_search.h"

namespace lathe {
namespace {

/// A choice must be better by this, twice, to replace another.
constexpr double enough = 0.98;

bool matches(const std::string& node, const std::string& pattern) {
  return fnmatch(pattern.c_str(), node.c_str(), 0) == 0;
}

Chooser chooser_of(std::map<std::string, Choice> choices) {
  return [choices = std::move(choices)](const std::string& key) -> std::optional<Choice> {
    auto found = choices.find(key);
    return found == choices.end() ? std::nullopt : std::optional(found->second);
  };
}

class Tuning {
 public:
  Tuning(const Graph& graph, const Target& target, TuneBench& bench, TunedStore& store,
         const TuneOptions& options)
      : bench_(bench), store_(store), options_(options), random_(options.seed, "tune") {
    for (const NodeUnit& node : units_of(graph, options.threads)) {
      if (matches(node.node, options.layers)) add(node, tuned_target(target));
    }
    if (searches_.empty()) fail("no layer of '{}' is called '{}'", graph.name, options.layers);
  }

  TuneReport run() {
    if (options_.begin == TuneOptions::Begin::again) forget();
    measure_units();
    for (UnitSearch& search : searches_) search.resume(store_);
    while (UnitSearch* next = most_promising()) {
      if (is_over()) break;
      take_step(*next);
    }
    finish();
    for (UnitSearch& search : searches_) report_.units.push_back(search.unit());
    std::stable_sort(report_.units.begin(), report_.units.end(),
                     [](const TunedUnit& a, const TunedUnit& b) { return a.time > b.time; });
    return std::move(report_);
  }

 private:
  TuneBench& bench_;
  TunedStore& store_;
  const TuneOptions& options_;
  Random random_;
  std::vector<UnitSearch> searches_;
  TuneReport report_;
  double reserve_ = 0;  // seconds that the whole network takes at the end

  void add(const NodeUnit& node, const std::string& target) {
    auto found = std::find_if(searches_.begin(), searches_.end(), [&](UnitSearch& search) {
      return search.unit().key == node.unit.key;
    });
    if (found == searches_.end()) {
      searches_.emplace_back(node.unit, TunedFor{node.unit.key, target, options_.threads});
      found = searches_.end() - 1;
    }
    found->unit().nodes.push_back(node.node);
  }

  void forget() {
    std::vector<TunedFor> all;
    for (const UnitSearch& search : searches_) all.push_back(search.where());
    store_.forget(all);
  }

  void measure_units() {
    double begin = bench_.elapsed();
    std::map<std::string, double> times = bench_.node_times({nullptr}).front();
    // At the end two are measured, or three, and twice; by then most is compiled.
    reserve_ = std::min(3 * (bench_.elapsed() - begin), options_.seconds / 4);
    for (UnitSearch& search : searches_) {
      for (const std::string& node : search.unit().nodes) search.unit().time += times[node];
    }
  }

  bool is_over() {
    report_.stopped = options_.stop && options_.stop();
    if (report_.stopped) return true;
    if (options_.trials > 0 && report_.trials >= options_.trials) return true;
    return options_.seconds > 0 && bench_.elapsed() >= options_.seconds - reserve_;
  }

  UnitSearch* most_promising() {
    UnitSearch* best = nullptr;
    for (UnitSearch& search : searches_) {
      if (search.promise() > 0 && (best == nullptr || search.promise() > best->promise())) {
        best = &search;
      }
    }
    return best;
  }

  void take_step(UnitSearch& search) {
    auto choice = search.propose(bench_, store_, random_);
    if (!choice) return;
    TunedUnit& unit = search.unit();
    std::optional<Choice> best = unit.found ? std::optional(unit.found->choice) : std::nullopt;
    Tried tried = bench_.try_choice(search.work(), best, *choice, search.codes(), Care::quick);
    ++report_.trials;
    report_.failed += tried.failure.empty() ? 0 : 1;
    search.observe(*choice, tried, store_);
    bool better = tried.failure.empty() && !tried.seen && tried.time < enough * tried.best &&
                  is_confirmed(search, best, *choice);
    search.learn(better);
    if (options_.progress) {
      options_.progress({unit, *choice, tried, better, report_.trials, bench_.elapsed()});
    }
  }

  /// Measures again, for longer; a choice that is better then, too, is the unit's new best.
  bool is_confirmed(UnitSearch& search, const std::optional<Choice>& best, const Choice& choice) {
    Tried again = bench_.try_choice(search.work(), best, choice, {}, Care::sure);
    if (!again.failure.empty() || again.time >= enough * again.best) return false;
    Found found{choice, again.time, again.own};
    store_.set_found(search.where(), found);
    search.unit().found = found;
    return true;
  }

  // ---- what is kept -----------------------------------------------------------------------

  /// Returns the units whose choice is better where it is used, in the network.
  std::vector<UnitSearch*> better_in_place() {
    std::map<std::string, Choice> choices;
    for (UnitSearch& search : searches_) {
      if (search.unit().found) choices[search.unit().key] = search.unit().found->choice;
    }
    auto times = bench_.node_times({nullptr, chooser_of(choices)});
    std::vector<UnitSearch*> better;
    for (UnitSearch& search : searches_) {
      double own = 0, tuned = 0;
      for (const std::string& node : search.unit().nodes) {
        own += times[0][node];
        tuned += times[1][node];
      }
      if (search.unit().found && tuned < 0.99 * own) better.push_back(&search);
    }
    return better;
  }

  /// Returns what commands use by now.
  std::map<std::string, Choice> kept_before() {
    std::map<std::string, Choice> choices;
    for (UnitSearch& search : searches_) {
      auto kept = store_.kept(search.where());
      search.unit().kept = kept.has_value();
      if (kept) choices[search.unit().key] = kept->choice;
    }
    return choices;
  }

  void finish() {
    std::map<std::string, Choice> before = kept_before(), after;
    bool is_new = std::any_of(searches_.begin(), searches_.end(), [&](UnitSearch& search) {
      auto kept = before.find(search.unit().key);
      const auto& found = search.unit().found;
      return found && (kept == before.end() || kept->second != found->choice);
    });
    if (!is_new) return;
    std::vector<TunedFor> found, dropped;
    std::vector<UnitSearch*> better = better_in_place();
    for (UnitSearch* search : better) {
      after[search->unit().key] = search->unit().found->choice;
      found.push_back(search->where());
    }
    for (UnitSearch& search : searches_) {
      bool stays = after.contains(search.unit().key);
      if (search.unit().found && !stays) dropped.push_back(search.where());
    }
    std::vector<Chooser> variants{nullptr, chooser_of(after)};
    if (!before.empty()) variants.push_back(chooser_of(before));
    std::vector<double> times = bench_.whole_times(variants);
    report_.own = times[0];
    report_.tuned = *std::min_element(times.begin() + 1, times.end());
    bool faster = times[1] < 0.995 * times[0] && times[1] <= report_.tuned;
    if (after.empty() || !faster) return;
    store_.keep(found, dropped);
    report_.kept = true;
    for (UnitSearch& search : searches_) search.unit().kept = after.contains(search.unit().key);
  }
};

}  // namespace

TuneReport tune(const Graph& graph, const Target& target, TuneBench& bench, TunedStore& store,
                const TuneOptions& options) {
  return Tuning(graph, target, bench, store, options).run();
}

std::vector<TunedUnit> tuned_units(const Graph& graph, const Target& target, int threads,
                                   const TunedStore* store, const std::string& layers) {
  std::vector<TunedUnit> result;
  for (const NodeUnit& node : units_of(graph, threads)) {
    if (!matches(node.node, layers)) continue;
    auto same = std::find_if(result.begin(), result.end(),
                             [&](const TunedUnit& unit) { return unit.key == node.unit.key; });
    if (same != result.end()) {
      same->nodes.push_back(node.node);
      continue;
    }
    TunedUnit unit{node.unit.key, {node.node}, 0, std::nullopt, false};
    if (store != nullptr) {
      TunedFor where{unit.key, tuned_target(target), threads};
      unit.found = store->kept(where);
      unit.kept = unit.found.has_value();
      if (!unit.kept) unit.found = store->found(where);
    }
    result.push_back(std::move(unit));
  }
  return result;
}

}  // namespace lathe
