// How the time of a search is divided.
#include "jobs/budget.h"

#include <gtest/gtest.h>

#include <limits>
#include <thread>

namespace lathe::test {
namespace {

using Phase = Budget::Phase;

TEST(Budget, WithoutABoundNothingIsSpent) {
  Budget budget(std::numeric_limits<double>::infinity());
  EXPECT_FALSE(budget.is_spent(Phase::looking));
  EXPECT_FALSE(budget.is_spent(Phase::comparing));
  EXPECT_EQ(budget.tuning_seconds(20, 4), 20);
}

TEST(Budget, EarlierPhasesEndEarlier) {
  Budget budget(0.2);
  while (!budget.is_spent(Phase::looking)) std::this_thread::yield();
  double looked = budget.elapsed();
  while (!budget.is_spent(Phase::scoring)) std::this_thread::yield();
  EXPECT_GT(budget.elapsed(), looked);
  while (!budget.is_spent(Phase::comparing)) std::this_thread::yield();
  EXPECT_TRUE(budget.is_spent(Phase::looking));
  EXPECT_GE(budget.elapsed(), 0.16);
}

TEST(Budget, TuningFitsIntoWhatIsLeft) {
  Budget budget(100);
  EXPECT_EQ(budget.tuning_seconds(5, 4), 5);
  double each = budget.tuning_seconds(1000, 4);
  EXPECT_GT(each, 5);
  EXPECT_LT(4 * each, 100);
  EXPECT_EQ(Budget(0).tuning_seconds(20, 2), 0);
}

}  // namespace
}  // namespace lathe::test
