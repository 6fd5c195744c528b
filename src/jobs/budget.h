// How the time that a search may take is divided among its phases.
//
//   Budget budget(600);                                  ten minutes, from now on
//   budget.is_spent(Budget::Phase::measuring)            nearly half of it is gone
//   budget.tuning_seconds(20, 2)                         20, or less where that is not left
//
// A phase ends when its share and those of the phases before it are spent; what an earlier one
// leaves is for those after it. The original is measured and scored in any case, and what has begun
// is ended: a measurement, an evaluation.
#pragma once

#include <chrono>

namespace lathe {

class Budget {
 public:
  enum class Phase { looking, measuring, scoring, trying, comparing };

  /// Begins now; infinite: there is no bound.
  explicit Budget(double seconds) : seconds_(seconds) {}

  /// Returns the seconds since it began.
  double elapsed() const;

  /// Has a phase used all that it may?
  bool is_spent(Phase phase) const;

  /// Returns for how many whole seconds each of some networks may be tuned, at most as many as
  /// wanted: the rest of the budget, less what measuring and writing the result takes.
  double tuning_seconds(double wanted, int networks) const;

 private:
  using Clock = std::chrono::steady_clock;
  double seconds_;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace lathe
