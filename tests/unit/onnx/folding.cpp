// Chains that work out shapes leave nothing behind; everything else stays.
#include <gtest/gtest.h>

#include "support/onnx_model.h"

namespace lathe::test {
namespace {

TEST(OnnxFolding, ShapeChainsGo) {
  // As PyTorch writes x.view(x.size(0), -1).
  OnnxModel m(13);
  m.input("x", {2, 3, 4});
  m.node("Shape", {"x"}, {"shape"});
  m.integer("zero", 0);
  m.node("Gather", {"shape", "zero"}, {"batch"}, {{"axis", 0L}});
  m.integers("axes", {0});
  m.node("Unsqueeze", {"batch", "axes"}, {"row"});
  m.integers("rest", {-1});
  m.node("Concat", {"row", "rest"}, {"target"}, {{"axis", 0L}});
  m.node("Reshape", {"x", "target"}, {"y"});
  m.output("y");
  EXPECT_EQ(print_onnx(m),
            "graph g\ninput x: f32[2x3x4]\ny = reshape(x, shape=[2, 12]): f32[2x12]\noutput y\n");
}

TEST(OnnxFolding, ShapesAreComputedWith) {
  OnnxModel m(15);
  m.input("x", {2, 3, 8, 6});
  m.node("Shape", {"x"}, {"rows"}, {{"start", 2L}, {"end", 3L}});
  m.integers("two", {2});
  m.node("Div", {"rows", "two"}, {"half"});
  m.node("Cast", {"half"}, {"real"}, {{"to", 1L}});
  m.node("Floor", {"real"}, {"floor"});
  m.node("Cast", {"floor"}, {"start"}, {{"to", 7L}});
  m.integers("axis", {2});
  m.node("Slice", {"x", "start", "rows", "axis"}, {"y"});
  m.output("y");
  EXPECT_EQ(print_onnx(m),
            "graph g\ninput x: f32[2x3x8x6]\n"
            "y = slice(x, sizes=[2, 3, 4, 6], starts=[0, 0, 4, 0]): f32[2x3x4x6]\noutput y\n");
}

TEST(OnnxFolding, Constants) {
  for (const auto& [name, value] : std::vector<std::pair<std::string, Attribute>>{
           {"value_int", 3L},
           {"value_ints", Shape{3, 4}},
           {"value_float", 0.5},
           {"value_floats", std::vector<double>{0.5, 1}}}) {
    OnnxModel m;
    m.node("Constant", {}, {"c"}, {{name, value}});
    m.node("Identity", {"c"}, {"y"});
    m.output("y");
    EXPECT_EQ(m.error(), "") << name;
  }
  OnnxModel none;
  none.node("Constant", {}, {"y"});
  none.output("y");
  EXPECT_EQ(none.error(), "node 'y' (Constant): a constant that is no tensor");
}

TEST(OnnxFolding, SmallConstantsAreComputed) {
  OnnxModel m;
  m.input("x", {2});
  m.reals("a", {1, 2});
  m.reals("b", {3, 4});
  m.node("Add", {"a", "b"}, {"c"});
  m.node("Mul", {"x", "c"}, {"y"});
  m.output("y");
  EXPECT_EQ(print_onnx(m),
            "graph g\ninput x: f32[2]\nweight c: f32[2] = [4.0, 6.0]\ny = mul(x, c): f32[2]\n"
            "output y\n");
}

TEST(OnnxFolding, TransposedWeightsStayWeights) {
  OnnxModel m;
  m.input("x", {1, 40});
  m.initialiser("w", Array(Element::f32, {50, 40}));
  m.node("Transpose", {"w"}, {"t"}, {{"perm", Shape{1, 0}}});
  m.node("MatMul", {"x", "t"}, {"y"});
  m.output("y");
  Graph graph = m.parse();
  EXPECT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(weight_count(graph), 2000);
}

TEST(OnnxFolding, DataThatDecideAShapeMustBeKnown) {
  OnnxModel m;
  m.input("x", {2, 3});
  m.node("NonZero", {"x"}, {"n"});
  m.node("Shape", {"n"}, {"s"});
  m.node("ConstantOfShape", {"s"}, {"y"});
  m.output("y");
  EXPECT_EQ(m.error(), "node 's' (Shape): the shape of operand 0 depends on data");
  EXPECT_THROW(m.parse(), Unsupported);
}

}  // namespace
}  // namespace lathe::test
