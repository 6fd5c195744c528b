// Mixing: which channels of a network reach which, as its accesses say.
#include "program/mixing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "models/model.h"
#include "ops/op.h"
#include "transforms/transform.h"
#include "transforms/transform_network.h"

namespace lathe::test {
namespace {

Mixing after(const char* recipe) {
  Graph network = load_model("resnet20-cifar", {.size = 8});
  return mixing_of(transformed(network, parse_network_recipe(recipe)));
}

TEST(Mixing, AnOrdinaryNetworkMixesAll) {
  Mixing mixing = after("");
  EXPECT_EQ(mixing.connected, 1);
  EXPECT_EQ(mixing.dead, 0);
}

TEST(Mixing, ContiguousGroupsNeverMeet) {
  // There are three stages. In the first one, a 1x1 convolution in a shortcut mixes all.
  EXPECT_EQ(after("layer1.*.conv?: group(4)").connected, 1);
  EXPECT_EQ(after("layer2.*.conv?: group(4)").connected, (1 + 0.25 + 1) / 3);
  EXPECT_EQ(after("layer*.conv?: group(4)").connected, (1 + 0.25 + 0.25) / 3);
  EXPECT_EQ(after("layer*.conv?: group(2)").connected, (1 + 0.5 + 0.5) / 3);
}

TEST(Mixing, ShuffledGroupsMeetInEachBlock) {
  // The stages have 16, 32 and 64 channels.
  EXPECT_EQ(after("layer*.conv1: group(4)\n"
                  "layer1.*.conv2: split(ci, 4) -> interchange(ci.o, ci.i) -> group(4)\n"
                  "layer2.*.conv2: split(ci, 8) -> interchange(ci.o, ci.i) -> group(4)\n"
                  "layer3.*.conv2: split(ci, 16) -> interchange(ci.o, ci.i) -> group(4)")
                .connected,
            1);
}

TEST(Mixing, OneDenseLayerConnectsAStage) {
  EXPECT_EQ(after("layer*.conv1: group(4)").connected, 1);
}

TEST(Mixing, SeesWhatNobodyReads) {
  // The second layer reads the first half of the first one's filters.
  Mixing mixing = after("layer2.1.conv2: interchange(co, ci) -> bottleneck(2)");
  EXPECT_GT(mixing.dead, 0);
  EXPECT_EQ(mixing.connected, 1);
}

TEST(Mixing, LayersCanBeChangedInPlace) {
  Graph network = load_model("resnet20-cifar", {.size = 8});
  NetworkMixing mixing(network);
  Context context;
  std::map<size_t, BitMatrix> relations;
  NetworkMixing::Changes changes;
  for (size_t n = 0; n < network.nodes.size(); ++n) {
    bool is_in_stage = network.nodes[n].name.starts_with("layer2") && network.nodes[n].op == "conv";
    if (!is_in_stage || network.nodes[n].name.ends_with("downsample.0")) continue;
    Nest nest = samples_inward(nest_of(context, call_of(network, network.nodes[n])));
    relations[n] = reached(apply(nest, {"group", {4}}).nest, 0);
    changes[n] = &relations[n];
  }
  EXPECT_EQ(mixing.with(changes).connected, after("layer2.*.conv?: group(4)").connected);
  EXPECT_EQ(mixing.with({}).connected, 1);
}

TEST(Mixing, OneShuffleConnectsAStageButNotItsNeighbours) {
  // The last two blocks of the second stage: four layers of 32 channels.
  std::string shuffle = "split(ci, 8) -> interchange(ci.o, ci.i) -> group(4)";
  std::string first = "layer2.0.conv?: group(4)\n";
  Mixing none = after((first + "layer2.[12].conv?: group(4)").c_str());
  Mixing one = after((first + "layer2.1.conv1: group(4)\nlayer2.2.conv?: group(4)\n" +
                      "layer2.1.conv2: " + shuffle)
                         .c_str());
  Mixing all = after((first + "layer2.[12].conv?: " + shuffle).c_str());
  EXPECT_EQ(one.connected, 1);
  EXPECT_GT(one.neighbours, none.neighbours);
  EXPECT_GT(all.neighbours, one.neighbours + 0.05);
  EXPECT_NEAR(after("").neighbours, 1, 1e-9);
}

TEST(Mixing, ShortcutsConnectGroupsAcrossTheNetwork) {
  const char* groups = "layer*.conv?: group(4)";
  EXPECT_EQ(after(groups).across, 1);
  EXPECT_EQ(after("layer*.downsample.0: group(4)").across, 1);
  // If they are in groups, too, each group is a network of its own.
  EXPECT_EQ(after("layer*.conv?: group(4)\nlayer*.downsample.0: group(4)").across, 0.25);
}

TEST(Mixing, NeighboursAreThoseThatReadWhatTheOtherComputes) {
  Graph network = load_model("resnet20-cifar", {.size = 8});
  NetworkMixing mixing(network);
  double weights = 0;
  size_t in_block = 0;
  for (const NetworkMixing::Neighbours& pair : mixing.neighbours()) {
    weights += pair.weight;
    const std::string &first = network.nodes[pair.first].name,
                      &second = network.nodes[pair.second].name;
    EXPECT_NE(first, "conv1") << "it reads the network's input";
    if (first == "layer2.1.conv1") {
      EXPECT_EQ(second, "layer2.1.conv2");
      ++in_block;
    }
  }
  EXPECT_NEAR(weights, 1, 1e-9);
  EXPECT_EQ(in_block, 1U);
}

}  // namespace
}  // namespace lathe::test
