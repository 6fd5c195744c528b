// What several nodes compute from the same operands is computed once.
#include "support/run_graph.h"

namespace lathe::test {
namespace {

Graph united(const std::string& text) {
  return after_pass("eliminate_common_subexpr", "graph g\n" + text);
}

TEST(EliminateCommonSubexpr, EqualNodesOnEqualOperandsAreOne) {
  Graph after = united(
      "input x: f32[2]\n"
      "a = relu(x): f32[2]\n"
      "b = relu(x): f32[2]\n"
      "c = neg(a): f32[2]\n"
      "d = neg(b): f32[2]\n"
      "y = add(c, d): f32[2]\n"
      "output y\n");
  EXPECT_EQ(print_nodes(after),
            "a = relu(x): f32[2]\n"
            "c = neg(a): f32[2]\n"
            "y = add(c, c): f32[2]\n");
}

TEST(EliminateCommonSubexpr, AttributesMatter) {
  Graph after = united(
      "input x: f32[2]\n"
      "a = clip(x): f32[2]\n"
      "b = clip(x, max=1.0): f32[2]\n"
      "c = clip(x, max=6.0): f32[2]\n"
      "d = add(a, b): f32[2]\n"
      "y = add(d, c): f32[2]\n"
      "output y\n");
  EXPECT_EQ(print_nodes(after),
            "a = clip(x): f32[2]\n"
            "b = clip(x, max=1.0): f32[2]\n"
            "d = add(a, b): f32[2]\n"
            "y = add(d, a): f32[2]\n");
}

TEST(EliminateCommonSubexpr, EqualConstantsAreOneButWeightsAreNot) {
  Graph after = united(
      "input x: f32[2]\n"
      "constant a: f32[2] = [1.0, 2.0]\n"
      "constant b: f32[2] = [1.0, 2.0]\n"
      "constant c: f32[1x2] = [1.0, 2.0]\n"
      "weight v: f32[2] = [1.0, 2.0]\n"
      "weight w: f32[2] = [1.0, 2.0]\n"
      "p = add(x, a): f32[2]\n"
      "q = add(x, b): f32[2]\n"
      "r = add(x, c): f32[1x2]\n"
      "s = add(x, v): f32[2]\n"
      "t = add(x, w): f32[2]\n"
      "y = concat(p, q, s, t, axis=0): f32[8]\n"
      "output y\noutput r\n");
  EXPECT_EQ(print_nodes(after),
            "p = add(x, a): f32[2]\n"
            "r = add(x, c): f32[1x2]\n"
            "s = add(x, v): f32[2]\n"
            "t = add(x, w): f32[2]\n"
            "y = concat(p, p, s, t, axis=0): f32[8]\n");
}

TEST(EliminateCommonSubexpr, OutputsKeepTheirNames) {
  Graph after = united(
      "input x: f32[2]\n"
      "a = relu(x): f32[2]\n"
      "b = relu(x): f32[2]\n"
      "c = neg(b): f32[2]\n"
      "output a\noutput b\noutput c\n");
  EXPECT_EQ(print_nodes(after),
            "a = relu(x): f32[2]\n"
            "b = relu(x): f32[2]\n"
            "c = neg(a): f32[2]\n");
}

}  // namespace
}  // namespace lathe::test
