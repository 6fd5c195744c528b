// Inputs of ONNX files: shapes that are stated, named or missing, and values that are known.
#include <gtest/gtest.h>

#include "support/onnx_model.h"

namespace lathe::test {
namespace {

OnnxModel relu_of(const Shape& shape) {
  OnnxModel m;
  m.input("x", shape);
  m.node("Relu", {"x"}, {"y"});
  m.output("y");
  return m;
}

TEST(OnnxInput, NamedDimensionsAreBound) {
  EXPECT_TRUE(relu_of({3, -1}).error().starts_with(
      "m.onnx: input 'x': dimension 1 is 'n'; bind it, as in --shape x="));
  OnnxModel m = relu_of({-1, 3});
  EXPECT_EQ(print_onnx(m, {.shapes = {{"x", {5, 3}}}}),
            "graph g\ninput x: f32[5x3]\ny = relu(x): f32[5x3]\noutput y\n");
  EXPECT_EQ(m.error({.shapes = {{"x", {5, 4}}}}),
            "m.onnx: input 'x': dimension 1 is 3 in the file, and cannot become 4");
  EXPECT_EQ(m.error({.shapes = {{"x", {5}}}}), "m.onnx: input 'x' has 2 dimensions, not 1 as in 5");
  EXPECT_EQ(m.error({.shapes = {{"x", {5, 3}}, {"z", {1}}}}),
            "m.onnx: there is no input 'z'; there are: 'x'");
  EXPECT_EQ(m.error({.shapes = {{"x", {-5, 3}}}}),
            "node 'y' (Relu): a tensor cannot have the shape -5x3");
}

TEST(OnnxInput, OneSampleUnlessTold) {
  EXPECT_EQ(relu_of({-1, 3}).parse().values[0].type.shape, (Shape{1, 3}));
  // Inputs whose dimension has the same name have as many samples as the one that was told.
  OnnxModel m;
  m.input("x", {-1, 3});
  m.input("z", {-1, 3});
  m.node("Add", {"x", "z"}, {"y"});
  m.output("y");
  for (long samples : {4L, 1L}) {
    Graph graph = samples == 1 ? m.parse() : m.parse({.shapes = {{"z", {samples, 3}}}});
    for (ValueId id : graph.inputs) EXPECT_EQ(graph.values[id].type.shape, (Shape{samples, 3}));
  }
}

TEST(OnnxInput, DimensionsWithoutAName) {
  OnnxModel m = relu_of({2});
  m.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim();
  EXPECT_TRUE(m.error().starts_with(
      "m.onnx: input 'x': dimension 1 is not stated; bind it, as in --shape x="));
  EXPECT_EQ(m.parse({.shapes = {{"x", {2, 7}}}}).values[0].type.shape, (Shape{2, 7}));
  m.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  EXPECT_EQ(m.error(), "m.onnx: input 'x' has no shape; say --shape x=1x3x...");
  EXPECT_EQ(m.parse({.shapes = {{"x", {2, 7}}}}).values[0].type.shape, (Shape{2, 7}));
}

TEST(OnnxInput, ImpossibleDimensions) {
  EXPECT_EQ(relu_of({-2}).error(), "m.onnx: input 'x': dimension 0 is -2");
  EXPECT_EQ(relu_of({1L << 62}).error(),
            "node 'y' (Relu): a tensor of the shape 4611686018427387904 is too large");
  EXPECT_EQ(relu_of({1L << 40, 1L << 40}).error(),
            "node 'y' (Relu): a tensor of the shape 1099511627776x1099511627776 is too large");
  EXPECT_EQ(relu_of({1L << 32, 1L << 32, 0}).error(),
            "node 'y' (Relu): a tensor of the shape 4294967296x4294967296x0 is too large");
  EXPECT_EQ(relu_of({0, 1L << 62, 1L << 62}).error(), "");
  EXPECT_EQ(relu_of({1L << 40}).error(), "");
}

TEST(OnnxInput, TypesThatLatheLacks) {
  OnnxModel m = relu_of({2});
  auto* tensor = m.graph().mutable_input(0)->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(17);
  EXPECT_EQ(m.error(), "m.onnx: input 'x': elements of type FLOAT8E4M3FN are not supported");
  EXPECT_THROW(m.parse(), Unsupported);
  m.graph().mutable_input(0)->mutable_type()->mutable_sequence_type();
  EXPECT_EQ(m.error(), "m.onnx: input 'x' is not a tensor");
  m.graph().mutable_input(0)->clear_type();
  EXPECT_EQ(m.error(), "m.onnx: input 'x' is not a tensor");
}

TEST(OnnxInput, InitialisersAreDefaults) {
  OnnxModel m = relu_of({2});
  m.input("w", {2});
  m.reals("w", {1, 2});
  m.node("Add", {"y", "w"}, {"z"});
  m.output("z");
  Graph graph = m.parse();
  EXPECT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.values[*find_value(graph, "w")].kind, Value::Kind::weight);
  Array given = Array::of<float>({2}, {8, 9});
  graph = m.parse({.values = {{"w", given}}});
  EXPECT_TRUE(*graph.values[*find_value(graph, "w")].data == given);
}

TEST(OnnxInput, KnownValuesDecideShapes) {
  OnnxModel m;
  m.input("x", {2, 3});
  m.input("shape", {1}, Element::i64);
  m.node("Reshape", {"x", "shape"}, {"y"});
  m.output("y");
  EXPECT_EQ(m.error(),
            "node 'y' (Reshape): shape ('shape') must be known when the network is imported");
  EXPECT_THROW(m.parse(), Unsupported);
  Array six = Array::of<int64_t>({1}, {6});
  EXPECT_EQ(print_onnx(m, {.values = {{"shape", six}}}),
            "graph g\ninput x: f32[2x3]\ninput shape: i64[1]\ny = reshape(x, shape=[6]): f32[6]\n"
            "output y\n");
  EXPECT_EQ(m.error({.values = {{"shape", Array::of<int64_t>({1}, {7})}}}),
            "node 'y' (Reshape): reshape: 2x3 has 6 elements, 7 has 7");
  EXPECT_EQ(m.error({.values = {{"shape", Array::of<int32_t>({1}, {6})}}}),
            "m.onnx: input 'shape' is i64, but was given i32");
  EXPECT_EQ(m.error({.values = {{"shape", Array::of<int64_t>({1, 1}, {6})}}}),
            "m.onnx: input 'shape' has 1 dimensions, not 2 as in 1x1");
}

TEST(OnnxInput, KnownValuesBindNames) {
  OnnxModel m = relu_of({-1});
  EXPECT_EQ(print_onnx(m, {.values = {{"x", Array(Element::f32, {4})}}}),
            "graph g\ninput x: f32[4]\ny = relu(x): f32[4]\noutput y\n");
}

TEST(OnnxInput, Summary) {
  TemporaryDirectory folder;
  OnnxModel m = relu_of({-1});
  m.input("w", {2});
  m.reals("w", {1, 2});
  m.node("Relu", {"y"}, {"z"});
  m.node("Odd", {"y"}, {"o"}).set_domain("custom");
  OnnxSummary summary = summarise_onnx(folder.file("m.onnx", m.bytes()));
  ASSERT_EQ(summary.inputs.size(), 2u);
  EXPECT_EQ(summary.inputs[0].name, "x");
  EXPECT_FALSE(summary.inputs[0].has_default);
  EXPECT_TRUE(summary.inputs[1].has_default);
  EXPECT_EQ(summary.operators, (std::vector<std::string>{"Relu", "custom:Odd"}));
}

}  // namespace
}  // namespace lathe::test
