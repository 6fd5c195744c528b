// Layouts by measuring, with a bench that measures nothing: what is chosen, kept and used.
#include <gtest/gtest.h>

#include "graph/text.h"
#include "models/model.h"
#include "search/tune.h"
#include "support/fake_bench.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

/// The values between the convolutions have 64 channels: a and b each a class.
Graph chain() {
  return initialised(parse_graph("graph chain\n"
                                 "input x: f32[1x3x6x6]\n"
                                 "weight w: f32[64x3x3x3] = normal(0.1)\n"
                                 "weight v: f32[64x64x3x3] = normal(0.1)\n"
                                 "weight u: f32[8x64x1x1] = normal(0.1)\n"
                                 "a = conv(x, w, pads=[1, 1, 1, 1]): f32[1x64x6x6]\n"
                                 "b = conv(a, v, pads=[1, 1, 1, 1]): f32[1x64x6x6]\n"
                                 "c = conv(b, u): f32[1x8x6x6]\n"
                                 "output c\n"),
                     1);
}

/// Returns the channels that lie side by side in a unit's first input, or its output.
long block_of_input(const Unit& unit) { return unit.inputs.front().axes[1].block; }
long block_of_output(const Unit& unit) { return unit.outputs.front().axes[1].block; }

bool is_copy(const Unit& unit) { return unit.key.starts_with("identity"); }

/// The last convolution likes 16 channels side by side, all others what is usual.
double likes_16_at_the_end(const Unit& unit) {
  if (is_copy(unit)) return 5e-3;
  bool last = unit.outputs.front().axes.size() > 1 && unit.outputs.front().size == 8 * 36;
  if (!last) return 1e-3;
  return block_of_input(unit) == 16 ? 1e-3 : 2e-3;
}

/// Here the second one does not write them: they must be copied, which is cheap.
double likes_a_copy(const Unit& unit) {
  if (is_copy(unit)) return 0.1e-3;
  bool second = unit.outputs.front().size == 64 * 36 && block_of_input(unit) > 1;
  if (second) return block_of_output(unit) == 64 ? 1e-3 : 9e-3;
  return likes_16_at_the_end(unit);
}

struct Tuned {
  FakeBench bench;
  TuneReport report;
  std::vector<NodeUnit> units;  // as commands have them
};

Tuned tuned(const std::string& path, double (*unit_time)(const Unit&), TuneOptions options) {
  Tuned result;
  result.bench.unit_time = unit_time;
  result.bench.graph = chain();
  TunedStore store(path);
  result.report = tune(chain(), native_target(), result.bench, store, options);
  result.units = units_of(chain(), 1, tuned_layouts(path, native_target(), options.threads));
  return result;
}

const Unit& unit_of(const Tuned& tuned, const std::string& node) {
  for (const NodeUnit& each : tuned.units) {
    if (each.node == node) return each.unit;
  }
  throw std::runtime_error("there is no node " + node);
}

TEST(TuneLayouts, TheCheaperOneIsKeptAndUsed) {
  TemporaryDirectory directory;
  std::string path = directory.file("tuned.db");
  Tuned first = tuned(path, likes_16_at_the_end, {.trials = 300});
  EXPECT_TRUE(first.report.kept);
  ASSERT_EQ(first.report.layouts.size(), 1u);
  EXPECT_EQ(first.report.layouts[0].nodes, std::vector<std::string>{"b"});
  EXPECT_EQ(first.report.layouts[0].block, 16);
  EXPECT_EQ(first.report.layouts[0].usual, 64);
  EXPECT_FALSE(first.report.layouts[0].is_copy);
  EXPECT_EQ(block_of_input(unit_of(first, "b")), 64);
  EXPECT_EQ(block_of_input(unit_of(first, "c")), 16);

  TunedStore store(path);
  TuneReport shown = tuned_before(chain(), native_target(), 1, &store);
  EXPECT_EQ(shown.layouts.size(), 1u);
  EXPECT_FALSE(tuned_layouts(path, native_target(), 2)) << "for another number of workers";
}

