// strategy_ablation.cpp: choices without some families. Interface: strategy_ablation.h.
#include "strategies/strategy_ablation.h"

#include <set>

namespace lathe {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

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

}  // namespace

std::vector<AblationWay> ablation(const StrategyInput& input) {
  std::vector<AblationWay> ways;
  auto add = [&](std::optional<AblationWay> way) {
    if (way) ways.push_back(std::move(*way));
  };
  add(chosen_from(input, "everything", [](Family) { return true; }));
  if (ways.empty()) return ways;
  add(chosen_from(input, "groups only", [](Family f) { return f == Family::grouped; }));
  for (const FamilyRecord& record : families()) {
    const std::vector<std::string>& used = ways.front().used;
    if (std::find(used.begin(), used.end(), record.name) == used.end()) continue;
    add(chosen_from(input, fmt::format("all but {}", record.name),
                    [&](Family f) { return f != record.family; }));
  }
  return ways;
}

}  // namespace lathe
