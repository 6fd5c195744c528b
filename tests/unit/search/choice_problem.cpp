// One choice for each of many places: the same as trying everything, on random problems.
#include "search/choice_problem.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace lathe::test {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

ChoiceProblem random_problem(Random& random) {
  ChoiceProblem problem;
  size_t places = 1 + random.below(5);
  auto limits = random.below(3);
  problem.limits.resize(limits);
  for (size_t p = 0; p < places; ++p) {
    size_t choices = 1 + random.below(4);
    problem.costs.emplace_back();
    for (ChoiceLimit& limit : problem.limits) limit.amounts.emplace_back();
    for (size_t c = 0; c < choices; ++c) {
      bool possible = c == 0 || random.below(6) != 0;
      problem.costs.back().push_back(possible ? random.uniform() : infinite);
      for (ChoiceLimit& limit : problem.limits) limit.amounts.back().push_back(random.uniform());
    }
  }
  for (ChoiceLimit& limit : problem.limits) {
    double middle = 0.5 * static_cast<double>(places);
    if (random.below(2) == 0) limit.least = middle * random.uniform();
    if (random.below(2) == 0) limit.most = middle * (0.6 + random.uniform());
  }
  return problem;
}

/// Adds places whose choices are widths, and lets places agree with them.
void add_widths(ChoiceProblem& problem, Random& random) {
  size_t layers = problem.costs.size(), sets = 1 + random.below(2);
  for (size_t k = 0; k < sets; ++k) {
    size_t widths = 2 + random.below(2);
    problem.costs.emplace_back(widths, 0.0);
    for (size_t p = 0; p < layers; ++p) {
      if (random.below(2) == 0) continue;
      std::vector<ChoiceAgreement> of_width(widths);
      for (size_t w = 0; w < widths; ++w) of_width[w].second = {{layers + k, w}};
      for (size_t c = 0; c < problem.costs[p].size(); ++c) {
        of_width[c == 0 ? 0 : random.below(widths)].first.push_back({p, c});
      }
      for (ChoiceAgreement& each : of_width) problem.agreements.push_back(std::move(each));
    }
  }
}

double sum_of(const ChoiceTable& table, const std::vector<size_t>& choice) {
  double sum = 0;
  for (size_t p = 0; p < table.size(); ++p) sum += table[p][choice[p]];
  return sum;
}

bool is_allowed(const ChoiceProblem& problem, const std::vector<size_t>& choice, double slack) {
  for (const ChoiceLimit& limit : problem.limits) {
    double sum = sum_of(limit.amounts, choice);
    if (sum < limit.least - slack || sum > limit.most + slack) return false;
  }
  auto is_taken = [&](const std::vector<PlacedChoice>& side) {
    return std::any_of(side.begin(), side.end(),
                       [&](const PlacedChoice& each) { return choice[each.place] == each.choice; });
  };
  for (const ChoiceAgreement& agreement : problem.agreements) {
    if (is_taken(agreement.first) != is_taken(agreement.second)) return false;
  }
  return true;
}

double least_by_trying(const ChoiceProblem& problem) {
  std::vector<size_t> choice(problem.costs.size(), 0);
  double least = infinite;
  while (true) {
    if (is_allowed(problem, choice, 0)) least = std::min(least, sum_of(problem.costs, choice));
    size_t p = 0;
    while (p < choice.size() && ++choice[p] == problem.costs[p].size()) choice[p++] = 0;
    if (p == choice.size()) return least;
  }
}

TEST(ChoiceProblem, HasTheSolutionOfTryingEverything) {
  for (uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed, "choices");
    ChoiceProblem problem = random_problem(random);
    if (seed % 2 == 1) add_widths(problem, random);
    double least = least_by_trying(problem);
    auto found = cheapest(problem);
    ASSERT_EQ(found.has_value(), std::isfinite(least));
    if (!found) continue;
    EXPECT_TRUE(is_allowed(problem, *found, 1e-6));
    EXPECT_NEAR(sum_of(problem.costs, *found), least, 2e-4 * least + 1e-9);
  }
}

TEST(ChoiceProblem, IsSolvedForANetworkOfManyLayers) {
  Random random(1, "layers");
  ChoiceProblem problem{{}, {ChoiceLimit{}}};
  for (size_t p = 0; p < 60; ++p) {
    problem.costs.emplace_back();
    problem.limits[0].amounts.emplace_back();
    for (size_t c = 0; c < 20; ++c) {
      problem.costs.back().push_back(1 / (1.0 + static_cast<double>(c)) + 0.01 * random.uniform());
      problem.limits[0].amounts.back().push_back(static_cast<double>(c));
    }
  }
  problem.limits[0].most = 200;
  auto found = cheapest(problem);
  ASSERT_TRUE(found);
  EXPECT_LE(sum_of(problem.limits[0].amounts, *found), 200);
  EXPECT_LT(sum_of(problem.costs, *found), 60 * 0.26);  // 200 / 60 is a little more than 3 each
}

}  // namespace
}  // namespace lathe::test