TEST(TuneLayouts, NothingIsMeasuredTwice) {
  TemporaryDirectory directory;
  std::string path = directory.file("tuned.db");
  Tuned first = tuned(path, likes_16_at_the_end, {.trials = 300});
  EXPECT_GT(first.bench.layouts_measured.size(), 5u);
  EXPECT_TRUE(first.bench.twice.empty());
  Tuned second = tuned(path, likes_16_at_the_end, {.trials = 300});
  EXPECT_TRUE(second.bench.layouts_measured.empty());
  EXPECT_EQ(second.report.layouts.size(), 1u) << "it stays";
  Tuned again =
      tuned(path, likes_16_at_the_end, {.trials = 300, .begin = TuneOptions::Begin::again});
  EXPECT_EQ(again.bench.layouts_measured, first.bench.layouts_measured);
}

TEST(TuneLayouts, ACopyIsMadeWhereItIsCheaper) {
  TemporaryDirectory directory;
  Tuned result = tuned(directory.file("tuned.db"), likes_a_copy, {.trials = 300});
  ASSERT_EQ(result.report.layouts.size(), 1u);
  EXPECT_TRUE(result.report.layouts[0].is_copy);
  EXPECT_EQ(result.report.layouts[0].nodes, std::vector<std::string>{"c"});
  EXPECT_EQ(block_of_output(unit_of(result, "b")), 64);
  EXPECT_EQ(block_of_input(unit_of(result, "c")), 16);
}

TEST(TuneLayouts, WhatIsNotMeasuredStays) {
  TemporaryDirectory directory;
  Tuned one = tuned(directory.file("a.db"), likes_16_at_the_end, {.trials = 3});
  EXPECT_EQ(one.bench.layouts_measured.size(), 1u) << "a third";
  EXPECT_TRUE(one.report.layouts.empty());
  Tuned part = tuned(directory.file("b.db"), likes_16_at_the_end, {.trials = 300, .layers = "c"});
  EXPECT_TRUE(part.bench.layouts_measured.empty()) << "layouts are for whole networks";
}

TEST(TuneLayouts, NothingIsComparedWhereNothingCanBeChosen) {
  TemporaryDirectory directory;
  Graph graph = initialised(
      parse_graph("graph few\ninput x: f32[1x16x6x6]\nweight w: f32[16x16x3x3] = normal(0.1)\n"
                  "a = conv(x, w, pads=[1, 1, 1, 1]): f32[1x16x6x6]\n"
                  "b = conv(a, w, pads=[1, 1, 1, 1]): f32[1x16x6x6]\noutput b\n"),
      1);
  struct Counting : FakeBench {
    int whole = 0;
    std::vector<double> whole_times(const std::vector<TuneVariant>& variants) override {
      ++whole;
      return std::vector<double>(variants.size(), 1);
    }
  } bench;
  bench.unit_time = [](const Unit&) { return 1e-3; };
  bench.graph = graph;
  TunedStore store(directory.file("tuned.db"));
  tune(graph, native_target(), bench, store, {.trials = 1});
  EXPECT_TRUE(bench.layouts_measured.empty());
  EXPECT_EQ(bench.whole, 0);
}

TEST(TuneLayouts, AreDroppedWhereTheNetworkIsNotFaster) {
  TemporaryDirectory directory;
  // Alone it is faster; in the network, where the bench sees the whole graph, nothing is.
  struct Deceptive : FakeBench {
    std::vector<double> whole_times(const std::vector<TuneVariant>& variants) override {
      return std::vector<double>(variants.size(), 1);
    }
  } bench;
  bench.unit_time = likes_16_at_the_end;
  bench.graph = chain();
  TunedStore store(directory.file("tuned.db"));
  TuneReport report = tune(chain(), native_target(), bench, store, {.trials = 300});
  EXPECT_FALSE(report.kept);
  EXPECT_TRUE(report.layouts.empty());
  EXPECT_FALSE(tuned_layouts(directory.file("tuned.db"), native_target(), 1));
}

}  // namespace
}  // namespace lathe::test
