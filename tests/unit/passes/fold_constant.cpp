// What depends on no input is computed before the network runs.
#include "support/run_graph.h"

namespace lathe::test {
namespace {

TEST(FoldConstant, ComputesWhatDependsOnNoInput) {
  Graph after = after_pass("fold_constant",
                           "graph g\n"
                           "input x: f32[2]\n"
                           "constant a: f32[2] = [1.0, 2.0]\n"
                           "b = add(a, a): f32[2]\n"
                           "c = mul(b, a): f32[2]\n"
                           "y = mul(x, c): f32[2]\n"
                           "output y\n");
  EXPECT_EQ(print(after),
            "graph g\n"
            "input x: f32[2]\n"
            "constant c: f32[2] = [2.0, 8.0]\n"
            "y = mul(x, c): f32[2]\n"
            "output y\n");
}

TEST(FoldConstant, WeightsWithDataCount) {
  Graph after = after_pass("fold_constant",
                           "graph g\n"
                           "input x: f32[2]\n"
                           "weight w: f32[2] = [1.0, 2.0]\n"
                           "b = neg(w): f32[2]\n"
                           "y = mul(x, b): f32[2]\n"
                           "output y\n");
  EXPECT_EQ(print(after),
            "graph g\n"
            "input x: f32[2]\n"
            "constant b: f32[2] = [-1.0, -2.0]\n"
            "y = mul(x, b): f32[2]\n"
            "output y\n");
}

TEST(FoldConstant, WeightsWithoutDataDoNot) {
  Graph graph = parse_graph(
      "graph g\n"
      "weight w: f32[2] = ones\n"
      "b = neg(w): f32[2]\n"
      "output b\n");
  EXPECT_EQ(print(find_pass("fold_constant").run(graph, {})), print(graph));
}

TEST(FoldConstant, OutputsMayBecomeConstants) {
  Graph after = after_pass("fold_constant",
                           "graph g\n"
                           "constant a: f32[2] = [1.0, 2.0]\n"
                           "y = neg(a): f32[2]\n"
                           "output y\n");
  EXPECT_EQ(print(after),
            "graph g\n"
            "constant y: f32[2] = [-1.0, -2.0]\n"
            "output y\n");
}

TEST(FoldConstant, TellsShapesThatDependOnData) {
  Graph after = after_pass("fold_constant",
                           "graph g\n"
                           "input x: f32[4]\n"
                           "constant a: bool[4] = [1, 0, 0, 1]\n"
                           "i = non_zero(a): i64[?]\n"
                           "y = gather(x, i): f32[?]\n"
                           "output y\n");
  EXPECT_EQ(print(after),
            "graph g\n"
            "input x: f32[4]\n"
            "constant i: i64[1x2] = [0, 3]\n"
            "y = gather(x, i): f32[1x2]\n"
            "output y\n");
}

TEST(FoldConstant, KeepsWhatIsTooLarge) {
  Graph graph = parse_graph(
      "graph g\n"
      "constant a: f32[1] = [1.0]\n"
      "b = expand(a, shape=[4096, 4097]): f32[4096x4097]\n"
      "output b\n");
  EXPECT_EQ(print(find_pass("fold_constant").run(graph, {})), print(graph));
}

TEST(FoldConstant, DoesNotComputeWhatIsNotNeeded) {
  // It would take minutes.
  Graph graph = parse_graph(
      "graph g\n"
      "input x: f32[2]\n"
      "constant a: f32[1] = [1.0]\n"
      "b = expand(a, shape=[3000, 3000]): f32[3000x3000]\n"
      "c = matmul(b, b): f32[3000x3000]\n"
      "d = matmul(c, b): f32[3000x3000]\n"
      "y = relu(x): f32[2]\n"
      "output y\n");
  EXPECT_EQ(print_nodes(find_pass("fold_constant").run(graph, {})), "y = relu(x): f32[2]\n");
}

TEST(FoldConstant, LeavesErrorsToTheRun) {
  Graph graph = parse_graph(
      "graph g\n"
      "constant a: f32[2] = [1.0, 2.0]\n"
      "constant i: i64[1] = [7]\n"
      "y = gather(a, i): f32[1]\n"
      "output y\n");
  EXPECT_EQ(print(find_pass("fold_constant").run(graph, {})), print(graph));
}

}  // namespace
}  // namespace lathe::test
