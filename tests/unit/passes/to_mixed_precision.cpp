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
            "x.rounded = cast(x.half): f32[1x2x4x4]\n"
            "w.half = cast(w, to=\"f16\"): f16[3x2x1x1]\n"
            "w.rounded = cast(w.half): f32[3x2x1x1]\n"
            "c.sums = conv(x.rounded, w.rounded, b): f32[1x3x4x4]\n"
            "c.sums.half = cast(c.sums, to=\"f16\"): f16[1x3x4x4]\n"
            "r.half = relu(c.sums.half): f16[1x3x4x4]\n"
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
  EXPECT_NE(nodes.find("b.half = add(a.sums.half, a.sums.half): f16[2x5]"), std::string::npos);
  EXPECT_NE(nodes.find("b = cast(b.half): f32[2x5]"), std::string::npos);
  EXPECT_NE(nodes.find("y.sums = matmul(b, w.rounded)"), std::string::npos) << nodes;
  EXPECT_EQ(nodes.find("b.rounded"), std::string::npos) << nodes;
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
  EXPECT_NE(nodes.find("a.sums = fully_connected(c, w.rounded)"), std::string::npos) << nodes;
  EXPECT_NE(nodes.find("y = identity(a.sums.half): f16[2x5]"), std::string::npos) << nodes;
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
