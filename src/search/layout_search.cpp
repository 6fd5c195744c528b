// layout_search.cpp: layouts by measuring. Interface: layout_search.h.
#include "search/layout_search.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace lathe {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// What differs from the usual must be better by this: measurements of units alone are not exact.
constexpr double doubt = 1.02;

/// What is predicted must be as much faster as the network must be in the end.
constexpr double worth_it = 0.99;

/// The share of the network's time that each change must gain: smaller ones are not worth a word.
constexpr double least_gain = 0.001;

class Searching {
 public:
  Searching(const LayoutSpace& space, const std::map<std::string, double>& times,
            const TunedFor& network, TuneBench& bench, TunedStore& store,
            const LayoutBudget& budget)
      : space_(space),
        times_(times),
        network_(network),
        bench_(bench),
        store_(store),
        budget_(budget) {}

  std::optional<LayoutChoice> run() {
    for (const LayoutEntry* entry : changes_alone()) measure(*entry);
    // What the best so far still lacks, until it lacks nothing.
    bool is_open = true;
    while (is_open && !is_over()) {
      CostProblem hopeful = with_costs(Unknown::hopeful);
      std::vector<size_t> chosen = least_costs(hopeful);
      if (cost_of(hopeful, chosen) >= worth_it * cost_of(hopeful, usual())) break;
      is_open = false;
      for (const LayoutEntry& entry : space_.entries) {
        const CostTable& table = hopeful.tables[entry.table];
        bool is_used = place_in(table, hopeful.sizes, chosen) == entry.place;
        if (is_used && measure(entry)) is_open = true;
      }
    }
    CostProblem problem = with_costs(Unknown::never);
    std::vector<size_t> chosen = least_costs(problem);
    if (cost_of(problem, chosen) >= worth_it * cost_of(problem, usual())) return std::nullopt;
    return layouts_for(space_, chosen);
  }

 private:
  const LayoutSpace& space_;
  const std::map<std::string, double>& times_;
  const TunedFor& network_;
  TuneBench& bench_;
  TunedStore& store_;
  const LayoutBudget& budget_;
  long measured_ = 0;

  std::vector<size_t> usual() const { return std::vector<size_t>(space_.problem.sizes.size(), 0); }

  TunedFor about(const std::string& unit) const {
    return {unit, network_.target, network_.threads};
  }

  double time_of(size_t table) const {
    auto found = times_.find(space_.works[table].node);
    return found == times_.end() ? 0 : found->second;
  }

  // ---- measuring --------------------------------------------------------------------------

