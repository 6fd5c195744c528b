// The importance of channels, and the order that follows: capacity/importance.h.
#include "capacity/importance.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/model.h"

namespace lathe {
namespace {

constexpr long samples = 4;

Graph some_network() {
  return initialised(load_model("resnet20-cifar", {.batch = samples, .size = 8}), 3);
}

Scorer some_scorer(size_t batches = 1) {
  return {load_dataset("synthetic:1,64", Split::train, Normalize::cifar),
          {.target = native_target(), .seeds = batches, .samples = samples}};
}

const ChannelImportance& of_layer(const std::vector<ChannelImportance>& all,
                                  const std::string& layer) {
  auto found = std::find_if(all.begin(), all.end(),
                            [&](const ChannelImportance& each) { return each.layer == layer; });
  EXPECT_NE(found, all.end()) << layer;
  return *found;
}

/// Returns the sum of squares of a weight over all elements that have an index in a dimension.
double squares(const Graph& network, const std::string& name, size_t dimension, long index) {
  for (const Value& value : network.values) {
    if (value.name != name) continue;
    std::vector<double> elements = value.data->reals();
    size_t inner = 1;
    for (size_t d = dimension + 1; d < value.type.shape.size(); ++d) {
      inner *= static_cast<size_t>(value.type.shape[d]);
    }
    double sum = 0;
    for (size_t i = 0; i < elements.size(); ++i) {
      auto at = static_cast<long>(i / inner) % value.type.shape[dimension];
      if (at == index) sum += elements[i] * elements[i];
    }
    return sum;
  }
  ADD_FAILURE() << "no value " << name;
  return 0;
}

TEST(Importance, MagnitudeIsThatOfWhatMakesAndReadsAChannel) {
  Graph network = some_network();
  auto all = importance_of(network, some_scorer(), Importance::magnitude);
  const ChannelImportance& inner = of_layer(all, "layer1.0.conv1");
  ASSERT_EQ(inner.channels.size(), 16U);
  for (long c = 0; c < 16; ++c) {
    double wanted = squares(network, "layer1.0.conv1.weight", 0, c) +
                    squares(network, "layer1.0.conv2.weight", 1, c);
    EXPECT_NEAR(inner.channels[static_cast<size_t>(c)], wanted, 1e-9 * wanted);
  }
}

TEST(Importance, FisherIsTheMetricsOwn) {
  Graph network = some_network();
  Scorer scorer = some_scorer(2);
  auto all = importance_of(network, scorer, Importance::fisher);
  Scores scores = scorer.run(network, {find_metric("fisher")}).front();
  std::vector<double> wanted(16, 0);
  for (const Score& score : scores.of_seeds) {
    for (const LayerScore& layer : score.layers) {
      if (layer.layer != "layer1.0.conv1") continue;
      for (size_t c = 0; c < wanted.size(); ++c) wanted[c] += layer.channels[c];
    }
  }
  const ChannelImportance& inner = of_layer(all, "layer1.0.conv1");
  for (size_t c = 0; c < wanted.size(); ++c) EXPECT_DOUBLE_EQ(inner.channels[c], wanted[c]);
}

TEST(Importance, TaylorIsOfEveryChannel) {
  auto all = importance_of(some_network(), some_scorer(), Importance::taylor);
  EXPECT_GE(all.size(), 10U);  // what is inside of nine blocks, and the streams
  for (const ChannelImportance& each : all) {
    for (double channel : each.channels) EXPECT_GT(channel, 0) << each.layer;
  }
}

TEST(Importance, TheMostImportantChannelsComeFirst) {
  Graph network = some_network();
  auto before = importance_of(network, some_scorer(), Importance::magnitude);
  NetworkRecipe order = most_important_first(network, before);
  EXPECT_EQ(order.size(), before.size());
  auto after = importance_of(transformed(network, order), some_scorer(), Importance::magnitude);
  ASSERT_EQ(after.size(), before.size());
  for (size_t i = 0; i < after.size(); ++i) {
    std::vector<double> wanted = before[i].channels;
    std::sort(wanted.rbegin(), wanted.rend());
    for (size_t c = 0; c < wanted.size(); ++c) {
      EXPECT_NEAR(after[i].channels[c], wanted[c], 1e-9 * wanted[c]) << after[i].layer;
    }
  }
}

TEST(Importance, ChannelsStayInTheirGroups) {
  ChannelImportance importance{
      "conv", {.channels = 6, .multiple = 2, .members = {}}, {1, 3, 2, 9, 7, 8}};
  EXPECT_EQ(order_by_importance(importance), (std::vector<long>{1, 2, 0, 3, 5, 4}));
}

TEST(Importance, IsFoundByName) {
  EXPECT_EQ(importance_named("taylor"), Importance::taylor);
  EXPECT_EQ(importance_named("beauty"), std::nullopt);
}

}  // namespace
}  // namespace lathe
