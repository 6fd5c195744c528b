// Scores for several seeds: minibatches, paired weights, and what cannot be scored.
#include "metrics/metric_scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/random.h"
#include "capacity/first_order.h"
#include "models/model.h"
#include "transforms/transform_network.h"

namespace lathe {
namespace {

/// Images of noise; labels as they are given, again and again.
Dataset noise(long count, std::vector<long> labels, float scale = 1) {
  Dataset data;
  data.name = "noise";
  data.count = count;
  data.classes = 10;
  data.shape = {3, 8, 8};
  data.read_images = [scale](long first, std::span<float> values) {
    Random random(static_cast<uint64_t>(first), "images");
    for (float& value : values) value = scale * static_cast<float>(random.normal());
  };
  data.read_labels = [labels](long first, std::span<long> to) {
    for (size_t i = 0; i < to.size(); ++i) {
      to[i] = labels[(static_cast<size_t>(first) + i) % labels.size()];
    }
  };
  return data;
}

const std::vector<long> mixed = {0, 3, 7, 2, 9};

Graph small_network(long batch) {
  return load_model("resnet20-cifar", {.batch = batch, .size = 8});
}

std::string refusal(const std::function<void()>& run) {
  try {
    run();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Scorer, DoesNotDependOnThreads) {
  std::vector<double> totals;
  for (int threads : {1, 2, 3}) {
    Scorer scorer(noise(64, mixed),
                  {.target = native_target(), .seeds = 2, .samples = 4, .threads = threads});
    std::vector<Scores> scores = scorer.run(small_network(4), {find_metric("fisher")});
    for (double total : scores[0].totals()) totals.push_back(total);
  }
  for (size_t i = 2; i < totals.size(); ++i) EXPECT_EQ(totals[i], totals[i % 2]);
  EXPECT_NE(totals[0], totals[1]);  // of two seeds
}

TEST(Scorer, SeedsAreAsEachAlone) {
  std::vector<Scores> both =
      Scorer(noise(64, mixed), {.target = native_target(), .seeds = 2, .samples = 4})
          .run(small_network(4), parse_metrics("all"));
  for (uint64_t seed : {0, 1}) {
    Scorer scorer(noise(64, mixed), {.target = native_target(), .first_seed = seed, .samples = 4});
    std::vector<Scores> alone = scorer.run(small_network(4), parse_metrics("all"));
    for (size_t m = 0; m < both.size(); ++m) {
      EXPECT_EQ(both[m].totals()[seed], alone[m].totals()[0]) << both[m].metric;
    }
  }
}

TEST(Scorer, ComputesTheSameInLessMemory) {
  std::vector<double> totals;
  for (long memory : {any_memory, 1L << 16}) {
    Scorer scorer(noise(64, mixed), {.target = native_target(), .samples = 4, .memory = memory});
    EXPECT_EQ(scorer.evaluation(small_network(4), 0).compile.memory, memory);
    totals.push_back(scorer.run(small_network(4), {find_metric("fisher")})[0].totals()[0]);
  }
  EXPECT_NEAR(totals[1], totals[0], 1e-4 * totals[0]);
}

TEST(Scorer, IsIndependentOfTheBatchInSize) {
  auto total = [](long samples) {
    Scorer scorer(noise(64, mixed), {.target = native_target(), .samples = samples});
    return scorer.run(small_network(samples), {find_metric("fisher")})[0].totals()[0];
  };
  // The sum over samples would be four times as large.
  EXPECT_LT(std::abs(std::log(total(32) / total(8))), std::log(2));
}

TEST(Scorer, RefusesAMinibatchThatDoesNotFit) {
  EXPECT_EQ(refusal([] { Scorer(noise(8, mixed), {.target = native_target(), .samples = 16}); }),
            "a minibatch of 16 samples is larger than 'noise', which has 8");
}

TEST(Scorer, RefusesOneClassAlone) {
  Scorer scorer(noise(64, {4}), {.target = native_target(), .samples = 8});
  std::string message = refusal([&] { scorer.run(small_network(8), {find_metric("fisher")}); });
  EXPECT_NE(message.find("are all of class 4"), std::string::npos) << message;
}

TEST(Scorer, RefusesWhatIsNoNumber) {
  Scorer scorer(noise(64, mixed, std::numeric_limits<float>::quiet_NaN()),
                {.target = native_target(), .samples = 8});
  std::string message = refusal([&] { scorer.run(small_network(8), {find_metric("fisher")}); });
  EXPECT_NE(message.find("cannot be scored: fisher is nan"), std::string::npos) << message;
}

TEST(Scorer, BeginsTrainedWeightsAnew) {
  Graph trained = initialised(small_network(4), 77);
  Scorer scorer(noise(64, mixed), {.target = native_target(), .samples = 4});
  auto total = [&](const Graph& graph) {
    return scorer.run(graph, {find_metric("fisher")})[0].totals()[0];
  };
  EXPECT_EQ(total(untrained(trained)), total(untrained(initialised(small_network(4), 78))));
}

TEST(FirstOrder, OfALayerAsItWasIsItsScore) {
  Scorer scorer(noise(64, mixed), {.target = native_target(), .samples = 8});
  // Every metric that has a version to first order: layers add up to what the network scores.
  std::vector<Metric> metrics{find_metric("fisher")};
  for (const Metric& metric : parse_metrics("all")) {
    if (metric.name != "fisher") metrics.push_back(metric);
  }
  std::erase_if(metrics, [](const Metric& metric) { return metric.name == "zico"; });
  FirstOrder first(small_network(8), scorer, metrics, 0);
  ASSERT_EQ(first.original().size(), 22u);
  std::vector<std::string> names;
  for (const Metric& metric : first.metrics()) names.push_back(metric.name);
  EXPECT_EQ(names, (std::vector<std::string>{"fisher", "diversity", "grad_norm", "inputs", "macs",
                                             "params", "snip", "units"}));
  for (const LayerScore& layer : first.original()) {
    SCOPED_TRACE(layer.layer);
    LayerChange same = first.change(layer.layer, {});
    EXPECT_EQ(same.gain, 1);
    for (size_t m = 0; m < names.size(); ++m) {
      for (const LayerScore& own : first.original_scores()[m].layers) {
        bool counts_more = names[m] == "params";  // its normalisation's weights, too
        if (own.layer != layer.layer || counts_more) continue;
        EXPECT_NEAR(same.scores[m], own.score, 1e-3 * own.score) << names[m];
      }
    }
  }
  LayerChange grouped = first.change("layer2.1.conv1", parse_recipe("group(4)"));
  LayerChange own = first.change("layer2.1.conv1", {});
  EXPECT_GT(grouped.scores[0], 0);
  EXPECT_EQ(grouped.scores[3], own.scores[3]) << "groups read all inputs";
  EXPECT_NEAR(grouped.scores[4], own.scores[4] / 4, 1e-6 * own.scores[4]);
  EXPECT_THROW(first.change("no such layer", {}), UserError);
}

TEST(FirstOrder, NeedsAMetricThatLayersAloneTell) {
  Scorer scorer(noise(64, mixed), {.target = native_target(), .samples = 8});
  EXPECT_EQ(refusal([&] { FirstOrder(small_network(8), scorer, {find_metric("jacob_cov")}, 0); }),
            "jacob_cov says nothing of layers alone, so networks cannot be judged by it to first "
            "order");
}

TEST(Metrics, SayWhatTheyContribute) {
  EXPECT_EQ(metrics_used(Contribution::Use::bands).size(), 1u);
  for (const Metric& metric : parse_metrics("all")) {
    SCOPED_TRACE(metric.name);
    const Contribution& contributes = metric.contributes;
    EXPECT_FALSE(contributes.forms.empty());
    for (const MetricForm& form : contributes.forms) {
      EXPECT_EQ(form_named(name_of(form.form)), form.form);
    }
    // What layers alone tell is put together as a sum or a mean.
    if (contributes.first_order) {
      EXPECT_NE(contributes.whole, Contribution::Whole::other);
    }
  }
  EXPECT_THROW(form_named("shape"), UserError);
}

TEST(FirstOrder, GradientsGrowBeforeALayerThatHandsBackMore) {
  Scorer scorer(noise(64, mixed), {.target = native_target(), .samples = 8});
  Graph network = small_network(8);
  FirstOrder first(network, scorer, {find_metric("fisher")}, 0);
  std::vector<LayerScore> same = first.scores({});
  Recipe deeper = parse_recipe("bottleneck(2, deepen)");
  std::map<std::string, Recipe> changed;
  for (const LayerScore& layer : first.original()) {
    if (layer.layer.starts_with("layer3")) changed[layer.layer] = deeper;
  }
  auto total = [](const std::vector<LayerScore>& layers) {
    double sum = 0;
    for (const LayerScore& layer : layers) sum += layer.score;
    return sum;
  };
  EXPECT_NEAR(total(same), total(first.original()), 1e-3 * total(same));
  NetworkRecipe recipe;
  for (const auto& [layer, steps] : changed) recipe.push_back({pattern_of(layer), steps});
  double exact = scorer.run(transformed(network, recipe), {find_metric("fisher")})[0].totals()[0];
  // Layers by themselves would say next to nothing of it.
  EXPECT_GT(exact, 2 * total(same));
  EXPECT_NEAR(std::log(total(first.scores(changed)) / exact), 0, std::log(2));
  EXPECT_THROW(first.scores({{"no such layer", deeper}}), UserError);
}

}  // namespace
}  // namespace lathe
