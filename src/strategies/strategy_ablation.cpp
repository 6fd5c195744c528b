// strategy_ablation.cpp: choices without some families. Interface: strategy_ablation.h.
#include "strategies/strategy_ablation.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "strategies/strategy_refine.h"

namespace lathe {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A network that takes longer by no more than this share counts as equally fast. Then fewer
/// families are better.
constexpr double same_time = 0.005;
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

/// A way, and how it was chosen.
struct AblationChoice {
  AblationWay way;
  Assignment assignment;
};

/// Chooses once, from the variants of some families, beginning at an assignment.
template <class Allowed>
std::optional<AblationChoice> chosen_from(const StrategyInput& input, std::string name,
                                          const Assignment& begin, const Allowed& allowed) {
  ChoiceTable times = input.tables.times;
  Assignment start = begin;
  for (size_t s = 0; s < times.size(); ++s) {
    for (size_t v = 1; v < times[s].size(); ++v) {
      if (!allowed(input.space.variant(s, v).family)) times[s][v] = infinity;
    }
    if (!std::isfinite(times[s][start[s]])) start[s] = 0;
  }
  auto standing = [&](const Assignment& each) { return standing_of(input, each); };
  Assignment found = refined(input, times, start, standing);
  if (!standing(found).is_allowed()) return std::nullopt;
  FirstJudgement judged = judge_first(input.rule, input.space, input.tables, found);
  AblationChoice choice{{std::move(name), judged.time, judged.predicted, {}}, found};
  for (Family f : used_families(input.space, found)) choice.way.used.emplace_back(name_of(f));
  return choice;
}

/// Chooses without each of the families that a choice uses.
std::vector<AblationChoice> without_each(const StrategyInput& input, const AblationChoice& all) {
  std::vector<AblationChoice> choices;
  for (Family left_out : used_families(input.space, all.assignment)) {
    auto choice = chosen_from(input, fmt::format("all but {}", name_of(left_out)), all.assignment,
                              [&](Family f) { return f != left_out; });
    if (choice) choices.push_back(std::move(*choice));
  }
  return choices;
}

/// Chooses from the families that the winner uses, if that are not all that pay.
std::optional<AblationChoice> only_its_own(const StrategyInput& input, const Assignment& winner,
                                           const AblationChoice& all) {
  std::vector<Family> own = used_families(input.space, winner);
  if (own.empty() || own == used_families(input.space, all.assignment)) return std::nullopt;
  return chosen_from(input, "its own", winner,
                     [&](Family f) { return std::find(own.begin(), own.end(), f) != own.end(); });
}

}  // namespace

std::vector<AblationWay> ablation(const StrategyInput& input, const Assignment& winner) {
  auto any = [](Family) { return true; };
  auto all = chosen_from(input, "everything", winner, any);
  // Exact evaluation may have accepted what the tables do not.
  if (!all) all = chosen_from(input, "everything", Assignment(winner.size(), 0), any);
  if (!all) return {};
  // The choice is nearly the best, not always. What some families can make, all of them can: if
  // fewer do better, that is what everything can do.
  std::vector<AblationChoice> others = without_each(input, *all);
  for (int round = 1; round < most_rounds && !others.empty(); ++round) {
    auto best = std::min_element(others.begin(), others.end(), [](const auto& a, const auto& b) {
      return a.way.time < b.way.time;
    });
    if (best->way.time > (1 + same_time) * all->way.time) break;
    best->way.families = all->way.families;
    all = *best;
    others = without_each(input, *all);
  }
  std::vector<AblationWay> ways{all->way};
  if (auto own = only_its_own(input, winner, *all)) ways.push_back(own->way);
  auto groups = chosen_from(input, "groups only", all->assignment,
                            [](Family f) { return f == Family::grouped; });
  if (groups) ways.push_back(groups->way);
  for (const AblationChoice& choice : others) ways.push_back(choice.way);
  return ways;
}

}  // namespace lathe
