// The gate: comparisons, verdicts, and rules that are fitted.
#include "capacity/gate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/random.h"
#include "capacity/calibration.h"

namespace lathe {
namespace {

Scores scores(const std::string& metric, const std::vector<double>& totals,
              const std::vector<LayerScore>& layers = {}) {
  Scores result{metric, {}};
  for (double total : totals) result.of_seeds.push_back({total, layers});
  return result;
}

GateRule rule() {
  GateRule result;
  result.name = "two-sided";
  result.network_band = 0.5;
  result.layer_band = 1;
  result.features = {{"fisher", Feature::Form::distance}};
  result.weights = {-1};
  result.deviation = 0.2;
  return result;
}

TEST(Gate, PartsOfALayerCountTogether) {
  std::vector<LayerScore> before{{"a", 2}, {"a.1", 3}};
  std::vector<LayerScore> after{{"a", 1}, {"a_1", 1}, {"a.1", 3}, {"a.1.expand", 3}};
  auto compared_ = compared({scores("fisher", {5}, before)}, {scores("fisher", {8}, after)});
  ASSERT_EQ(compared_[0].layers.size(), 2u);
  EXPECT_DOUBLE_EQ(compared_[0].layers[0].log_ratio, 0);
  EXPECT_DOUBLE_EQ(compared_[0].layers[1].log_ratio, std::log(2));
}

TEST(Gate, RefusesMovesInEitherDirection) {
  auto verdict = [](double ratio) {
    return judge(rule(), compared({scores("fisher", {10, 10})},
                                  {scores("fisher", {10 * ratio, 10.1 * ratio})}));
  };
  EXPECT_TRUE(verdict(1.05).accepted);
  EXPECT_TRUE(verdict(0.95).accepted);
  EXPECT_FALSE(verdict(2).accepted);
  EXPECT_FALSE(verdict(0.5).accepted);
  EXPECT_GT(verdict(0.5).sure, 0.9);
  EXPECT_NEAR(verdict(2).predicted, -0.7, 0.02);
}

TEST(Gate, LooksAtEveryLayer) {
  std::vector<LayerScore> before{{"a", 9}, {"b", 1}}, after{{"a", 9.9}, {"b", 0.1}};
  GateVerdict verdict =
      judge(rule(), compared({scores("fisher", {10}, before)}, {scores("fisher", {10}, after)}));
  EXPECT_FALSE(verdict.accepted);
  EXPECT_NE(verdict.reason.find("'b'"), std::string::npos) << verdict.reason;
}

TEST(Gate, ThePaperRefusesWhatIsBelow) {
  GateRule paper = find_rule("paper");
  auto accepts = [&](double to) {
    return judge(paper, compared({scores("fisher", {10})}, {scores("fisher", {to})})).accepted;
  };
  EXPECT_TRUE(accepts(10));
  EXPECT_TRUE(accepts(1000));
  EXPECT_FALSE(accepts(9.99));
}

TEST(Gate, RulesAreData) {
  GateRule two_sided = find_rule("two-sided");
  EXPECT_EQ(to_json(rule_from_json(to_json(two_sided))), to_json(two_sided));
  EXPECT_GE(two_sided.layer_band, two_sided.network_band);
  EXPECT_THROW(find_rule("no such"), UserError);
  EXPECT_THROW(rule_from_json(nlohmann::json::parse("{\"lathe_rule\": 1}")), UserError);
}

TEST(Calibration, FindsWhatAccuracyDependsOn) {
  // Accuracy falls with the distance, in either direction, and with nothing else.
  Random random(1, "networks");
  std::vector<Trained> networks;
  for (int i = 0; i < 40; ++i) {
    double moved = random.normal();
    double noise = 0.02 * random.normal();
    networks.push_back({"n", -2 * std::abs(moved) + 0.05 * random.normal(),
                        compared({scores("fisher", {1, 1})},
                                 {scores("fisher", {std::exp(moved + noise), std::exp(moved)})})});
  }
  FittedRule fitted = fit_rule({{"fisher", Feature::Form::distance}}, networks, 0.5);
  EXPECT_NEAR(fitted.rule.weights[0], -2, 0.2);
  EXPECT_GT(fitted.quality.area, 0.95);
  EXPECT_GT(fitted.quality.spearman, 0.95);
  EXPECT_LT(fitted.quality.false_acceptances(), 0.2);
  EXPECT_NEAR(quality_of(find_rule("paper"), networks, 0.5).area, 0.5, 0.25);
}

/// A network that lost "lost" points, with its ratios of Fisher Potential and of MACs.
Trained trained(double lost, double fisher, double macs) {
  return {"n", -lost,
          compared({scores("fisher", {1}), scores("macs", {1})},
                   {scores("fisher", {fisher}), scores("macs", {macs})})};
}

TEST(Calibration, KeepsFeaturesThatCountAsTheyMay) {
  Random random(2, "networks");
  std::vector<Trained> more, fewer;
  for (int i = 0; i < 30; ++i) {
    double macs = random.uniform(), fisher = std::exp(0.1 * random.normal());
    more.push_back(trained(1 - macs, fisher, 0.1 + macs));
    fewer.push_back(trained(macs, fisher, 0.1 + macs));
  }
  std::vector<Feature> features = features_of({find_metric("macs")});
  EXPECT_EQ(features.front(), (Feature{"fisher", Feature::Form::distance}));
  auto weight_of_macs = [&](const std::vector<Trained>& networks) {
    GateRule rule = fit_rule(features, networks, 0.5).rule;
    for (size_t i = 0; i < rule.features.size(); ++i) {
      if (rule.features[i].metric == "macs") return rule.weights[i];
    }
    return 0.0;
  };
  EXPECT_GT(weight_of_macs(more), 0.2);
  EXPECT_EQ(weight_of_macs(fewer), 0) << "fewer MACs never promise more accuracy";
}

TEST(Calibration, FindsNothingWhereThereIsNothing) {
  // The area of networks left out is not raised by the choice among features.
  Random random(3, "networks");
  std::vector<Trained> networks;
  for (int i = 0; i < 40; ++i) {
    networks.push_back(
        trained(random.uniform(), std::exp(random.normal()), 0.1 + random.uniform()));
  }
  EXPECT_LT(fit_rule(features_of({find_metric("macs")}), networks, 0.5).quality.area, 0.65);
}

TEST(Calibration, TooFewNetworksAreRefused) {
  EXPECT_THROW(fit_rule({{"fisher", Feature::Form::distance}}, {}, 0.5), UserError);
}

}  // namespace
}  // namespace lathe
