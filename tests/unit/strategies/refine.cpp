// Refinement on made-up numbers: what it finds beside the best of all assignments.
#include "strategies/strategy_refine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace lathe::test {
namespace {

constexpr size_t places = 5, choices = 4;

/// What choices take and lose. What is lost together is more than the sum: it grows like a power.
struct Losses {
  ChoiceTable times, lost;
  double power, most;

  explicit Losses(uint64_t seed) : most(1.5) {
    Random random(seed, "losses");
    power = 1 + random.uniform();
    for (size_t s = 0; s < places; ++s) {
      times.push_back({4});
      lost.push_back({0});
      for (size_t v = 1; v < choices; ++v) {
        times.back().push_back(0.5 + 3 * random.uniform());
        lost.back().push_back(0.9 * random.uniform());
      }
    }
  }

  Standing standing(const Assignment& assignment) const {
    double time = 0, sum = 0;
    for (size_t s = 0; s < places; ++s) {
      time += times[s][assignment[s]];
      sum += lost[s][assignment[s]];
    }
    return {time, {most - std::pow(sum, power)}, 0};
  }

  /// Returns the least time of all assignments that are allowed.
  double least() const {
    double result = times.size() * 4.0;
    Assignment each(places, 0);
    for (size_t n = 0; n < std::pow(choices, places); ++n) {
      for (size_t s = 0, left = n; s < places; ++s, left /= choices) each[s] = left % choices;
      Standing then = standing(each);
      if (then.is_allowed()) result = std::min(result, then.cost);
    }
    return result;
  }
};

/// Refines from a start, without links of channels.
Assignment refined_from(const Losses& losses, const Assignment& start) {
  NetworkSpace space;
  LayerTables tables;
  GateRule rule;
  StrategyInput input{space, tables, rule, {}};
  return refined(input, losses.times, start,
                 [&](const Assignment& each) { return losses.standing(each); });
}

TEST(Refinement, FindsNearlyTheBest) {
  double over = 0;
  long all = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Losses losses(seed);
    double least = losses.least();
    for (size_t start : {size_t{0}, choices - 1}) {  // allowed, and mostly not allowed
      Standing found = losses.standing(refined_from(losses, Assignment(places, start)));
      bool began_allowed = losses.standing(Assignment(places, start)).is_allowed();
      if (!found.is_allowed() && !began_allowed) continue;  // it is a start for nothing
      EXPECT_TRUE(found.is_allowed());
      EXPECT_GE(found.cost, least - 1e-9);
      over += found.cost / least;
      ++all;
    }
  }
  ASSERT_GT(all, 0);
  EXPECT_LT(over / double(all), 1.05);
}

TEST(Refinement, NeverChoosesWhatIsNotAllowed) {
  Losses losses(1);
  losses.times[0][1] = losses.times[0][2] = std::numeric_limits<double>::infinity();
  Assignment found = refined_from(losses, Assignment(places, 0));
  EXPECT_TRUE(found[0] == 0 || found[0] == 3);
}

}  // namespace
}  // namespace lathe::test