  /// Returns the entries where one class lies otherwise than usual, and nothing is copied. A class
  /// can only change once all nodes about it are measured: they come together, those of the class
  /// with most time first.
  std::vector<const LayoutEntry*> changes_alone() const {
    std::map<size_t, double> weights;  // of classes
    for (size_t t = 0; t < space_.works.size(); ++t) {
      if (space_.works[t].is_copy) continue;
      for (size_t v : space_.problem.tables[t].variables) {
        weights[space_.class_of(v)] += time_of(t);
      }
    }
    using Rank = std::tuple<double, size_t, size_t>;
    std::vector<std::pair<Rank, const LayoutEntry*>> ranked;
    for (const LayoutEntry& entry : space_.entries) {
      auto changes = changes_of(entry);
      if (changes.size() != 1 || space_.works[entry.table].is_copy) continue;
      size_t of = space_.class_of(changes.front().first);
      ranked.push_back({{-weights[of], of, changes.front().second}, &entry});
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<const LayoutEntry*> result;
    for (const auto& [rank, entry] : ranked) result.push_back(entry);
    return result;
  }

  /// Returns the variables of an entry that are not as usual, and their choices.
  static std::vector<std::pair<size_t, size_t>> changes_of(const LayoutEntry& entry) {
    std::vector<std::pair<size_t, size_t>> result;
    for (const auto& each : entry.changed) {
      if (each.second != 0) result.push_back(each);
    }
    return result;
  }

  bool is_over() const {
    if (budget_.stop && budget_.stop()) return true;
    if (budget_.trials > 0 && measured_ >= budget_.trials) return true;
    return budget_.until != 0 && bench_.elapsed() >= budget_.until;
  }

  std::optional<LayoutCost> known(const LayoutEntry& entry) const {
    return store_.cost(about(entry.unit), space_.works[entry.table].unit);
  }

  /// Measures an entry, unless it is known or there is no time left; returns whether it did.
  bool measure(const LayoutEntry& entry) {
    const std::string& beside = space_.works[entry.table].unit;
    if (entry.unit == beside || known(entry) || is_over()) return false;
    Tried tried = bench_.compare_units(space_.units.at(beside), space_.units.at(entry.unit));
    store_.add_cost(about(entry.unit), beside, {tried.time, tried.own, tried.failure});
    ++measured_;
    if (budget_.progress) budget_.progress(measured_);
    return true;
  }

  // ---- costs ------------------------------------------------------------------------------

  /// Returns how much faster a unit is by the choice that was found for it.
  double gain(const std::string& unit) const {
    auto found = store_.kept(about(unit));
    if (!found) found = store_.found(about(unit));
    return found ? found->time / found->own : 1;
  }

  /// Returns what an entry costs, relative to its node's time; infinity if it is not known or
  /// cannot be.
  double ratio_of(const LayoutEntry& entry) const {
    const std::string& beside = space_.works[entry.table].unit;
    if (entry.unit == beside) return gain(beside);  // the unit does not see the difference
    auto cost = known(entry);
    if (!cost || !cost->failure.empty() || cost->own <= 0) return infinite;
    return cost->time / cost->own * gain(entry.unit) * doubt;
  }

  /// Returns the time of a table's node by a ratio. No time is too short to be impossible.
  double scaled(size_t table, double ratio) const {
    return ratio == infinite ? infinite : time_of(table) * ratio;
  }

  /// What is not known costs nothing that is not known of its parts, or is not to be chosen.
  enum class Unknown { hopeful, never };

  CostProblem with_costs(Unknown unknown) const {
    CostProblem problem = space_.problem;
    std::map<std::tuple<size_t, size_t, size_t>, double> alone;  // ratios by table and change
    for (size_t t = 0; t < space_.works.size(); ++t) {
      if (space_.works[t].is_copy) continue;
      problem.tables[t].costs[0] = time_of(t) * gain(space_.works[t].unit);
    }
    for (const LayoutEntry& entry : space_.entries) {
      auto changes = changes_of(entry);
      double ratio = ratio_of(entry);
      problem.tables[entry.table].costs[entry.place] = scaled(entry.table, ratio);
      if (changes.size() == 1) {
        alone[{entry.table, changes[0].first, changes[0].second}] = ratio;
      }
    }
    for (const LayoutEntry& entry : space_.entries) {
      if (unknown == Unknown::never || known(entry)) continue;
      double ratio = space_.works[entry.table].is_copy ? 0 : 1;
      if (ratio > 0) {
        for (const auto& [v, at] : changes_of(entry)) ratio *= alone[{entry.table, v, at}];
      }
      double& cost = problem.tables[entry.table].costs[entry.place];
      cost = std::min(cost, scaled(entry.table, ratio));
    }
    add_prices(problem);
    return problem;
  }

  /// Gives each change a price: of a class, and of a copy.
  void add_prices(CostProblem& problem) const {
    double price = least_gain * cost_of(problem, std::vector<size_t>(problem.sizes.size(), 0));
    for (const LayoutEntry& entry : space_.entries) {
      if (space_.works[entry.table].is_copy) {
        problem.tables[entry.table].costs[entry.place] += price;
      }
    }
    for (size_t c = 0; c < space_.layouts.classes.size(); ++c) {
      std::vector<double> prices(problem.sizes[c], price);
      prices.front() = 0;
      problem.tables.push_back({{c}, prices});
    }
  }
};

}  // namespace

std::optional<LayoutChoice> search_layouts(const LayoutSpace& space,
                                           const std::map<std::string, double>& times,
                                           const TunedFor& network, TuneBench& bench,
                                           TunedStore& store, const LayoutBudget& budget) {
  return Searching(space, times, network, bench, store, budget).run();
}

}  // namespace lathe
