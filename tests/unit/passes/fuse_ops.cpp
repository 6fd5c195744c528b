// Which nodes are fused, in which order, and which are not.
#include "support/run_graph.h"

namespace lathe::test {
namespace {

std::string fused(const std::string& text) {
  return print_nodes(after_pass("fuse_ops", "graph g\n" + text));
}

TEST(FuseOps, TakesElementwiseWorkIntoAConvolution) {
  EXPECT_EQ(fused("input x: f32[1x2x4x4]\n"
                  "input r: f32[1x3x4x4]\n"
                  "weight w: f32[3x2x3x3] = normal(1.0)\n"
                  "weight b: f32[3] = normal(1.0)\n"
                  "c = conv(x, w, b, pads=[1, 1, 1, 1]): f32[1x3x4x4]\n"
                  "a = add(r, c): f32[1x3x4x4]\n"
                  "y = clip(a, max=1.0): f32[1x3x4x4]\n"
                  "output y\n"),
            "y = fused(x, w, b, r, calls=[\"conv(%0, %1, %2, pads=[1, 1, 1, 1])\", "
            "\"add(%3, #0)\", \"clip(#1, max=1.0)\"]): f32[1x3x4x4] as c\n");
}

TEST(FuseOps, TakesAResidualThatIsComputedBetween) {
  EXPECT_EQ(fused("input x: f32[1x2x4x4]\n"
                  "weight v: f32[3x2x1x1] = normal(1.0)\n"
                  "weight w: f32[3x2x1x1] = normal(1.0)\n"
                  "c = conv(x, v): f32[1x3x4x4]\n"
                  "d = conv(x, w): f32[1x3x4x4]\n"
                  "a = add(c, d): f32[1x3x4x4]\n"
                  "y = relu(a): f32[1x3x4x4]\n"
                  "output y\n"),
            "c = conv(x, v): f32[1x3x4x4]\n"
            "y = fused(x, w, c, calls=[\"conv(%0, %1)\", \"add(%2, #0)\", \"relu(#1)\"]): "
            "f32[1x3x4x4] as d\n");
}

TEST(FuseOps, StandsWhereItsLastMemberStood) {
  EXPECT_EQ(fused("input x: f32[1x2x4x4]\n"
                  "weight v: f32[2x2x1x1] = normal(1.0)\n"
                  "c = conv(x, v): f32[1x2x4x4]\n"
                  "p = max_pool(x, kernel=[1, 1]): f32[1x2x4x4]\n"
                  "q = concat(p, axis=1): f32[1x2x4x4]\n"
                  "y = add(c, q): f32[1x2x4x4]\n"
                  "output y\n"),
            "p = max_pool(x, kernel=[1, 1]): f32[1x2x4x4]\n"
            "q = concat(p, axis=1): f32[1x2x4x4]\n"
            "y = fused(x, v, q, calls=[\"conv(%0, %1)\", \"add(#0, %2)\"]): f32[1x2x4x4] as c\n");
}

TEST(FuseOps, FusesElementwiseChainsThatBroadcast) {
  EXPECT_EQ(fused("input x: f32[2x3x4x4]\n"
                  "constant s: f32[3x1x1] = [1.0, 2.0, 3.0]\n"
                  "constant t: f32[1x3x1x1] = [1.0, 2.0, 3.0]\n"
                  "constant u: f32[] = [5.0]\n"
                  "a = mul(x, s): f32[2x3x4x4]\n"
                  "b = add(a, t): f32[2x3x4x4]\n"
                  "c = div(b, u): f32[2x3x4x4]\n"
                  "y = mul(c, c): f32[2x3x4x4]\n"
                  "output y\n"),
            "y = fused(x, s, t, u, calls=[\"mul(%0, %1)\", \"add(#0, %2)\", \"div(#1, %3)\", "
            "\"mul(#2, #2)\"]): f32[2x3x4x4] as a\n");
}

TEST(FuseOps, AnOperandMayBeReadTwice) {
  EXPECT_EQ(fused("input x: f32[1x2x4x4]\n"
                  "weight w: f32[2x2x3x3] = normal(1.0)\n"
                  "c = conv(x, w, pads=[1, 1, 1, 1]): f32[1x2x4x4]\n"
                  "y = add(c, x): f32[1x2x4x4]\n"
                  "output y\n"),
            "y = fused(x, w, calls=[\"conv(%0, %1, pads=[1, 1, 1, 1])\", \"add(#0, %0)\"]): "
            "f32[1x2x4x4] as c\n");
}

TEST(FuseOps, JoinsAnElementwiseChainWithWhatIsMore) {
  EXPECT_EQ(fused("input x: f32[2x3]\n"
                  "weight w: f32[3x3] = normal(1.0)\n"
                  "m = matmul(x, w): f32[2x3]\n"
                  "s = sigmoid(x): f32[2x3]\n"
                  "y = mul(m, s): f32[2x3]\n"
                  "output y\n"),
            "y = fused(x, w, calls=[\"matmul(%0, %1)\", \"sigmoid(%0)\", \"mul(#0, #1)\"]): "
            "f32[2x3] as m\n");
}

TEST(FuseOps, OfTwoThatAreMoreOneStaysApart) {
  EXPECT_EQ(fused("input x: f32[2x3]\n"
                  "weight w: f32[3x3] = normal(1.0)\n"
                  "m = matmul(x, w): f32[2x3]\n"
                  "n = matmul(x, w): f32[2x3]\n"
                  "y = mul(m, n): f32[2x3]\n"
                  "output y\n"),
            "m = matmul(x, w): f32[2x3]\n"
            "y = fused(x, w, m, calls=[\"matmul(%0, %1)\", \"mul(%2, #0)\"]): f32[2x3] as n\n");
}

/// Expects that nothing is fused.
void expect_unchanged(const std::string& text) {
  Graph graph = initialised(parse_graph("graph g\n" + text), 1);
  EXPECT_EQ(print_nodes(after_pass("fuse_ops", "graph g\n" + text)), print_nodes(graph));
}

TEST(FuseOps, KeepsResultsThatOthersNeed) {
  expect_unchanged(
      "input x: f32[2]\n"
      "a = neg(x): f32[2]\n"
      "b = relu(a): f32[2]\n"
      "c = exp(a): f32[2]\n"
      "y = concat(b, c, axis=0): f32[4]\n"
      "output y\n");
  expect_unchanged(
      "input x: f32[2]\n"
      "a = neg(x): f32[2]\n"
      "b = relu(a): f32[2]\n"
      "output b\noutput a\n");
}

TEST(FuseOps, KeepsWhatChangesShapeOrType) {
  expect_unchanged(
      "input x: f32[2x1]\n"
      "input z: f32[2x3]\n"
      "a = neg(x): f32[2x1]\n"
      "y = add(a, z): f32[2x3]\n"
      "output y\n");
  expect_unchanged(
      "input x: f32[2]\n"
      "input z: f32[2]\n"
      "a = neg(x): f32[2]\n"
      "b = less(a, z): bool[2]\n"
      "c = where(b, x, z): f32[2]\n"
      "output c\n");
  expect_unchanged(
      "input x: i32[2]\n"
      "a = neg(x): i32[2]\n"
      "y = add(a, x): i32[2]\n"
      "output y\n");
}

TEST(FuseOps, KeepsWhatRunsWithoutANest) {
  expect_unchanged(
      "input x: f32[4]\n"
      "constant i: i64[2] = [1, 0]\n"
      "a = gather(x, i): f32[2]\n"
      "y = relu(a): f32[2]\n"
      "output y\n");
  expect_unchanged(
      "input x: f32[4]\n"
      "a = reshape(x, shape=[2, 2]): f32[2x2]\n"
      "y = relu(a): f32[2x2]\n"
      "output y\n");
  expect_unchanged(
      "input x: f32[4]\n"
      "a = concat(x, x, axis=0): f32[8]\n"
      "y = relu(a): f32[8]\n"
      "output y\n");
}

TEST(FuseOps, ASecondTimeChangesNothing) {
  Graph once = after_pass("fuse_ops",
                          "graph g\n"
                          "input x: f32[2]\n"
                          "a = neg(x): f32[2]\n"
                          "y = relu(a): f32[2]\n"
                          "output y\n");
  EXPECT_EQ(once.nodes.size(), 1u);
  EXPECT_EQ(print(find_pass("fuse_ops").run(once, {})), print(once));
  EXPECT_EQ(print(parse_graph(print(once))), print(once));
}

}  // namespace
}  // namespace lathe::test
