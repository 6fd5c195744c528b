// Strategies on tables that are made up: what they propose, without a network or a clock.
#include <gtest/gtest.h>

#include <cmath>

#include "strategies/strategy.h"

namespace lathe::test {
namespace {

/// Layers that can become half or a quarter; the quarter moves its score far in odd layers.
struct Case {
  NetworkSpace space;
  LayerTables tables;
  GateRule rule;

  explicit Case(size_t layers) {
    auto step = [](long groups) { return Recipe{{"group", {groups}}}; };
    space.kinds.push_back(
        {"conv", {{{}, "", 400, 400}, {step(2), "", 200, 200}, {step(4), "", 100, 100}}, {}});
    for (size_t s = 0; s < layers; ++s) {
      space.sites.push_back({"layer" + std::to_string(s), 0});
      space.kinds[0].sites.push_back(s);
      tables.times.push_back({4, 2, 1});
      tables.scores.push_back({1, 1, s % 2 == 0 ? 1.0 : 0.1});
      tables.gains.push_back({1, 1, 1});
      tables.diversities.push_back({0, 0, 0});
      tables.own_scores.push_back(1);
      tables.places.push_back(s);
    }
    space.macs = space.weights = 400 * static_cast<long>(layers);
    rule.network_band = 0.5;
    rule.layer_band = 1;
    rule.features = {{"fisher", Feature::Form::distance}};
    rule.weights = {-0.1};
    rule.tolerance = 0.5;
  }

  StrategyInput input(long trials = 300) const { return {space, tables, rule, {}, trials, 6, 1}; }
};

/// Runs a strategy whose proposals do exactly what the tables say; returns the fastest that passed.
double least_time(const Case& made, const char* strategy, const StrategyInput& input) {
  auto searcher = find_strategy(strategy).begin(input);
  double least = std::numeric_limits<double>::infinity();
  while (auto proposal = searcher->propose()) {
    FirstJudgement first = judge_first(made.rule, made.space, made.tables, proposal->assignment);
    bool accepted = first.accepted && is_within(input, proposal->assignment);
    if (proposal->exact && accepted) least = std::min(least, first.time);
    searcher->observe({accepted, "", first.time, first.log_ratio, first.predicted, {}});
  }
  return least;
}

TEST(Strategies, AssignFindsTheFastestThatPasses) {
  Case made(8);
  // Even layers become a quarter, odd ones a half: their quarter is outside of the layers' band.
  EXPECT_EQ(least_time(made, "assign", made.input()), 4 * 1 + 4 * 2);
}

TEST(Strategies, AssignKeepsLimits) {
  Case made(8);
  StrategyInput input = made.input();
  made.tables.times[0] = {4, 2, 3};  // the fewest weights are not the fastest
  input.limits.weights = 4 * 100 + 4 * 200;
  EXPECT_EQ(least_time(made, "assign", input), 3 + 3 * 1 + 4 * 2);
  input.limits.weights -= 1;
  EXPECT_FALSE(std::isfinite(least_time(made, "assign", input)));
}

TEST(Strategies, OthersFindNothingFaster) {
  Case made(8);
  double best = least_time(made, "assign", made.input());
  for (const char* name : {"random", "evolve"}) {
    double time = least_time(made, name, made.input());
    EXPECT_GE(time, best) << name;
    EXPECT_LT(time, 8 * 4) << name;
  }
}

TEST(Strategies, AssignLearnsFromWhatIsFoundExactly) {
  Case made(4);
  auto searcher = find_strategy("assign").begin(made.input());
  auto first = searcher->propose();
  ASSERT_TRUE(first);
  // Exactly, layer 0 moved out of its band: it must not become that again.
  searcher->observe({false, "", 0, 0, 0, {{"layer0", 1.5}}});
  auto second = searcher->propose();
  ASSERT_TRUE(second);
  EXPECT_NE(first->assignment[0], 0U);
  EXPECT_EQ(second->assignment[0], 0U);
}

TEST(Strategies, AssignGoesOnAfterANetworkThatWasFarAway) {
  Case made(4);
  auto searcher = find_strategy("assign").begin(made.input());
  ASSERT_TRUE(searcher->propose());
  // As much more as the tables said, for all networks, would leave none.
  searcher->observe({false, "", 0, 3, -5, {}});
  EXPECT_TRUE(searcher->propose());
}

TEST(Strategies, ProposeTheSameForTheSameSeed) {
  Case made(6);
  for (const Strategy& strategy : strategies::all()) {
    auto a = strategy.begin(made.input(20)), b = strategy.begin(made.input(20));
    for (int i = 0; i < 20; ++i) {
      auto x = a->propose(), y = b->propose();
      ASSERT_EQ(x.has_value(), y.has_value());
      if (!x) break;
      EXPECT_EQ(x->assignment, y->assignment) << strategy.name;
      Observation outcome{true, "", 1, 0, 0, {}};
      a->observe(outcome);
      b->observe(outcome);
    }
  }
}

TEST(Strategies, UnknownOnesAreNamed) { EXPECT_THROW(find_strategy("asign"), UserError); }

}  // namespace
}  // namespace lathe::test
