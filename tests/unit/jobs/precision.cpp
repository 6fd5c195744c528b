// Networks that compute less precisely: jobs/precision.h.
#include "jobs/precision.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/run_graph.h"

namespace lathe::test {
namespace {

/// Two layers; what is between them is as large as the factor makes it.
Graph network(double factor) {
  Graph graph = initialised(parse_graph("graph g\n"
                                        "input x: f32[1x3x8x8]\n"
                                        "weight w: f32[4x3x1x1] = ones\n"
                                        "weight v: f32[2x4x1x1] = normal(0.5)\n"
                                        "c = conv(x, w): f32[1x4x8x8]\n"
                                        "r = relu(c): f32[1x4x8x8]\n"
                                        "y = conv(r, v): f32[1x2x8x8]\n"
                                        "output y\n"),
                            1);
  graph.values[*find_value(graph, "w")].data =
      lathe::Array::of_reals(Element::f32, {4, 3, 1, 1}, std::vector<double>(12, factor));
  return graph;
}

PrecisionOptions halves(const std::string& data) {
  PrecisionOptions options;
  options.precisions.others = Precision::f16;
  options.calibration.data = data;
  options.calibration.images = 8;
  return options;
}

TEST(Precision, HasNames) {
  for (Precision each : {Precision::f32, Precision::f16, Precision::bf16, Precision::int8}) {
    EXPECT_EQ(precision_named(name_of(each)), each);
  }
  EXPECT_FALSE(precision_named("i8").has_value());
}

TEST(Precision, LargeNumbersStayAsTheyAre) {
  EXPECT_TRUE(with_precision(network(1), halves("synthetic:1")).kept.empty());
  // Each weight fits, but not what the first layer makes and the second reads.
  Narrowed found = with_precision(network(60000), halves("synthetic:1"));
  ASSERT_EQ(found.kept.size(), 2U);
  EXPECT_EQ(found.kept[0], "'c' stays f32: 'c' has numbers beyond 65504");
  EXPECT_EQ(found.kept[1], "'y' stays f32: 'r' has numbers beyond 65504");
  EXPECT_EQ(print_nodes(found.network), print_nodes(network(60000)));
  // A weight is known without data.
  ASSERT_EQ(with_precision(network(70000), halves("")).kept.size(), 1U);
  PrecisionOptions brain = halves("synthetic:1");
  brain.precisions.others = Precision::bf16;
  EXPECT_TRUE(with_precision(network(60000), brain).kept.empty());
}

TEST(Precision, KeepsInputsAndOutputs) {
  for (Precision each : {Precision::f16, Precision::bf16, Precision::int8}) {
    PrecisionOptions options = halves("synthetic:1");
    options.precisions.others = each;
    Graph graph = network(0.5);
    Narrowed found = with_precision(graph, options);
    EXPECT_TRUE(found.kept.empty());
    // The samples that integers are made for are from 0 to 1; these here are not.
    if (each != Precision::int8) expect_same_outputs(graph, found.network, 0.03);
    auto type_of = [](const Graph& of, ValueId id) { return print_type(of.values[id].type); };
    EXPECT_EQ(type_of(found.network, found.network.inputs[0]), type_of(graph, graph.inputs[0]));
    EXPECT_EQ(type_of(found.network, found.network.outputs[0]), type_of(graph, graph.outputs[0]));
  }
}

TEST(Precision, IntegersNeedData) {
  PrecisionOptions options;
  options.precisions.others = Precision::int8;
  EXPECT_THROW(with_precision(network(1), options), UserError);
}

}  // namespace
}  // namespace lathe::test
