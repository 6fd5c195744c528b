// The gate: comparisons, verdicts, and rules that are fitted.
#include "capacity/gate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/random.h"
#include "capacity/calibration.h"
#include "capacity/network_table.h"
#include "models/model.h"
#include "ops/op_graph.h"
#include "support/repository.h"
#include "support/temporary.h"

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
  result.features = {{"fisher", Form::distance}};
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
  EXPECT_GT(verdict(0.5).sure.value(), 0.9);
  EXPECT_NEAR(verdict(2).predicted->points, -0.7, 0.02);
}

TEST(Gate, LooksAtEveryLayer) {
  std::vector<LayerScore> before{{"a", 9}, {"b", 1}}, after{{"a", 9.9}, {"b", 0.1}};
  GateVerdict verdict =
      judge(rule(), compared({scores("fisher", {10}, before)}, {scores("fisher", {10}, after)}));
  EXPECT_FALSE(verdict.accepted);
  EXPECT_NE(verdict.reason.find("'b'"), std::string::npos) << verdict.reason;
}

TEST(Gate, TimesLessCountsEachHalvingForMore) {
  auto value = [](double to) {
    return value_of({"macs", Form::times_less},
                    compared({scores("macs", {16})}, {scores("macs", {to})}).front());
  };
  EXPECT_EQ(value(16), 0);
  EXPECT_EQ(value(32), 0);
  EXPECT_NEAR(value(8), 1, 1e-9);
  EXPECT_NEAR(value(4), 3, 1e-9);
  EXPECT_NEAR(value(1), 15, 1e-9);
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

TEST(Gate, WithOneSeedNothingIsSaidOfHowSureItIs) {
  for (double ratio : {0.2, 0.99, 1.0, 5.0}) {
    GateVerdict verdict =
        judge(rule(), compared({scores("fisher", {10})}, {scores("fisher", {10 * ratio})}));
    EXPECT_FALSE(verdict.interval) << ratio;
    EXPECT_FALSE(verdict.sure) << ratio;
    EXPECT_EQ(print_sure(verdict.sure), "");
  }
  GateVerdict two =
      judge(rule(), compared({scores("fisher", {10, 11})}, {scores("fisher", {11, 12})}));
  EXPECT_TRUE(two.interval);
  EXPECT_TRUE(two.sure);
  EXPECT_EQ(print_sure(0.94), ": 94 % sure");
  EXPECT_EQ(print_sure(1), ": more than 99 % sure");
}

TEST(Gate, PredictsNothingForANetworkThatNothingChanged) {
  GateRule rule = find_rule("two-sided");
  std::vector<Scores> same;
  for (const Metric& metric : rule.metrics()) {
    same.push_back(scores(metric.name, {3, 4}, {{"a", 1}, {"b", 2}}));
  }
  GateVerdict verdict = judge(rule, compared(same, same));
  EXPECT_EQ(verdict.predicted->points, 0);
  EXPECT_TRUE(verdict.accepted);
  EXPECT_FALSE(to_json(rule).contains("intercept"));
}

/// Returns a network with one convolution.
Graph one_layer(long samples, long filters) {
  GraphBuilder builder("one");
  ValueId x = builder.input("x", {Element::f32, {samples, 3, 8, 8}});
  ValueId w = builder.weight("w", {filters, 3, 3, 3}, Initial{Initial::Kind::normal, 1});
  builder.output(builder.call("conv", {x, w}, {}, "conv"));
  return builder.build();
}

TEST(Gate, SaysWhereARuleIsNotCalibrated) {
  GateRule fitted = rule();
  fitted.origin = {"one", structure_of_network(one_layer(1, 8)), "cifar10", 12, "from scratch"};
  // Neither samples nor weights make it another network.
  EXPECT_EQ(suited(fitted, one_layer(64, 8), "cifar10").caveat, "");
  EXPECT_EQ(suited(fitted, initialised(one_layer(1, 8), 3), "cifar10").caveat, "");
  EXPECT_EQ(suited(fitted, one_layer(1, 4), "cifar10").caveat,
            "prediction not calibrated for this network: the rule was fitted to one on cifar10, 12 "
            "epochs, from scratch");
  EXPECT_NE(suited(fitted, one_layer(1, 8), "npy").caveat.find("for these data:"),
            std::string::npos);
  GateRule other = suited(fitted, one_layer(1, 4), "npy");
  EXPECT_NE(other.caveat.find("for this network and these data:"), std::string::npos);
  auto comparisons = compared({scores("fisher", {10, 10})}, {scores("fisher", {12, 12.5})});
  GateVerdict here = judge(suited(fitted, one_layer(1, 8), "cifar10"), comparisons);
  GateVerdict there = judge(other, comparisons);
  // It is judged in the same way, but only the interval is said.
  EXPECT_EQ(here.accepted, there.accepted);
  EXPECT_EQ(here.predicted->points, there.predicted->points);
  EXPECT_TRUE(here.sure);
  EXPECT_FALSE(there.sure);
  EXPECT_EQ(print_prediction(here), "accuracy -0.18 points, give or take 0.20");
  EXPECT_EQ(print_prediction(there), "accuracy -0.6 to +0.2 points, if the rule holds here");
  EXPECT_EQ(there.reason.find("-0.18"), std::string::npos) << there.reason;
  // The published rule predicts nothing.
  EXPECT_EQ(suited(find_rule("paper"), one_layer(1, 4), "npy").caveat, "");
}

TEST(Gate, RulesAreFiles) {
  test::TemporaryDirectory directory;
  GateRule fitted = rule();
  fitted.tables = {"networks"};
  fitted.beyond_share = 0.25;
  std::string path = directory.file("own.json", to_json(fitted).dump());
  EXPECT_EQ(to_json(find_rule(path)), to_json(fitted));
  auto refusal = [&](const std::string& text) {
    try {
      find_rule(directory.file("bad.json", text));
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(refusal("{\"lathe_rule\": 1, \"intercept\": 1.057}").find("had an intercept"),
            std::string::npos);
  EXPECT_NE(refusal("{\"lathe_rule\": 7}").find("version 7"), std::string::npos);
  EXPECT_NE(refusal("[]").find("is no rule"), std::string::npos);
  EXPECT_NE(refusal("rule").find("not JSON"), std::string::npos);
  nlohmann::json unknown = to_json(fitted);
  unknown["features"][0]["metric"] = "luck";
  EXPECT_NE(refusal(unknown.dump()).find("no metric 'luck'"), std::string::npos);
  unknown = to_json(fitted);
  unknown.erase("origin");
  EXPECT_NE(refusal(unknown.dump()).find("missing"), std::string::npos);
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
  FittedRule fitted = fit_rule({{"fisher", Form::distance}}, networks, 0.5);
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
    double moved = random.normal(), fisher = std::exp(0.1 * random.normal());
    more.push_back(trained(-moved, fisher, std::exp(moved)));
    fewer.push_back(trained(moved, fisher, std::exp(moved)));
  }
  std::vector<Feature> features = features_of({find_metric("macs")});
  EXPECT_EQ(features.front(), (Feature{"fisher", Form::distance}));
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

/// Reads a table of the repository.
NetworkTable stored_table(const std::string& name) {
  return read_network_table(test::repository_file("data/" + name + ".json"), "resnet34-cifar",
                            load_model("resnet34-cifar"));
}

TEST(Calibration, TheStoredRuleFollowsFromTheStoredTables) {
  GateRule stored = find_rule("two-sided");
  ASSERT_FALSE(stored.tables.empty());
  std::vector<Metric> metrics = metrics_for_rule("");
  std::vector<Trained> networks;
  for (const std::string& name : stored.tables) {
    NetworkTable table = stored_table(name);
    EXPECT_EQ(table.origin, stored.origin) << name;
    for (Trained& each : trained_in(table, metrics)) networks.push_back(std::move(each));
  }
  GateRule again = fit_rule(features_of(metrics), networks, stored.tolerance).rule;
  again.origin = stored.origin;
  again.tables = stored.tables;
  again.source = stored.source;
  EXPECT_EQ(to_json(again).dump(2), to_json(stored).dump(2));
  EXPECT_EQ(structure_of_network(load_model("resnet34-cifar")), stored.origin.structure);
}

TEST(Gate, OneLayerInTwoGroupsIsPredictedToChangeLittle) {
  // Scores of resnet34-cifar with each of its layers alone in two groups; nobody trained these.
  NetworkTable table =
      read_network_table(test::repository_file("tests/unit/capacity/one_layer.json"),
                         "resnet34-cifar", load_model("resnet34-cifar"));
  GateRule rule = find_rule("two-sided");
  size_t changed = 0;
  for (const TrainedNetwork& network : table.networks) {
    GateVerdict verdict = judge(rule, compared(table.original().scores, network.scores));
    EXPECT_NEAR(verdict.predicted->points, 0, 0.2) << network.name;
    if (network.recipe.empty()) {
      EXPECT_EQ(verdict.predicted->points, 0);
    } else {
      ++changed;
    }
  }
  EXPECT_EQ(changed, 32u);
}

TEST(Calibration, TheStoredRuleIsTestedOnNetworksThatTookNoPart) {
  GateRule stored = find_rule("two-sided");
  std::vector<Trained> held;
  for (const char* name : {"families10", "heldout16"}) {
    EXPECT_EQ(std::count(stored.tables.begin(), stored.tables.end(), name), 0);
    for (Trained& each : trained_in(stored_table(name), metrics_for_rule(""))) {
      held.push_back(std::move(each));
    }
  }
  RuleQuality quality = quality_of(stored, held, 0.5);
  EXPECT_EQ(quality.kept + quality.lost, 26u);
  // What the rule's source quotes.
  auto quoted = fmt::format("area {:.2f} (", quality.area);
  EXPECT_NE(stored.source.find(quoted), std::string::npos) << quoted;
  quoted = fmt::format("rank correlation {:.2f} (", quality.spearman);
  EXPECT_NE(stored.source.find(quoted), std::string::npos) << quoted;
}

TEST(Calibration, AddsWhatLayersAloneDoNotTell) {
  // jacob_cov falls by as much as the logarithm of MACs: it adds about as much.
  Random random(4, "networks");
  std::vector<Trained> networks;
  for (int i = 0; i < 30; ++i) {
    double lost = random.uniform();
    networks.push_back(
        {"n", -2 * lost,
         compared({scores("fisher", {1}), scores("macs", {1}), scores("jacob_cov", {0})},
                  {scores("fisher", {1}), scores("macs", {std::exp(-lost)}),
                   scores("jacob_cov", {-lost})})});
  }
  std::vector<Feature> features{
      {"fisher", Form::distance}, {"macs", Form::log_ratio}, {"jacob_cov", Form::difference}};
  GateRule rule = fit_rule(features, networks, 0.5).rule;
  EXPECT_NEAR(rule.beyond_share, 1, 0.1);
  EXPECT_NEAR(rule.beyond_deviation, 0, 0.1);
  features.pop_back();
  EXPECT_EQ(fit_rule(features, networks, 0.5).rule.beyond_share, 0);
}

TEST(Calibration, TooFewNetworksAreRefused) {
  EXPECT_THROW(fit_rule({{"fisher", Form::distance}}, {}, 0.5), UserError);
}

}  // namespace
}  // namespace lathe
