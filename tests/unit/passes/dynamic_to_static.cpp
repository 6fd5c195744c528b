// DynamicToStatic: what known data direct is taken by a list.
#include "compile/compile.h"
#include "support/run_graph.h"

namespace lathe::test {
namespace {

std::string fixed(const std::string& text) {
  return print_nodes(after_pass("DynamicToStatic", "graph g\n" + text));
}

TEST(DynamicToStatic, GathersByAList) {
  EXPECT_EQ(fixed("input x: f32[2x3x4]\n"
                  "constant i: i64[2] = [2, -3]\n"
                  "y = gather(x, i, axis=1): f32[2x2x4]\n"
                  "output y\n"),
            "y.reshape = reshape(x, shape=[2, 3, 4]): f32[2x3x4]\n"
            "y.take = take(y.reshape, axis=1, indices=[2, 0]): f32[2x2x4]\n"
            "y = reshape(y.take, shape=[2, 2, 4]): f32[2x2x4]\n");
}

TEST(DynamicToStatic, IndicesMayBeComputed) {
  EXPECT_EQ(fixed("input x: f32[3x4]\n"
                  "constant i: i64[1] = [0]\n"
                  "constant one: i64[] = [1]\n"
                  "j = add(i, one): i64[1]\n"
                  "y = gather(x, j): f32[1x4]\n"
                  "output y\n"),
            "y.reshape = reshape(x, shape=[1, 3, 4]): f32[1x3x4]\n"
            "y.take = take(y.reshape, axis=1, indices=[1]): f32[1x1x4]\n"
            "y = reshape(y.take, shape=[1, 4]): f32[1x4]\n");
}

TEST(DynamicToStatic, ShapesBecomeKnown) {
  Graph graph = parse_graph(
      "graph g\n"
      "input x: f32[4x2]\n"
      "constant keep: bool[4] = [1, 0, 1, 1]\n"
      "c = compress(x, keep, has_axis=1): f32[?]\n"
      "y = relu(c): f32[?]\n"
      "output y\n");
  EXPECT_THROW(compile(graph, {.target = native_target()}), UserError);
  Graph after = find_pass("DynamicToStatic").run(graph, {});
  EXPECT_EQ(print_type(after.values[after.outputs[0]].type), "f32[3x2]");
  expect_same_outputs(graph, after);
  CompileOptions how;
  how.target = native_target();
  how.passes.insert(how.passes.begin(), "DynamicToStatic");
  EXPECT_EQ(compile(graph, how).outputs.size(), 1U);
}

TEST(DynamicToStatic, KnowsAllThatOnlyMoves) {
  for (const char* call :
       {"gather_elements(x, i, axis=0): f32[2x4]", "gather_nd(x, i): f32[2]",
        "gather_nd(x, i, batch_dims=0): f32[2]", "reverse_sequence(x, lengths): f32[3x4]",
        "scatter_elements(x, i, u, axis=0): f32[3x4]", "scatter_nd(x, i2, v): f32[3x4]"}) {
    std::string type = std::string(call).starts_with("gather_nd")
                           ? "i64[2x2] = [2, 0, 1, 3]"
                           : "i64[2x4] = [2, 0, 1, 2, 0, 0, 2, 1]";
    std::string after = fixed(
        "input x: f32[3x4]\n"
        "input u: f32[2x4]\n"
        "input v: f32[2x4]\n"
        "constant i: " +
        type +
        "\n"
        "constant i2: i64[2x1] = [2, 0]\n"
        "constant lengths: i64[4] = [3, 1, 2, 3]\n"
        "y = " +
        std::string(call) + "\noutput y\n");
    EXPECT_NE(after.find("take("), std::string::npos) << after;
  }
}

TEST(DynamicToStatic, LeavesWhatIsNotKnown) {
  for (const char* text :
       {"input x: f32[3x4]\ninput i: i64[2]\ny = gather(x, i): f32[2x4]\noutput y\n",
        "input x: f32[3]\ninput u: f32[2]\nconstant i: i64[2x1] = [2, 2]\n"
        "y = scatter_nd(x, i, u, reduction=\"add\"): f32[3]\noutput y\n"}) {
    Graph graph = parse_graph("graph g\n" + std::string(text));
    EXPECT_EQ(print(find_pass("DynamicToStatic").run(graph, {})), print(graph));
  }
}

}  // namespace
}  // namespace lathe::test
