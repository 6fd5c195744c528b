// Strategies on tables that are made up: what they propose, without a network or a clock.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "results/summary.h"
#include "strategies/strategy_ablation.h"

namespace lathe::test {
namespace {

/// Layers that can become half or a quarter; the quarter moves its score far in odd layers.
struct Case {
  NetworkSpace space;
  LayerTables tables;
  GateRule rule;

  explicit Case(size_t layers) {
    tables.metrics = {{find_metric("fisher"), {}, {}}, {find_metric("macs"), {}, {}}};
    auto step = [](long groups) { return Recipe{{"group", {groups}}}; };
    space.kinds.push_back(
        {"conv", {{{}, "", 400, 400}, {step(2), "", 200, 200}, {step(4), "", 100, 100}}, {}});
    for (size_t s = 0; s < layers; ++s) {
      space.sites.push_back({"layer" + std::to_string(s), 0});
      space.kinds[0].sites.push_back(s);
      tables.times.push_back({4, 2, 1});
      scores().push_back({1, 1, s % 2 == 0 ? 1.0 : 0.1});
      tables.metrics[1].scores.push_back({400, 200, 100});
      tables.gains.push_back({1, 1, 1});
      tables.places.push_back(s);
    }
    tables.metrics[0].own.assign(layers, 1);
    tables.metrics[1].own.assign(layers, 400);
    for (MetricTable& table : tables.metrics) {
      table.total = table.own.front() * static_cast<double>(layers);
      table.layers = layers;
    }
    space.macs = space.weights = 400 * static_cast<long>(layers);
    rule.network_band = 0.5;
    rule.layer_band = 1;
    rule.features = {{"fisher", Form::distance}};
    rule.weights = {-0.1};
    rule.tolerance = 0.5;
  }

