// ToMixedPrecision: layers read and write f16, and add up f32.
#include "support/run_graph.h"

namespace lathe::test {
namespace {

constexpr const char* network =
    "graph g\n"
    "input x: f32[1x2x4x4]\n"
    "weight w: f32[3x2x1x1] = normal(1.0)\n"
    "weight b: f32[3] = normal(1.0)\n"
    "c = conv(x, w, b): f32[1x3x4x4]\n"
    "r = relu(c): f32[1x3x4x4]\n"
    "s = softmax(r): f32[1x3x4x4]\n"
    "output s\n";

TEST(ToMixedPrecision, AlwaysFollowsOrNever) {
  EXPECT_EQ(print_nodes(after_pass("ToMixedPrecision", network)),
            "x.half = cast(x, to=\"f16\"): f16[1x2x4x4]\n"
            "c = conv(x.half, w.half, b, to=\"f32\"): f32[1x3x4x4]\n"
            "r.single = relu(c): f32[1x3x4x4]\n"
            "r.half = cast(r.single, to=\"f16\"): f16[1x3x4x4]\n"
            "r = cast(r.half): f32[1x3x4x4]\n"
            "s = softmax(r): f32[1x3x4x4]\n");
}

TEST(ToMixedPrecision, TwiceIsOnce) {
  Graph once = after_pass("ToMixedPrecision", network);
  EXPECT_EQ(print(find_pass("ToMixedPrecision").run(once, {})), print(once));
}

TEST(ToMixedPrecision, LayersReadWhatOthersLeft) {
  std::string nodes = print_nodes(after_pass("ToMixedPrecision",
                                             "graph g\n"
                                             "input x: f32[2x8]\n"
                                             "weight v: f32[5x8] = normal(1.0)\n"
                                             "weight w: f32[5x4] = normal(1.0)\n"
                                             "a = fully_connected(x, v): f32[2x5]\n"
                                             "b = add(a, a): f32[2x5]\n"
                                             "y = matmul(b, w): f32[2x4]\n"
                                             "output y\n"));
  EXPECT_NE(nodes.find("b.single = add(a, a): f32[2x5]"), std::string::npos) << nodes;
  EXPECT_NE(nodes.find("b.half = cast(b.single, to=\"f16\"): f16[2x5]"), std::string::npos);
  EXPECT_NE(nodes.find("y = matmul(b.half, w.half, to=\"f32\")"), std::string::npos) << nodes;
}

/// One kernel for a layer: sums of f16 are f32, and what it stores is f16 again.
TEST(ToMixedPrecision, LayersAreOneKernelThatReadsAndWritesHalves) {
  Graph graph = after_pass("ToMixedPrecision",
                           "graph g\n"
                           "input x: f32[1x2x4x4]\n"
                           "weight w: f32[2x2x3x3] = normal(1.0)\n"
                           "weight b: f32[2] = normal(1.0)\n"
                           "c = conv(x, w, b, pads=[1, 1, 1, 1]): f32[1x2x4x4]\n"
                           "r = relu(c): f32[1x2x4x4]\n"
                           "d = conv(r, w, b, pads=[1, 1, 1, 1]): f32[1x2x4x4]\n"
                           "a = add(d, r): f32[1x2x4x4]\n"
                           "s = relu(a): f32[1x2x4x4]\n"
                           "y = conv(s, w, b, pads=[1, 1, 1, 1]): f32[1x2x4x4]\n"
                           "output y\n");
  EXPECT_EQ(print_nodes(find_pass("FuseOps").run(graph, {})),
            "x.half = cast(x, to=\"f16\"): f16[1x2x4x4]\n"
            "r.half = fused(x.half, w.half, b, calls=[\"conv(%0, %1, %2, pads=[1, 1, 1, 1], "
            "to=\\\"f32\\\")\", \"relu(#0)\", \"cast(#1, to=\\\"f16\\\")\"]): f16[1x2x4x4] as c\n"
            "s.half = fused(r.half, w.half, b, calls=[\"conv(%0, %1, %2, pads=[1, 1, 1, 1], "
            "to=\\\"f32\\\")\", \"cast(%0)\", \"add(#0, #1)\", \"relu(#2)\", \"cast(#3, "
            "to=\\\"f16\\\")\"]): f16[1x2x4x4] as d\n"
            "y = conv(s.half, w.half, b, pads=[1, 1, 1, 1], to=\"f32\"): f32[1x2x4x4]\n");
}

TEST(ToMixedPrecision, LayersWithLargeWeightsStay) {
  Graph graph = after_pass("ToMixedPrecision",
                           "graph g\n"
                           "input x: f32[1x2]\n"
                           "weight w: f32[2x2] = [1.0, 2.0, 3.0, 70000.0]\n"
                           "y = fully_connected(x, w): f32[1x2]\n"
                           "output y\n");
  EXPECT_EQ(print_nodes(graph), "y = fully_connected(x, w): f32[1x2]\n");
}

TEST(ToMixedPrecision, CastsThatCancelGo) {
  std::string nodes = print_nodes(after_pass("ToMixedPrecision",
                                             "graph g\n"
                                             "input x: f16[2x8]\n"
                                             "weight w: f32[5x8] = normal(1.0)\n"
                                             "c = cast(x): f32[2x8]\n"
                                             "a = fully_connected(c, w): f32[2x5]\n"
                                             "y = cast(a, to=\"f16\"): f16[2x5]\n"
                                             "output y\n"));
  EXPECT_NE(nodes.find("a.single = fully_connected(x, w.half, to=\"f32\")"), std::string::npos)
      << nodes;
  EXPECT_NE(nodes.find("y = identity(a.half): f16[2x5]"), std::string::npos) << nodes;
}

TEST(ToMixedPrecision, LeavesOtherTypes) {
  Graph graph = initialised(parse_graph("graph g\n"
                                        "input x: f64[2x8]\n"
                                        "weight w: f64[5x8] = normal(1.0)\n"
                                        "y = fully_connected(x, w): f64[2x5]\n"
                                        "output y\n"),
                            1);
  EXPECT_EQ(print(find_pass("ToMixedPrecision").run(graph, {})), print(graph));
}

}  // namespace
}  // namespace lathe::test
