// tune.cpp: the search over all units of a network. Interface: tune.h.
#include "search/tune.h"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "compile/ready.h"
#include "search/layout_search.h"
#include "search/round_tuning.h"
#include "search/unit_search.h"

namespace lathe {
namespace {

// Two measurements of the same thing differ, and those of short work differ most. What is kept must
// be faster by more than that.

/// A choice for a unit must take this share of the time, twice, to replace another.
constexpr double enough = 0.98;
/// So must the nodes of a unit in the network, and the network in other layouts.
constexpr double enough_in_network = 0.99;
/// And the whole network as it is kept: it is measured longest.
constexpr double enough_at_end = 0.995;

/// At the end two or three networks are measured, and twice: so many times what one takes now, as
/// most is compiled by then ...
constexpr double measured_at_end = 3;
/// ... but no more than this part of the time.
constexpr double most_at_end = 1.0 / 4;

/// The part of the time, and of the trials, that layouts may take. Most is gained by the units.
constexpr double layouts_seconds = 1.0 / 5, layouts_trials = 1.0 / 3;

bool matches(const std::string& node, const std::string& pattern) {
  return fnmatch(pattern.c_str(), node.c_str(), 0) == 0;
}

Chooser chooser_of(std::map<std::string, Choice> choices) {
  return [choices = std::move(choices)](const std::string& key) -> std::optional<Choice> {
    auto found = choices.find(key);
    return found == choices.end() ? std::nullopt : std::optional(found->second);
  };
}

LayoutChooser layout_chooser_of(const std::optional<LayoutChoice>& choice) {
  if (!choice) return nullptr;
  return [choice](const std::string&) { return choice; };
}

/// Returns the layouts that commands use for a network; nothing: the usual ones.
std::optional<LayoutChoice> used_layouts(const TunedStore& store, const TunedFor& network,
                                         const Layouts& layouts) {
  auto kept = store.layouts(network);
  return kept && fits(layouts, *kept) ? kept : std::nullopt;
}

/// Returns the graph that layouts are chosen for.
Graph simplified_for(const Target& target, long threads, const Graph& graph) {
  PassContext context = context_of({.target = target});
  context.workers = threads;
  return simplified(graph, context);
}

/// Returns what there is to choose from in such a graph.
Layouts layouts_for(const Target& target, const Graph& simple) {
  return layouts_of(simple, target.cpu.vector_bytes);
}

class Tuning {
 public:
  Tuning(const Graph& graph, const Target& target, TuneBench& bench, TunedStore& store,
         const TuneOptions& options)
      : graph_(graph),
        target_(target),
        bench_(bench),
        store_(store),
        options_(options),
        random_(options.seed, "tune") {
    Graph simple = simplified_for(target, options.threads, graph);
    network_ = {layout_key(simple), tuned_target(target), options.threads};
    layouts_ = used_layouts(store, network_, layouts_for(target, simple));
    collect();
    if (searches_.empty()) fail("no layer of '{}' is called '{}'", graph.name, options.layers);
  }

  TuneReport run() {
    if (options_.begin == TuneOptions::Begin::again) forget();
    before_ = {kept_choices(), layouts_};
    measure_units();
    for (UnitSearch& search : searches_) search.resume(store_);
    while (UnitSearch* next = most_promising()) {
      if (is_over()) break;
      take_step(*next);
    }
    finish();
    const auto& used = report_.kept ? layouts_ : before_.layouts;
    if (used) {
      Graph simple = simplified_for(target_, options_.threads, graph_);
      report_.layouts = chosen_layouts(layouts_for(target_, simple), *used);
    }
    for (UnitSearch& search : searches_) report_.units.push_back(search.unit());
    std::stable_sort(report_.units.begin(), report_.units.end(),
                     [](const TunedUnit& a, const TunedUnit& b) { return a.time > b.time; });
    return std::move(report_);
  }

