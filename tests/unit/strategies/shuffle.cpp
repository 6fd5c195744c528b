// Shuffles: groups of neighbours are chosen so that they meet.
#include "strategies/strategy_shuffle.h"

#include <gtest/gtest.h>

#include "models/model.h"

namespace lathe::test {
namespace {

struct Shuffling {
  Graph network = load_model("resnet20-cifar", {.size = 8});
  NetworkSpace space = network_space(
      network, {.include = "layer[23].*", .families = {.only = {"grouped", "shuffled"}}});
  LayerTables tables;
  GateRule rule;

  Shuffling() {
    tables.mixing = std::make_shared<AssignmentMixing>(network, space);
    for (const LayerSite& site : space.sites) {
      tables.times.emplace_back(space.kinds[site.kind].variants.size(), 1.0);
    }
  }

  /// Returns the network in which every layer is in four contiguous groups.
  Assignment grouped() const {
    Assignment result;
    for (size_t s = 0; s < space.sites.size(); ++s) {
      result.push_back(0);
      for (size_t v = 1; v < tables.times[s].size(); ++v) {
        if (space.variant(s, v).meaning == "grouped x4") result.back() = v;
      }
      EXPECT_NE(result.back(), 0U);
    }
    return result;
  }

  Assignment shuffled() const {
    return with_shuffles({space, tables, rule, {}, 1, 1, 1}, grouped());
  }
};

TEST(Shuffles, NeighboursMeet) {
  Shuffling made;
  Assignment before = made.grouped(), after = made.shuffled();
  const AssignmentMixing& mixing = *made.tables.mixing;
  EXPECT_LT(mixing.of(before, &Mixing::connected), 1);
  EXPECT_EQ(mixing.of(after, &Mixing::connected), 1);
  EXPECT_GT(mixing.of(after, &Mixing::neighbours), mixing.of(before, &Mixing::neighbours) + 0.3);
  std::map<std::string, bool> shuffles;  // for each block
  for (size_t s = 0; s < after.size(); ++s) {
    const std::string& layer = made.space.sites[s].layer;
    Family family = made.space.variant(s, after[s]).family;
    EXPECT_TRUE(family == Family::grouped || family == Family::shuffled) << layer;
    bool& block = shuffles[layer.substr(0, layer.find(".conv"))];
    block = block || family == Family::shuffled;
    EXPECT_EQ(made.space.variant(s, after[s]).macs, made.space.variant(s, before[s]).macs);
  }
  for (const auto& [block, has_one] : shuffles) {
    EXPECT_TRUE(has_one || block.ends_with("downsample.0")) << block;
  }
}

TEST(Shuffles, WhatIsSlowerStaysContiguous) {
  Shuffling made;
  for (size_t s = 0; s < made.space.sites.size(); ++s) {
    for (size_t v = 1; v < made.tables.times[s].size(); ++v) {
      if (made.space.variant(s, v).family == Family::shuffled) made.tables.times[s][v] = 1.5;
    }
  }
  EXPECT_EQ(made.shuffled(), made.grouped());
}

TEST(Shuffles, NeedTheMixing) {
  Shuffling made;
  made.tables.mixing = nullptr;
  EXPECT_EQ(made.shuffled(), made.grouped());
}

}  // namespace
}  // namespace lathe::test
