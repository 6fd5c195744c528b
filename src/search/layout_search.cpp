// layout_search.cpp: layouts by measuring. Interface: layout_search.h.
#include "search/layout_search.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace lathe {
namespace {

/// What differs from the usual must be better by this: measurements of units alone are not exact.
constexpr double doubt = 1.02;

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
    measure();
    CostProblem problem = with_costs();
    std::vector<size_t> usual(problem.sizes.size(), 0), chosen = least_costs(problem);
    if (cost_of(problem, chosen) >= 0.995 * cost_of(problem, usual)) return std::nullopt;
    return layouts_for(space_, chosen);
  }

 private:
  const LayoutSpace& space_;
  const std::map<std::string, double>& times_;
  const TunedFor& network_;
  TuneBench& bench_;
  TunedStore& store_;
  const LayoutBudget& budget_;

  TunedFor about(const std::string& unit) const {
    return {unit, network_.target, network_.threads};
  }

  double time_of(size_t table) const {
    auto found = times_.find(space_.works[table].node);
    return found == times_.end() ? 0 : found->second;
  }

  // ---- measuring --------------------------------------------------------------------------

  /// Returns the classes of an entry that are not as usual, and the choice of the first.
  std::vector<std::pair<size_t, size_t>> changes_of(const LayoutEntry& entry) const {
    std::vector<std::pair<size_t, size_t>> result;
    for (const auto& [v, at] : entry.changed) {
      if (at != 0) result.emplace_back(space_.class_of(v), at);
    }
    return result;
  }

  /// Returns the entries in the order in which they are worth a measurement. A class can only
  /// change once all nodes about it are measured: what one change needs comes first and together,
  /// that of the class with most time first. Then come two changes side by side, and copies.
  std::vector<const LayoutEntry*> in_order() const {
    std::map<size_t, double> weights;  // of classes
    for (size_t t = 0; t < space_.works.size(); ++t) {
      if (space_.works[t].is_copy) continue;
      for (size_t v : space_.problem.tables[t].variables) {
        weights[space_.class_of(v)] += time_of(t);
      }
    }
    using Rank = std::tuple<bool, double, size_t, size_t>;
    std::vector<std::pair<Rank, const LayoutEntry*>> ranked;
    for (const LayoutEntry& entry : space_.entries) {
      auto changes = changes_of(entry);
      bool alone = changes.size() == 1 && !space_.works[entry.table].is_copy;
      auto [of, at] = alone ? changes.front() : std::pair<size_t, size_t>();
      double weight = alone ? weights[of] : time_of(entry.table);
      ranked.push_back({{!alone, -weight, of, at}, &entry});
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<const LayoutEntry*> result;
    for (const auto& [rank, entry] : ranked) result.push_back(entry);
    return result;
  }

  bool is_over(size_t measured) const {
    if (budget_.stop && budget_.stop()) return true;
    if (budget_.trials > 0 && measured >= static_cast<size_t>(budget_.trials)) return true;
    return budget_.until != 0 && bench_.elapsed() >= budget_.until;
  }

  void measure() {
    std::set<std::pair<std::string, std::string>> pairs;
    std::vector<std::pair<const Unit*, const Unit*>> wanted;
    for (const LayoutEntry* entry : in_order()) {
      const std::string& beside = space_.works[entry->table].unit;
      bool is_new = pairs.emplace(entry->unit, beside).second;
      if (!is_new || entry->unit == beside) continue;
      if (store_.cost(about(entry->unit), beside)) continue;
      wanted.emplace_back(&space_.units.at(beside), &space_.units.at(entry->unit));
    }
    for (size_t i = 0; i < wanted.size() && !is_over(i); ++i) {
      const auto& [usual, other] = wanted[i];
      Tried tried = bench_.compare_units(*usual, *other);
      store_.add_cost(about(other->key), usual->key, {tried.time, tried.own, tried.failure});
      if (budget_.progress) budget_.progress(i + 1, wanted.size());
    }
  }

  // ---- costs ------------------------------------------------------------------------------

  /// Returns how much faster a unit is by the choice that was found for it.
  double gain(const std::string& unit) const {
    auto found = store_.kept(about(unit));
    if (!found) found = store_.found(about(unit));
    return found ? found->time / found->own : 1;
  }

  CostProblem with_costs() const {
    CostProblem problem = space_.problem;
    for (size_t t = 0; t < space_.works.size(); ++t) {
      if (!space_.works[t].is_copy) {
        problem.tables[t].costs[0] = time_of(t) * gain(space_.works[t].unit);
      }
    }
    for (const LayoutEntry& entry : space_.entries) {
      const std::string& beside = space_.works[entry.table].unit;
      double& cost = problem.tables[entry.table].costs[entry.place];
      auto measured = store_.cost(about(entry.unit), beside);
      if (entry.unit == beside) {
        cost = time_of(entry.table) * gain(beside);  // the unit does not see the difference
      } else if (measured && measured->failure.empty() && measured->own > 0) {
        cost = time_of(entry.table) * measured->time / measured->own * gain(entry.unit) * doubt;
      }
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