 private:
  using Choices = std::map<std::string, Choice>;
  /// What commands use.
  struct Kept {
    Choices choices;
    std::optional<LayoutChoice> layouts;
  };
  const Graph& graph_;
  const Target& target_;
  TunedFor network_;
  TuneBench& bench_;
  TunedStore& store_;
  const TuneOptions& options_;
  Random random_;
  std::optional<LayoutChoice> layouts_;  // with which units are tuned
  Kept before_;
  std::vector<UnitSearch> searches_;
  TuneReport report_;
  double reserve_ = 0;  // seconds that the whole network takes at the end

  TuneVariant variant(const Choices& choices) const {
    return {chooser_of(choices), layout_chooser_of(layouts_)};
  }

  void collect() {
    searches_.clear();
    for (const NodeUnit& node : units_of(graph_, options_.threads, layout_chooser_of(layouts_))) {
      if (matches(node.node, options_.layers)) add(node);
    }
  }

  void add(const NodeUnit& node) {
    auto found = std::find_if(searches_.begin(), searches_.end(), [&](UnitSearch& search) {
      return search.unit().key == node.unit.key;
    });
    if (found == searches_.end()) {
      TunedFor where{node.unit.key, network_.target, options_.threads};
      searches_.emplace_back(node.unit, where);
      found = searches_.end() - 1;
    }
    found->unit().nodes.push_back(node.node);
  }

  void forget() {
    std::vector<TunedFor> all;
    for (const UnitSearch& search : searches_) all.push_back(search.where());
    if (is_whole()) {
      all.push_back(network_);
      layouts_.reset();
      collect();
      for (const UnitSearch& search : searches_) all.push_back(search.where());
    }
    store_.forget(all);
  }

  void measure_units() {
    double begin = bench_.elapsed();
    std::map<std::string, double> times = bench_.node_times({TuneVariant{}}).front();
    double once = bench_.elapsed() - begin;
    reserve_ = std::min(measured_at_end * once, most_at_end * options_.seconds);
    if (is_whole()) choose_layouts(times, once);
    if (layouts_) times = bench_.node_times({variant({})}).front();
    for (UnitSearch& search : searches_) {
      for (const std::string& node : search.unit().nodes) search.unit().time += times[node];
    }
  }

  // ---- layouts ----------------------------------------------------------------------------

  /// Is the network tuned as a whole? Layouts are not the business of some layers.
  bool is_whole() const { return options_.layers == "*"; }

  /// Chooses layouts, and takes them if the network is faster so, with what is known by now.
  /// "once" is how long it takes to measure the network.
  void choose_layouts(const std::map<std::string, double>& times, double once) {
    LayoutSpace space = layout_space(graph_, options_.threads);
    LayoutBudget budget{0, 0, options_.stop, options_.layout_progress};
    if (options_.trials > 0) {
      budget.trials =
          std::max(1L, std::lround(layouts_trials * static_cast<double>(options_.trials)));
    }
    // A limit of 0 would be none.
    if (options_.seconds > 0) {
      budget.until = std::max(1e-9, layouts_seconds * options_.seconds - once);
    }
    if (options_.begin == TuneOptions::Begin::again) forget_costs(space);
    auto chosen = search_layouts(space, times, network_, bench_, store_, budget);
    if (chosen == layouts_ || (options_.stop && options_.stop())) return;
    Choices known;
    for (const auto& [unit, found] : store_.others({"", network_.target, network_.threads})) {
      known[unit] = found.choice;
    }
    TuneVariant now = variant(known), then{chooser_of(known), layout_chooser_of(chosen)};
    std::vector<double> whole = bench_.whole_times({now, then});
    if (whole[1] >= enough_in_network * whole[0]) return;
    layouts_ = chosen;
    collect();
  }

  void forget_costs(const LayoutSpace& space) {
    std::vector<TunedFor> all;
    for (const LayoutEntry& entry : space.entries) {
      all.push_back({entry.unit, network_.target, network_.threads});
    }
    store_.forget(all);
  }

