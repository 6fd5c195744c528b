// Layers that neural steps changed, between two others: compiled, they compute what the interpreter
// does. Nothing is copied before them, and windows that slide have the products of Winograd's
// algorithm, whatever the relation of the channels is; only groups of few shuffled channels are
// copied. What follows parts and repetitions is a pass of its own.
#include <gtest/gtest.h>

#include "compile/executor.h"
#include "support/interpreted.h"
#include "support/run_graph.h"
#include "transforms/transform_network.h"

namespace lathe::test {
namespace {

constexpr const char* network_text = R"(graph layer
input x: f32[1x16x8x12]
weight before.weight: f32[64x16x3x3] = normal(0.1)
weight layer.weight: f32[64x64x3x3] = normal(0.05)
weight norm.weight: f32[64] = uniform(1.0)
weight norm.bias: f32[64] = uniform(1.0)
state norm.mean: f32[64] = uniform(1.0)
state norm.var: f32[64] = ones
weight after.weight: f32[16x64x3x3] = normal(0.05)
before = conv(x, before.weight, pads=[1, 1, 1, 1]): f32[1x64x8x12]
rectified = relu(before): f32[1x64x8x12]
layer = conv(rectified, layer.weight, pads=[1, 1, 1, 1]): f32[1x64x8x12]
norm = batch_norm(layer, norm.weight, norm.bias, norm.mean, norm.var): f32[1x64x8x12]
sum = add(norm, rectified): f32[1x64x8x12]
last = relu(sum): f32[1x64x8x12]
after = conv(last, after.weight, pads=[1, 1, 1, 1]): f32[1x16x8x12]
output after
)";

struct FamilyCase {
  const char *name, *recipe;
  size_t copies;     ///< nodes without products, between the others
  bool is_winograd;  ///< are all products of the layer those of winograd?
};

class Families : public testing::TestWithParam<FamilyCase> {};

void expect_near_values(const lathe::Array& got, const lathe::Array& wanted) {
  std::vector<double> a = got.reals(), b = wanted.reals();
  ASSERT_EQ(a.size(), b.size());
  double largest = 0;
  for (double x : b) largest = std::max(largest, std::abs(x));
  for (size_t k = 0; k < b.size(); ++k) ASSERT_NEAR(a[k], b[k], 1e-4 * largest) << k;
}

Graph network_of(const FamilyCase& family) {
  Graph graph = parse_graph(network_text);
  NetworkRecipe recipe = parse_network_recipe(fmt::format("layer: {}", family.recipe));
  return initialised(transformed(graph, recipe), 1);
}

TEST_P(Families, AreTheInterpreters) {
  Graph graph = network_of(GetParam());
  std::vector<lathe::Array> inputs = random_inputs(graph), wanted = interpreted(graph, inputs);
  for (int threads : {1, 2, 3}) {
    SCOPED_TRACE(threads);
    Executor executor(graph, {.target = native_target(), .threads = threads});
    for (int again = 0; again < 2; ++again) {
      expect_near_values(executor.run(inputs).at(0), wanted.at(0));
    }
  }
}

TEST_P(Families, AreNotCopiedFirst) {
  Compiled compiled = compile(network_of(GetParam()), {.target = native_target()});
  size_t copies = 0;
  for (const CompiledNode& node : compiled.nodes) {
    bool end = node.name == "before" || node.name == "after" || node.name == "x.stored";
    if (node.steps == 0 || end) continue;
    if (node.flops == 0) ++copies;
    if (node.flops > 0 && GetParam().is_winograd) {
      EXPECT_EQ(node.schedule, "winograd") << node.name;
    }
  }
  EXPECT_EQ(copies, GetParam().copies);
}

INSTANTIATE_TEST_SUITE_P(
    Steps, Families,
    testing::Values(
        FamilyCase{"shuffled2", "split(ci, 2) -> interchange(ci.o, ci.i) -> group(2)", 0, true},
        FamilyCase{"shuffled4", "split(ci, 4) -> interchange(ci.o, ci.i) -> group(4)", 0, true},
        FamilyCase{"shuffled8", "split(ci, 8) -> interchange(ci.o, ci.i) -> group(8)", 0, false},
        FamilyCase{"shuffled16", "split(ci, 16) -> interchange(ci.o, ci.i) -> group(16)", 1, false},
        FamilyCase{"reads2", "interchange(co, ci) -> bottleneck(2)", 0, true},
        FamilyCase{"reads4", "interchange(co, ci) -> bottleneck(4)", 0, true},
        FamilyCase{"repeated", "bottleneck(2, repeat)", 1, true},
        FamilyCase{"pixels",
                   "interchange(co, ow) -> bottleneck(2, repeat) -> interchange(ow, oh) -> "
                   "bottleneck(2, repeat)",
                   1, false},
        FamilyCase{"stripes", "interchange(co, oh) -> group(2)", 2, true},
        FamilyCase{"halves",
                   "split_range(co, 1/2) -> group(2) -> interchange(co.0, co.1) -> group(4)", 1,
                   true}),
    [](const auto& family) { return std::string(family.param.name); });

}  // namespace
}  // namespace lathe::test