  /// Returns what the metric that has bands says of sites and variants.
  ChoiceTable& scores() { return tables.metrics[0].scores; }

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

TEST(Strategies, AblationLeavesFamiliesOut) {
  Case made(8);
  made.space.kinds[0].variants[1].family = Family::grouped;
  made.space.kinds[0].variants[2].family = Family::reads;
  Assignment winner = {2, 1, 2, 1, 2, 1, 2, 1};
  std::vector<AblationWay> ways = ablation(made.input(), winner);
  ASSERT_EQ(ways.size(), 4U);
  using Names = std::vector<std::string>;
  EXPECT_EQ(ways[0].families, "everything");
  EXPECT_EQ(ways[0].time, 4 * 1 + 4 * 2);
  EXPECT_EQ(ways[0].used, (Names{"grouped", "reads"}));
  EXPECT_EQ(ways[1].families, "groups only");
  EXPECT_EQ(ways[1].time, 8 * 2);
  EXPECT_EQ(ways[1].used, Names{"grouped"});
  EXPECT_EQ(ways[2].families, "all but grouped");
  EXPECT_EQ(ways[2].time, 4 * 1 + 4 * 4);
  EXPECT_EQ(ways[3].families, "all but reads");
  EXPECT_EQ(ways[3].time, 8 * 2);
}

TEST(Strategies, AblationKnowsWhatTheWinnerLeftOut) {
  Case made(8);
  made.space.kinds[0].variants[1].family = Family::grouped;
  made.space.kinds[0].variants[2].family = Family::reads;
  std::vector<AblationWay> ways = ablation(made.input(), Assignment(8, 1));
  ASSERT_EQ(ways.size(), 5U);
  using Names = std::vector<std::string>;
  EXPECT_EQ(ways[0].used, (Names{"grouped", "reads"}));
  EXPECT_EQ(ways[1].families, "its own");
  EXPECT_EQ(ways[1].time, 8 * 2);
  EXPECT_EQ(ways[1].used, Names{"grouped"});
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

TEST(Strategies, NasDrawsOnlyWhatTheRuleAllowsInALayer) {
  Case made(2);
  EXPECT_EQ(find_strategy("nas").space, SpaceOf::blocks);
  EXPECT_EQ(find_strategy("assign").space, SpaceOf::steps);
  made.tables.times[0][1] = INFINITY;  // it could not be measured
  auto drawn = [&] {
    std::vector<std::set<size_t>> choices(2);
    auto searcher = find_strategy("nas").begin(made.input(100));
    while (auto proposal = searcher->propose()) {
      for (size_t s : {0, 1}) choices[s].insert(proposal->assignment[s]);
      searcher->observe({false, "", 0, 0, 0, {}});
    }
    return choices;
  };
  // A network in which an odd layer is a quarter is refused: drawing it would be a waste.
  EXPECT_EQ(drawn(), (std::vector<std::set<size_t>>{{0, 2}, {0, 1}}));
  made.rule.is_paper = true;  // it knows no layers
  EXPECT_EQ(drawn(), (std::vector<std::set<size_t>>{{0, 2}, {0, 1, 2}}));
}

TEST(Strategies, BlocksAreChosenAtRandomOrOverAllLayers) {
  Case made(8);
  double sampled = least_time(made, "nas", made.input()), all = 8 * 4;
  double assigned = least_time(made, "assign", made.input());
  EXPECT_LT(sampled, all);
  EXPECT_LE(assigned, sampled);
  EXPECT_EQ(assigned, 4 * 1 + 4 * 2);
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

TEST(Strategies, AssignIsAsAccurateAsTheTimeAllows) {
  Case made(8);
  made.rule.features.push_back({"macs", Form::log_ratio});
  made.rule.weights.push_back(0.2);
  StrategyInput input = made.input();
  input.limits.time = 16;  // all halves: 200 each
  auto proposal = find_strategy("assign").begin(input)->propose();
  ASSERT_TRUE(proposal);
  FirstJudgement judged = judge_first(made.rule, made.space, made.tables, proposal->assignment);
  EXPECT_LE(judged.time, 16);
  // Nothing that is as fast has more MACs: dense layers cost 4 for 400, halves 2 for 200.
  EXPECT_EQ(macs_of(made.space, proposal->assignment), 8 * 200);
  input.limits.time = 7;  // less than all quarters, which the layers' bands do not allow anyway
  EXPECT_FALSE(find_strategy("assign").begin(input)->propose());
}

TEST(Strategies, AssignSeesWhatLayersHandBack) {
  Case made(4);
  // Each quarter doubles the gradient of all layers before it: four of them move the first by
  // log 8, beyond its band.
  std::vector<GradientFlow::Station> chain;
  for (size_t s = 0; s < 4; ++s) {
    chain.push_back({{}, s});
    if (s > 0) chain[s - 1].readers = {{s, 1}};
    made.scores()[s] = {1, 1, 1};
    made.tables.gains[s] = {1, 1, 2};
  }
  made.tables.flow = GradientFlow(chain);
  FirstJudgement all = judge_first(made.rule, made.space, made.tables, {2, 2, 2, 2});
  EXPECT_FALSE(all.accepted);
  EXPECT_NEAR(all.layers[0], std::log(8), 1e-9);
  EXPECT_NEAR(all.layers[3], 0, 1e-9);
  auto proposal = find_strategy("assign").begin(made.input())->propose();
  ASSERT_TRUE(proposal);
  EXPECT_TRUE(judge_first(made.rule, made.space, made.tables, proposal->assignment).accepted);
}

TEST(Strategies, CoupledLayersHaveTheSameChannels) {
  Case made(6);
  // Layers can have half of their filters, or read half of their channels: very fast.
  LayerKind& kind = made.space.kinds[0];
  kind.coupled = CoupledLayer(parse_call("conv(f32[1x8x4x4], f32[8x8x3x3])"));
  kind.variants.push_back({{}, "", 200, 200, Coupling{4, 8}});
  kind.variants.push_back({{}, "", 200, 200, Coupling{8, 4}});
  auto link = [](std::vector<size_t> makers, size_t reader) {
    ChannelLink result{"link", {}, {{reader, {{0, 1}}}}, {{8, 4}}, {{8}, {4}}, {0, 1}};
    for (size_t maker : makers) result.makers.push_back({maker, {{0, 1}}});
    return result;
  };
  made.space.links = {link({0}, 1), link({2, 3}, 4)};
  for (size_t s = 0; s < 6; ++s) {
    for (size_t v : {3, 4}) {
      bool possible = is_possible(made.space, s, v);
      made.tables.times[s].push_back(possible ? 0.25 : INFINITY);
      made.scores()[s].push_back(1);
      made.tables.gains[s].push_back(1);
      made.tables.metrics[1].scores[s].push_back(200);
    }
  }
  made.scores()[4][4] = 100;  // too far away: the second link stays as it was
  EXPECT_FALSE(judge_first(made.rule, made.space, made.tables, {3, 0, 0, 0, 0, 0}).accepted);
  auto proposal = find_strategy("assign").begin(made.input())->propose();
  ASSERT_TRUE(proposal);
  EXPECT_EQ(proposal->assignment, (Assignment{3, 4, 2, 1, 2, 1}));
  for (const char* name : {"assign", "random", "evolve"}) {
    auto searcher = find_strategy(name).begin(made.input());
    for (auto each = searcher->propose(); each; each = searcher->propose()) {
      EXPECT_TRUE(agrees(made.space, each->assignment)) << name;
      FirstJudgement first = judge_first(made.rule, made.space, made.tables, each->assignment);
      searcher->observe({first.accepted, "", first.time, first.log_ratio, first.predicted, {}});
    }
  }
}

TEST(Strategies, WhatLayersAloneDoNotTellIsExpectedNotNothing) {
  Case made(4);
  made.rule.features = {{"fisher", Form::distance}, {"macs", Form::log_ratio}};
  made.rule.weights = {0, 1};
  auto predicted = [&](const Assignment& assignment) {
    return judge_first(made.rule, made.space, made.tables, assignment);
  };
  EXPECT_EQ(predicted({0, 0, 0, 0}).predicted, 0);
  EXPECT_NEAR(predicted({1, 1, 1, 1}).predicted, std::log(0.5), 1e-12);
  EXPECT_EQ(predicted({1, 1, 1, 1}).unknown, 0);
  // A metric that layers alone do not tell usually adds half as much again.
  made.rule.features.push_back({"jacob_cov", Form::difference});
  made.rule.weights.push_back(1);
  made.rule.beyond_share = 0.5;
  made.rule.beyond_deviation = 0.1;
  EXPECT_EQ(made.rule.unknown_to_first_order(), std::vector<std::string>{"jacob_cov"});
  EXPECT_EQ(predicted({0, 0, 0, 0}).predicted, 0);
  EXPECT_NEAR(predicted({1, 1, 1, 1}).predicted, 1.5 * std::log(0.5), 1e-12);
  EXPECT_EQ(predicted({1, 1, 1, 1}).unknown, 0.1);
}

TEST(Strategies, FirstOrderAddsUpAsMetricsSay) {
  Case made(4);
  // A sum, one of which does not grow with gradients; and a mean over six layers, of which two
  // cannot change.
  made.tables.metrics.push_back({find_metric("diversity"), {}, std::vector<double>(4, 0), 3, 6});
  for (size_t s = 0; s < 4; ++s) made.tables.metrics[2].scores.push_back({3, 2.5, 1});
  std::vector<Comparison> comparisons = compared_first(made.tables, {2, 1, 0, 0});
  EXPECT_NEAR(comparisons[1].log_ratios.at(0), std::log((100 + 200 + 800) / 1600.0), 1e-12);
  EXPECT_NEAR(comparisons[1].layers.at(0).log_ratio, std::log(0.25), 1e-12);
  EXPECT_NEAR(comparisons[2].differences.at(0), (-2 - 0.5) / 6, 1e-12);
  EXPECT_EQ(comparisons[2].layers.size(), 6U);
}

TEST(GradientFlow, CountsPathsByWhatCameAlongThem) {
  // 0 is read by 1 and 2, three quarters of its gradient come along 1.
  GradientFlow flow({{{{1, 3}, {2, 1}}, 0}, {{}, 1}, {{}, 2}});
  EXPECT_EQ(flow.received({1, 1, 1}), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(flow.received({9, 5, 1}), (std::vector<double>{(3 * 5 + 1) / 4.0, 1, 1}));
}

TEST(SearchSummary, KeepsWhatNoOtherIsBetterThan) {
  auto point = [](double ms, double predicted, long weights) {
    ResultPoint result;
    result.ms = ms;
    result.original_ms = 10;
    result.predicted = predicted;
    result.weights = weights;
    return result;
  };
  auto kept =
      not_dominated({point(5, -1, 10), point(4, -2, 10), point(6, -1, 10), point(6, -1, 9)});
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept[0].ms, 4);
  EXPECT_EQ(kept[1].ms, 5);
  EXPECT_EQ(kept[2].weights, 9);
}

TEST(SearchSummary, OfAChoiceFromTheList) {
  Case made(2);
  SearchReport report;
  report.tried = 7, report.refused = 5;
  ResultBaseline none = baseline_of(made.input(), report, "sampled");
  EXPECT_EQ(none.way, "sampled");
  EXPECT_FALSE(none.ms);
  EXPECT_EQ(none.tried, 7);
  report.best = Winner{{1, 2}, recipe_of(made.space, {1, 2}), 0.008, 0.003};
  ResultBaseline best = baseline_of(made.input(), report, "assigned");
  EXPECT_EQ(best.ms, 3.0);
  EXPECT_EQ(best.original_ms, 8.0);
  EXPECT_EQ(best.macs, 300);
  EXPECT_EQ(best.recipe, "layer0: group(2)\nlayer1: group(4)\n");
  EXPECT_EQ(most_variants(made.space), 3);
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
