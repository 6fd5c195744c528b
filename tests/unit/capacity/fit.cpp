// Weights of changed networks from their originals: capacity/fit.h and capacity/kept.h.
#include "capacity/fit.h"

#include <gtest/gtest.h>

#include "capacity/kept.h"
#include "compile/executor.h"
#include "models/model.h"
#include "program/random_inputs.h"
#include "program/rebatch.h"
#include "support/small_network.h"
#include "transforms/transform_network.h"

namespace lathe {
namespace {

constexpr long samples = 4;

std::vector<Array> some_images(size_t minibatches = 3, long size = 32) {
  std::vector<Array> result;
  for (size_t i = 0; i < minibatches; ++i) {
    result.push_back(random_array({Element::f32, {samples, 3, size, size}}, 0, i, "images"));
  }
  return result;
}

Graph small_trained() {
  return initialised(rebatched(parse_graph(test::small_network), 1), 20261117);
}

Graph changed(const Graph& network, const std::string& recipe) {
  return transformed(network, parse_network_recipe(recipe));
}

/// Makes the second half of a layer's filters like the first one.
Graph with_twins(Graph network, const std::string& name) {
  Value& weight = network.values[*find_value(network, name)];
  std::vector<float> data(weight.data->as<float>().begin(), weight.data->as<float>().end());
  std::copy_n(data.begin(), data.size() / 2, data.begin() + static_cast<long>(data.size() / 2));
  weight.data = Array::of<float>(weight.type.shape, data);
  return network;
}

std::vector<double> outputs_of(const Graph& network, const Array& images) {
  return Executor(rebatched(network, samples), {.target = native_target()})
      .run({images})
      .front()
      .reals();
}

TEST(Fit, OfWhatNothingChangedChangesNothing) {
  Graph network = small_trained();
  Fit fit = fitted(network, network, some_images(), {.target = native_target()});
  EXPECT_TRUE(fit.layers.empty());
  EXPECT_TRUE(fit.unfitted.empty());
  EXPECT_EQ(outputs_of(fit.network, some_images()[0]), outputs_of(network, some_images()[0]));
}

TEST(Fit, WhatReadsTwinsNeedsOnlyOneOfThem) {
  Graph network = with_twins(small_trained(), "first.weight");
  Graph fewer = changed(network, "first: keep(16)");
  FitOptions options;
  options.target = native_target();
  options.ridge = 1e-9;
  Fit fit = fitted(network, fewer, some_images(6), options);
  ASSERT_FALSE(fit.layers.empty());
  EXPECT_EQ(fit.layers[1].layer, "second");
  EXPECT_GT(fit.layers[1].before, 0.1);
  EXPECT_LT(fit.layers[1].unexplained, 1e-4);
  std::vector<double> wanted = outputs_of(network, some_images()[0]);
  std::vector<double> found = outputs_of(fit.network, some_images()[0]);
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 2e-2);
}

TEST(Fit, IsNeverFurtherFromTheOriginalThanSlicesAre) {
  Graph network = small_trained();
  for (const char* recipe :
       {"first: group(2)", "second: split(ci, 4) -> interchange(ci.o, ci.i) -> group(4)",
        "first: split_range(co, 8) -> group(2)", "first: bottleneck(2, expand)"}) {
    SCOPED_TRACE(recipe);
    Fit fit = fitted(network, changed(network, recipe), some_images(), {.target = native_target()});
    ASSERT_FALSE(fit.layers.empty());
    for (const LayerFit& layer : fit.layers) {
      EXPECT_LE(layer.unexplained, layer.before + 1e-9) << layer.layer;
      EXPECT_LT(layer.unexplained, 1) << layer.layer;
    }
  }
}

TEST(Fit, MeasuresNormalisationsAnew) {
  Graph network = initialised(load_model("resnet20-cifar", {.size = 8}), 3);
  Graph fewer = changed(network, "layer2.1.conv1: keep(16)");
  Fit fit = fitted(network, fewer, some_images(3, 8), {.target = native_target()});
  ValueId mean = *find_value(fit.network, "layer2.1.bn2.running_mean");
  EXPECT_NE(fit.network.values[mean].data, fewer.values[mean].data);
  ValueId before = *find_value(fit.network, "layer1.1.bn1.running_mean");
  EXPECT_EQ(fit.network.values[before].data, fewer.values[before].data);
}

std::vector<Metric> kept_metrics() { return {find_metric("kept"), find_metric("macs")}; }

TEST(Kept, OfLayersAloneIsWhatAFitKeeps) {
  Graph network = small_trained();
  KeptOptions how;
  how.target = native_target();
  how.ridge = 1e-9;
  KeptShares kept(network, some_images(), kept_metrics(), how);
  EXPECT_EQ(kept.change("first", {}).scores[0], 1);
  FitOptions options;
  options.target = native_target();
  options.ridge = 1e-9;
  for (const char* text : {"group(2)", "split(ci, 4) -> interchange(ci.o, ci.i) -> group(4)",
                           "interchange(co, ci) -> bottleneck(2)"}) {
    SCOPED_TRACE(text);
    Graph other = changed(network, "first: " + std::string(text));
    double wanted = 1 - fitted(network, other, some_images(), options).layers.front().unexplained;
    double found = kept.change("first", parse_recipe(text)).scores[0];
    EXPECT_NEAR(found, wanted, 0.03);
    EXPECT_LT(found, 1);
  }
}

TEST(Kept, FewerChannelsKeepLess) {
  KeptShares kept(small_trained(), some_images(), kept_metrics(), {.target = native_target()});
  double last = 1;
  for (long inputs : {32, 24, 16, 8}) {
    // Alone, the layer reads its first channels.
    Recipe recipe = parse_recipe("interchange(co, ci) -> keep(" + std::to_string(inputs) + ")");
    LayerChange change = kept.change("second", inputs == 32 ? Recipe() : recipe,
                                     LayerWidth{.filters = 32, .inputs = inputs});
    EXPECT_LE(change.scores[0], last);
    last = change.scores[0];
  }
  EXPECT_LT(last, 0.9);
}

TEST(Kept, GroupsOfWidthsAreShuffled) {
  Recipe shuffled = parse_recipe("split(ci, 2) -> interchange(ci.o, ci.i) -> group(2)");
  LayerWidth all{.filters = 32, .inputs = 32, .groups = 2};
  // Each remembers what it found for a recipe.
  KeptShares by_steps(small_trained(), some_images(), kept_metrics(), {.target = native_target()}),
      by_width(small_trained(), some_images(), kept_metrics(), {.target = native_target()});
  double wanted = by_steps.change("second", shuffled).scores[0];
  EXPECT_NEAR(by_width.change("second", shuffled, all).scores[0], wanted, 1e-9);
  EXPECT_LT(wanted, 1);
}

TEST(Kept, RefusesWhatNoRegressionSays) {
  KeptShares kept(small_trained(), some_images(), kept_metrics(), {.target = native_target()});
  EXPECT_THROW(kept.change("first", parse_recipe("bottleneck(2, expand)")), UserError);
  EXPECT_THROW(kept.change("nothing", {}), UserError);
}

}  // namespace
}  // namespace lathe
