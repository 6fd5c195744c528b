// The least sum of costs: the same as trying everything, on random problems.
#include "search/elimination.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/random.h"

namespace lathe::test {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// A few variables with tables between one, two or three of them. What changes nothing can be
/// chosen; of the rest some cannot.
CostProblem random_problem(Random& random) {
  CostProblem problem;
  auto variables = 1 + random.below(6);
  for (size_t v = 0; v < variables; ++v) {
    problem.sizes.push_back(1 + random.below(4));
  }
  size_t tables = random.below(9);
  for (size_t t = 0; t < tables; ++t) {
    CostTable table;
    size_t entries = 1;
    for (size_t v = 0; v < variables && table.variables.size() < 3; ++v) {
      if (random.below(3) != 0) continue;
      table.variables.push_back(v);
      entries *= problem.sizes[v];
    }
    // In any order.
    if (table.variables.size() > 1 && random.below(2) == 0) {
      std::swap(table.variables.front(), table.variables.back());
    }
    for (size_t i = 0; i < entries; ++i) {
      bool possible = i == 0 || random.below(5) != 0;
      table.costs.push_back(possible ? random.uniform() : infinite);
    }
    problem.tables.push_back(table);
  }
  return problem;
}

double least_by_trying(const CostProblem& problem) {
  std::vector<size_t> choice(problem.sizes.size(), 0);
  double least = infinite;
  while (true) {
    least = std::min(least, cost_of(problem, choice));
    size_t v = 0;
    while (v < choice.size() && ++choice[v] == problem.sizes[v]) choice[v++] = 0;
    if (v == choice.size()) return least;
  }
}

TEST(LeastCosts, AreThoseOfTryingEverything) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed, "elimination");
    CostProblem problem = random_problem(random);
    std::vector<size_t> chosen = least_costs(problem);
    ASSERT_EQ(chosen.size(), problem.sizes.size());
    EXPECT_NEAR(cost_of(problem, chosen), least_by_trying(problem), 1e-9);
  }
}

TEST(LeastCosts, NeverExceedTheUsualWhereTablesMustBeSmall) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed, "elimination");
    CostProblem problem = random_problem(random);
    std::vector<size_t> usual(problem.sizes.size(), 0);
    for (size_t largest : {1, 2, 5}) {
      double cost = cost_of(problem, least_costs(problem, largest));
      EXPECT_LE(cost, cost_of(problem, usual) + 1e-9);
    }
  }
}

TEST(LeastCosts, LongChainsAreNoTrouble) {
  // Each likes to differ from the one before it; the first must be 1.
  CostProblem problem;
  for (size_t v = 0; v < 300; ++v) {
    problem.sizes.push_back(3);
    CostTable table{{v}, {0, v == 0 ? -5.0 : 0, 0}};
    problem.tables.push_back(table);
    if (v > 0) problem.tables.push_back({{v - 1, v}, {1, 0, 0, 0, 1, 0, 0, 0, 1}});
  }
  std::vector<size_t> chosen = least_costs(problem);
  EXPECT_EQ(chosen[0], 1u);
  EXPECT_EQ(cost_of(problem, chosen), -5);
}

}  // namespace
}  // namespace lathe::test
