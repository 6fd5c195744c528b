// Precisions as a choice of each layer: search/precision_tables.h, strategies/strategy_precision.h.
#include <gtest/gtest.h>

#include "search/precision_tables.h"
#include "strategies/strategy_precision.h"

namespace lathe::test {
namespace {

/// Two kinds of layers, which can become half. Kind 0 is fastest in int8, kind 1 in f16.
struct Case {
  NetworkSpace space;
  LayerTables tables;
  std::vector<PrecisionTable> precisions;
  GateRule rule;

  Case() {
    tables.metrics = {{find_metric("fisher"), {}, {}}};
    Recipe half{{"group", {2L}}};
    for (size_t k : {0, 1}) {
      LayerVariant grouped{half, "grouped x2", 200, 200};
      grouped.family = Family::grouped;
      space.kinds.push_back({"conv " + std::to_string(k), {{{}, "", 400, 400}, grouped}, {}});
    }
    for (size_t s = 0; s < 4; ++s) {
      space.sites.push_back({"layer" + std::to_string(s), s % 2});
      space.kinds[s % 2].sites.push_back(s);
      // In int8, which is the base.
      tables.times.push_back(s % 2 == 0 ? std::vector<double>{2, 1} : std::vector<double>{6, 3});
      tables.metrics[0].scores.push_back({1, 1});
      tables.gains.push_back({1, 1});
      tables.places.push_back(s);
    }
    tables.rest = 1;
    tables.metrics[0].own.assign(4, 1);
    tables.metrics[0].total = 4;
    tables.metrics[0].layers = 4;
    space.macs = space.weights = 1600;
    precisions = {{Precision::f32, "", 33, 33, {8, 8, 8, 8}, 1},
                  // The machine was slower by half while this was measured.
                  {Precision::f16, "", 25.5, 49.5, {6, 6, 6, 6}, 1.5},
                  {Precision::bf16, "it crashed", 0, 0, {}, 0},
                  {Precision::int8, "", 17, 33, {2, 6, 2, 6}, 1}};
    rule.network_band = 0.5;
    rule.layer_band = 1;
    rule.features = {{"fisher", Form::distance}};
    rule.weights = {-0.1};
    rule.tolerance = 0.5;
  }
};

TEST(PrecisionTables, EveryVariantHasEveryPrecision) {
  Case made;
  KnownSpace all = with_precisions(made.space, made.tables, made.precisions, Precision::int8);
  const auto& variants = all.space.kinds[0].variants;
  ASSERT_EQ(variants.size(), 6U);  // what failed is not there
  EXPECT_TRUE(variants[0].recipe.empty());
  EXPECT_EQ(print(variants[3].recipe), "group(2) -> cast(f16)");
  EXPECT_EQ(variants[3].meaning, "grouped x2, f16");
  EXPECT_EQ(variants[4].meaning, "int8");
  EXPECT_EQ(all.tables.times[0], (std::vector<double>{8, 4, 4, 2, 2, 1}));
  EXPECT_EQ(all.tables.times[1], (std::vector<double>{8, 4, 4, 2, 6, 3}));
  EXPECT_EQ(all.tables.gains[0].size(), 6U);
  EXPECT_EQ(in_precision(all.space, 0, 1, Precision::int8), 5U);
  EXPECT_EQ(in_precision(all.space, 0, 5, Precision::f32), 1U);
  EXPECT_FALSE(in_precision(all.space, 0, 5, Precision::bf16));
}

TEST(PrecisionTables, WhatIsLostCounts) {
  Case made;
  made.precisions[3].points = -0.8;
  KnownSpace all = with_precisions(made.space, made.tables, made.precisions, Precision::int8);
  FirstJudgement judged = judge_first(made.rule, all.space, all.tables, {4, 4, 4, 4});
  EXPECT_NEAR(judged.predicted, -0.8, 1e-9);
  EXPECT_FALSE(judged.accepted);
  EXPECT_TRUE(judge_first(made.rule, all.space, all.tables, {4, 2, 4, 2}).accepted);
}

/// Runs a strategy; conversions between neighbours take "convert".
double least_time(const Case& made, const KnownSpace& all, double convert, long& tried) {
  StrategyInput input{all.space, all.tables, made.rule, {}, 300, 6, 1};
  auto searcher = find_strategy("assign").begin(input);
  double least = std::numeric_limits<double>::infinity();
  for (tried = 0; auto proposal = searcher->propose(); ++tried) {
    FirstJudgement first = judge_first(made.rule, all.space, all.tables, proposal->assignment);
    double time = first.time;
    auto precision = [&](size_t s) {
      return precision_of(all.space.variant(s, proposal->assignment[s]).recipe);
    };
    for (size_t s = 1; s < 4; ++s) time += precision(s) == precision(s - 1) ? 0 : convert;
    if (first.accepted) least = std::min(least, time);
    searcher->observe({first.accepted, "", time, first.log_ratio, first.predicted, {}});
  }
  return least;
}

TEST(PrecisionSearch, ChoosesByLayer) {
  Case made;
  KnownSpace all = with_precisions(made.space, made.tables, made.precisions, Precision::int8);
  EXPECT_TRUE(has_precisions(all.space));
  EXPECT_FALSE(has_precisions(made.space));
  long tried = 0;
  EXPECT_EQ(least_time(made, all, 0, tried), 1 + 2 * 1 + 2 * 2);
  // If it takes long to convert, one precision is best: the tables do not know that.
  EXPECT_EQ(least_time(made, all, 3, tried), 1 + 2 * 1 + 2 * 3);
  EXPECT_LT(tried, 40);
}

}  // namespace
}  // namespace lathe::test
