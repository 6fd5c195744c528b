// ONNX files that are no models: cut, empty, contradictory. Each gets an error that says so.
#include <gtest/gtest.h>

#include "support/onnx_model.h"

namespace lathe::test {
namespace {

/// x -> Conv -> Relu -> y
OnnxModel small() {
  OnnxModel m;
  m.input("x", {1, 2, 4, 4});
  m.initialiser("w", Array(Element::f32, {3, 2, 3, 3}));
  m.node("Conv", {"x", "w"}, {"c"}, {{"pads", Shape{1, 1, 1, 1}}}, "conv");
  m.node("Relu", {"c"}, {"y"}, {}, "relu");
  m.output("y");
  return m;
}

TEST(OnnxDamaged, EveryPrefixIsRefused) {
  std::string bytes = small().bytes();
  EXPECT_NO_THROW(parse_onnx(bytes, "m.onnx", "."));
  size_t accepted = 0;
  for (size_t n = 0; n < bytes.size(); ++n) {
    try {
      parse_onnx(bytes.substr(0, n), "m.onnx", ".");
      ++accepted;
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find("m.onnx"), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(accepted, 0u);
}

TEST(OnnxDamaged, SomethingElse) {
  const std::string no_model =
      "'m.onnx' is no ONNX model: it is damaged, truncated or something else";
  for (const std::string& bytes :
       {std::string(), std::string("graph g\n"), std::string(100, '\0'), std::string(100, '\xff'),
        std::string("\x89PNG\r\n\x1a\n"), std::string("{\"ir_version\": 8}")}) {
    EXPECT_EQ(message_of([&] { parse_onnx(bytes, "m.onnx", "."); }), no_model);
  }
  OnnxModel no_graph;
  no_graph.model().clear_graph();
  EXPECT_EQ(no_graph.error(), no_model);
  OnnxModel no_output;
  no_output.input("x", {1});
  EXPECT_EQ(no_output.error(), "graph 'g' has no output");
}

TEST(OnnxDamaged, FilesThatCannotBeRead) {
  TemporaryDirectory folder;
  std::string missing = folder.file("missing.onnx");
  std::string none = "cannot read '" + missing + "': No such file or directory";
  EXPECT_EQ(message_of([&] { import_onnx(missing); }), none);
  EXPECT_EQ(message_of([&] { import_onnx(folder.path()); }),
            "cannot read '" + folder.path() + "': it is a directory, not a regular file");
  EXPECT_EQ(message_of([&] { summarise_onnx(missing); }), none);
  EXPECT_EQ(message_of([&] { read_tensor(missing); }), none);
  std::string text = folder.file("text.pb", "no tensor at all");
  EXPECT_EQ(message_of([&] { read_tensor(text); }), "'" + text + "' holds no ONNX tensor");
  std::string model = folder.file("model.onnx", small().bytes());
  EXPECT_EQ(import_onnx(model).nodes.size(), 2u);
}

TEST(OnnxDamaged, Cycles) {
  OnnxModel m;
  m.input("x", {2});
  m.node("Add", {"x", "b"}, {"a"}, {}, "first");
  m.node("Relu", {"a"}, {"b"}, {}, "second");
  m.output("b");
  EXPECT_EQ(m.error(), "m.onnx: the graph has a cycle through node 'first' (Add)");
  OnnxModel self;
  self.node("Relu", {"a"}, {"a"});
  self.output("a");
  EXPECT_EQ(self.error(), "m.onnx: the graph has a cycle through node 'a' (Relu)");
}

TEST(OnnxDamaged, NodesReadWhatThereIs) {
  OnnxModel m;
  m.input("x", {2});
  m.node("Add", {"x", "nothing"}, {"y"}, {}, "sum");
  m.output("y");
  EXPECT_EQ(m.error(),
            "m.onnx: node 'sum' (Add) reads 'nothing', which is neither an input nor computed");
  OnnxModel output;
  output.input("x", {2});
  output.node("Relu", {"x"}, {"y"});
  output.output("z");
  EXPECT_EQ(output.error(), "m.onnx: output 'z' is computed by no node");
  OnnxModel operand;
  operand.input("x", {2});
  operand.node("Add", {"x"}, {"y"}, {}, "sum");
  operand.output("y");
  EXPECT_EQ(operand.error(), "node 'sum' (Add): operand 1 is missing");
  OnnxModel left_out;
  left_out.input("x", {2});
  left_out.node("Add", {"", "x"}, {"y"});
  left_out.output("y");
  EXPECT_EQ(left_out.error(), "node 'y' (Add): operand 0 is missing");
}

TEST(OnnxDamaged, NothingIsThereTwice) {
  OnnxModel twice;
  twice.input("x", {2});
  twice.node("Relu", {"x"}, {"y"}, {}, "a");
  twice.node("Neg", {"x"}, {"y"}, {}, "b");
  twice.output("y");
  EXPECT_EQ(twice.error(), "node 'b' (Neg): 'y' is computed twice");
  OnnxModel shadowing;
  shadowing.input("x", {2});
  shadowing.node("Relu", {"x"}, {"x"}, {}, "a");
  shadowing.output("x");
  EXPECT_EQ(shadowing.error(), "node 'a' (Relu): 'x' is computed twice");
  OnnxModel initialisers;
  initialisers.reals("w", {1, 2});
  initialisers.reals("w", {1, 2});
  initialisers.output("w");
  EXPECT_EQ(initialisers.error(), "m.onnx: there are two initialisers 'w'");
  OnnxModel inputs;
  inputs.input("x", {2});
  inputs.input("x", {2});
  inputs.output("x");
  EXPECT_EQ(inputs.error(), "m.onnx: there are two inputs 'x'");
  OnnxModel one_node;
  one_node.input("x", {4});
  one_node.integers("k", {2});
  one_node.node("TopK", {"x", "k"}, {"y", "y"}, {}, "top");
  one_node.output("y");
  EXPECT_EQ(one_node.error(), "node 'top' (TopK): 'y' is computed twice");
}

TEST(OnnxDamaged, OutputsMayRepeatAndMayBeInputs) {
  OnnxModel m;
  m.input("x", {2});
  m.node("Relu", {"x"}, {"y"});
  m.reals("w", {1});
  for (const char* name : {"y", "y", "x", "w"}) m.output(name);
  EXPECT_EQ(print_onnx(m), R"(graph g
input x: f32[2]
weight "w/constant": f32[1] = [1.0]
y = relu(x): f32[2]
y_1 = identity(y): f32[2]
x_1 = identity(x): f32[2] as x
w = identity("w/constant"): f32[1]
output y
output y_1
output x_1
output w
)");
}

TEST(OnnxDamaged, NodesMayBeUnsorted) {
  OnnxModel m;
  m.input("x", {2});
  for (int i = 8000; i-- > 0;) {
    m.node("Relu", {i == 0 ? "x" : fmt::format("v{}", i)}, {fmt::format("v{}", i + 1)});
  }
  m.output("v8000");
  Graph graph = m.parse();
  ASSERT_EQ(graph.nodes.size(), 8000u);
  EXPECT_EQ(graph.nodes[0].name, "v1");
  EXPECT_EQ(graph.nodes[7999].name, "v8000");
}

TEST(OnnxDamaged, SplitsIntoNothing) {
  OnnxModel m;
  m.input("x", {4});
  m.node("Split", {"x"}, {}, {}, "split");
  m.output("x");
  EXPECT_EQ(m.error(), "node 'split' (Split): it has no outputs");
}

}  // namespace
}  // namespace lathe::test
