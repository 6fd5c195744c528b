// budget.cpp: the time that a search may take. Interface: budget.h.
#include "jobs/budget.h"

#include <algorithm>
#include <cmath>

namespace lathe {
namespace {

/// Returns the part of the budget that is gone when a phase ends. Tables are worth most: every
/// network is chosen by them. To compare is to measure the list of blocks, which has as many as the
/// space. The last fifth is for tuning and the bundle.
double share_until(Budget::Phase phase) {
  switch (phase) {
    case Budget::Phase::looking:
      return 0.1;
    case Budget::Phase::measuring:
      return 0.35;
    case Budget::Phase::scoring:
      return 0.45;
    case Budget::Phase::trying:
      return 0.55;
    case Budget::Phase::comparing:
      return 0.8;
  }
  return 1;
}

/// The part of what is left at the end that tuning may take: networks are then measured, and one is
/// compiled for the bundle.
constexpr double tuning_share = 0.6;

}  // namespace

double Budget::elapsed() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

bool Budget::is_spent(Phase phase) const { return elapsed() >= share_until(phase) * seconds_; }

double Budget::tuning_seconds(double wanted, int networks) const {
  if (!std::isfinite(seconds_)) return wanted;
  double left = std::max(0.0, seconds_ - elapsed());
  return std::min(wanted, std::floor(tuning_share * left / networks));
}

}  // namespace lathe
