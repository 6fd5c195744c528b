// strategy_standing.cpp: limits and what is left of them. Interface: strategy_standing.h.
#include "strategies/strategy_standing.h"

#include <algorithm>
#include <cmath>

namespace lathe {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Returns what is left of a limit, as a share of what the original has.
double left_of(long most, long is, long original) {
  if (most == std::numeric_limits<long>::max()) return infinity;
  return static_cast<double>(most - is) / static_cast<double>(original);
}

/// The same of a limit of seconds, as a share of the limit.
double left_of(double most, double is) {
  return std::isfinite(most) ? (most - is) / most : infinity;
}

/// Returns how far the layer that moved most did, of those that changed.
double worst_move(const FirstJudgement& judged, const Assignment& assignment,
                  const TableCorrection& correction) {
  double worst = 0;
  for (size_t s = 0; s < assignment.size(); ++s) {
    if (assignment[s] == 0) continue;
    double more = correction.layers.empty() ? 0 : correction.layers[s];
    worst = std::max(worst, std::abs(judged.layers[s] + more));
  }
  return worst;
}

}  // namespace

bool Standing::is_allowed() const {
  bool kept = std::all_of(left.begin(), left.end(), [](double x) { return x >= 0; });
  return kept && left_of_layers >= 0;
}

Standing standing_of(const StrategyInput& input, const Assignment& assignment,
                     const TableCorrection& correction) {
  const GateRule& rule = input.rule;
  const NetworkLimits& limits = input.limits;
  FirstJudgement judged = judge_first(rule, input.space, input.tables, assignment);
  double size = size_reduced(input.space, assignment);
  double network = judged.log_ratio + correction.network * size;
  double predicted = judged.predicted + correction.points * size;
  Standing result{
      std::isfinite(limits.time) ? -predicted : judged.time,
      {left_of(limits.time, judged.time * correction.slower),
       left_of(limits.macs, macs_of(input.space, assignment), input.space.macs),
       left_of(limits.weights, weights_of(input.space, assignment), input.space.weights)},
      infinity};
  if (rule.is_paper) {
    result.left.push_back(network);
    return result;
  }
  result.left.push_back(predicted + rule.tolerance);
  result.left.push_back(rule.network_band * correction.bands - std::abs(network));
  result.left_of_layers =
      rule.layer_band * correction.bands - worst_move(judged, assignment, correction);
  return result;
}

double size_reduced(const NetworkSpace& space, size_t site, size_t variant) {
  auto macs = [&](size_t v) { return static_cast<double>(space.variant(site, v).macs); };
  return std::log(macs(0) / macs(variant));
}

double size_reduced(const NetworkSpace& space, const Assignment& assignment) {
  double sum = 0;
  for (size_t s = 0; s < assignment.size(); ++s) sum += size_reduced(space, s, assignment[s]);
  return sum;
}

}  // namespace lathe