  // ---- units ------------------------------------------------------------------------------

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
    auto space_of = [this](const Unit& unit) { return bench_.space_of(unit); };
    auto choice = search.propose(space_of, store_, random_);
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
    auto times = bench_.node_times({variant({}), variant(choices)});
    std::vector<UnitSearch*> better;
    for (UnitSearch& search : searches_) {
      double own = 0, tuned = 0;
      for (const std::string& node : search.unit().nodes) {
        own += times[0][node];
        tuned += times[1][node];
      }
      if (search.unit().found && tuned < enough_in_network * own) better.push_back(&search);
    }
    return better;
  }

  /// Returns what commands use by now.
  Choices kept_choices() {
    Choices choices;
    for (UnitSearch& search : searches_) {
      auto kept = store_.kept(search.where());
      search.unit().kept = kept.has_value();
      if (kept) choices[search.unit().key] = kept->choice;
    }
    return choices;
  }

  /// Is there anything that commands do not use yet?
  bool is_new() {
    Choices kept = kept_choices();
    return layouts_ != before_.layouts ||
           std::any_of(searches_.begin(), searches_.end(), [&](UnitSearch& search) {
             auto same = kept.find(search.unit().key);
             const auto& found = search.unit().found;
             return found && (same == kept.end() || same->second != found->choice);
           });
  }

  void finish() {
    if (!is_new()) return;
    Choices after;
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
    std::vector<TuneVariant> variants{{}, variant(after)};
    if (!before_.choices.empty() || before_.layouts) {
      variants.push_back({chooser_of(before_.choices), layout_chooser_of(before_.layouts)});
    }
    std::vector<double> times = bench_.whole_times(variants);
    report_.own = times[0];
    report_.tuned = *std::min_element(times.begin() + 1, times.end());
    bool faster = times[1] < enough_at_end * times[0] && times[1] <= report_.tuned;
    if ((after.empty() && layouts_ == before_.layouts) || !faster) return;
    store_.keep(found, dropped);
    store_.keep_layouts(network_, layouts_);
    report_.kept = true;
    for (UnitSearch& search : searches_) search.unit().kept = after.contains(search.unit().key);
  }
};

}  // namespace

TuneReport tune(const Graph& graph, const Target& target, TuneBench& bench, TunedStore& store,
                const TuneOptions& options) {
  return Tuning(graph, target, bench, store, options).run();
}

TuneReport tuned_before(const Graph& graph, const Target& target, int threads,
                        const TunedStore* store, const std::string& layers) {
  TuneReport report;
  Graph simple = simplified_for(target, threads, graph);
  Layouts layouts = layouts_for(target, simple);
  std::optional<LayoutChoice> used;
  std::string known_as = store != nullptr ? store->target_of(target) : "";
  if (store != nullptr)
    used = used_layouts(*store, {layout_key(simple), known_as, threads}, layouts);
  if (used) report.layouts = chosen_layouts(layouts, *used);
  std::vector<NodeUnit> nodes = target.is_gpu() ? units_for(graph, target)
                                                : units_of(graph, threads, layout_chooser_of(used));
  for (const NodeUnit& node : nodes) {
    if (!matches(node.node, layers)) continue;
    auto same = std::find_if(report.units.begin(), report.units.end(),
                             [&](const TunedUnit& unit) { return unit.key == node.unit.key; });
    if (same != report.units.end()) {
      same->nodes.push_back(node.node);
      continue;
    }
    TunedUnit unit{node.unit.key, {node.node}, 0, std::nullopt, false};
    if (store != nullptr) {
      TunedFor where{unit.key, known_as, threads};
      unit.found = store->kept(where);
      unit.kept = unit.found.has_value();
      if (!unit.kept) unit.found = store->found(where);
    }
    report.units.push_back(std::move(unit));
  }
  return report;
}

}  // namespace lathe
