// strategy_ablation.cpp: choices without some families. Interface: strategy_ablation.h.
#include "strategies/strategy_ablation.h"

#include <algorithm>
#include <set>

namespace lathe {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// How often families are left out anew, where fewer of them did better.
constexpr int most_rounds = 4;

/// Returns the families that layers of a network use, in their order.
std::vector<Family> used_families(const NetworkSpace& space, const Assignment& assignment) {
  std::set<Family> used;
  for (size_t s = 0; s < assignment.size(); ++s) {
    Family family = space.variant(s, assignment[s]).family;
    if (family != Family::same) used.insert(family);
  }
  return {used.begin(), used.end()};
}

/// Chooses once, from the variants of some families.
template <class Allowed>
std::optional<AblationWay> chosen_from(const StrategyInput& input, std::string name,
                                       const Allowed& allowed) {
  LayerTables tables = input.tables;
  for (size_t s = 0; s < tables.times.size(); ++s) {
    for (size_t v = 1; v < tables.times[s].size(); ++v) {
      if (!allowed(input.space.variant(s, v).family)) tables.times[s][v] = infinity;
    }
  }
  StrategyInput restricted{input.space,  tables,      input.rule, input.limits,
                           input.trials, input.exact, input.seed};
  auto proposal = find_strategy("assign").begin(restricted)->propose();
  if (!proposal) return std::nullopt;
  FirstJudgement judged = judge_first(input.rule, input.space, tables, proposal->assignment);
  AblationWay way{std::move(name), judged.time, judged.predicted, {}};
  for (Family f : used_families(input.space, proposal->assignment)) {
    way.used.emplace_back(name_of(f));
  }
  return way;
}

/// Chooses without each of the families.
std::vector<AblationWay> without_each(const StrategyInput& input,
                                      const std::vector<std::string>& used) {
  std::vector<AblationWay> ways;
  for (const FamilyRecord& record : families()) {
    if (std::find(used.begin(), used.end(), record.name) == used.end()) continue;
    auto way = chosen_from(input, fmt::format("all but {}", record.name),
                           [&](Family f) { return f != record.family; });
    if (way) ways.push_back(std::move(*way));
  }
  return ways;
}

}  // namespace

std::vector<AblationWay> ablation(const StrategyInput& input) {
  auto all = chosen_from(input, "everything", [](Family) { return true; });
  if (!all) return {};
  // The choice is nearly the best, not always. What some families can make, all of them can: if
  // fewer do better, that is what everything can do.
  std::vector<AblationWay> others = without_each(input, all->used);
  for (int round = 1; round < most_rounds && !others.empty(); ++round) {
    auto best = std::min_element(others.begin(), others.end(),
                                 [](const auto& a, const auto& b) { return a.time < b.time; });
    if (best->time >= all->time) break;
    all = AblationWay{all->families, best->time, best->predicted, best->used};
    others = without_each(input, all->used);
  }
  std::vector<AblationWay> ways{std::move(*all)};
  auto groups = chosen_from(input, "groups only", [](Family f) { return f == Family::grouped; });
  if (groups) ways.push_back(std::move(*groups));
  ways.insert(ways.end(), others.begin(), others.end());
  return ways;
}

}  // namespace lathe
