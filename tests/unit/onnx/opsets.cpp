// What changed between operator sets: attributes that became operands, and meanings.
#include <gtest/gtest.h>

#include "support/onnx_model.h"

namespace lathe::test {
namespace {

/// Returns the only node of the graph that a model of one node, x -> y, becomes.
std::string node_of(const OnnxModel& model) {
  Graph graph;
  EXPECT_NO_THROW(graph = model.parse()) << model.error();
  std::string text = print(graph);
  size_t at = text.find("\ny"), end = text.find("output");
  return at == std::string::npos ? text : text.substr(at + 1, end - at - 2);
}

/// A model x -> y. "operands" are initialisers in new operator sets.
struct Case {
  std::string op;
  Shape input;
  Attributes attributes;
  std::vector<std::pair<std::string, Array>> operands;
  std::string node;
};

Array longs(const std::vector<long>& list) {
  return Array::of_integers(Element::i64, {static_cast<long>(list.size())}, list);
}
Array one(double value) { return Array::of_reals(Element::f32, {}, std::vector<double>{value}); }

void expect_same(const Case& c, long since) {
  for (long opset = 7; opset <= 22; ++opset) {
    SCOPED_TRACE(fmt::format("{} of operator set {}", c.op, opset));
    OnnxModel m(opset);
    m.input("x", c.input);
    std::vector<std::string> inputs{"x"};
    Attributes attributes;
    if (opset < since) {
      attributes = c.attributes;
    } else {
      for (const auto& [name, data] : c.operands) {
        m.initialiser(name, data);
        inputs.push_back(name);
      }
    }
    m.node(c.op, inputs, {"y"}, attributes);
    m.output("y");
    EXPECT_EQ(node_of(m), c.node);
  }
}

TEST(OnnxOpset, AttributesThatBecameOperands) {
  expect_same({"Clip",
               {4},
               {{"min", -1.0}, {"max", 5.0}},
               {{"min", one(-1)}, {"max", one(5)}},
               "y = clip(x, max=5.0, min=-1.0): f32[4]"},
              11);
  expect_same({"Squeeze",
               {1, 4, 1},
               {{"axes", Shape{0}}},
               {{"axes", longs({0})}},
               "y = reshape(x, shape=[4, 1]): f32[4x1]"},
              13);
  expect_same({"Squeeze", {1, 4, 1}, {}, {}, "y = reshape(x, shape=[4]): f32[4]"}, 13);
  expect_same({"Unsqueeze",
               {4},
               {{"axes", Shape{0, 2}}},
               {{"axes", longs({0, -1})}},
               "y = reshape(x, shape=[1, 4, 1]): f32[1x4x1]"},
              13);
  expect_same({"Slice",
               {4, 8},
               {{"axes", Shape{1}}, {"starts", Shape{2}}, {"ends", Shape{100}}},
               {{"starts", longs({2})}, {"ends", longs({100})}, {"axes", longs({1})}},
               "y = slice(x, sizes=[4, 6], starts=[0, 2]): f32[4x6]"},
              10);
  expect_same({"Pad",
               {4},
               {{"pads", Shape{1, 2}}, {"value", 3.0}},
               {{"pads", longs({1, 2})}, {"value", one(3)}},
               "y = pad(x, pads=[1, 2], value=3.0): f32[7]"},
              11);
  expect_same({"ReduceSum",
               {4, 5},
               {{"axes", Shape{1}}},
               {{"axes", longs({1})}},
               "y = reduce_sum(x, axes=[1]): f32[4x1]"},
              13);
  expect_same({"ReduceMean",
               {4, 5},
               {{"axes", Shape{1}}},
               {{"axes", longs({1})}},
               "y = reduce_mean(x, axes=[1]): f32[4x1]"},
              18);
  expect_same({"TopK",
               {4, 5},
               {{"k", 2L}},
               {{"k", longs({2})}},
               "y, y.1 = top_k(x, k=2): f32[4x2], i64[4x2]"},
              10);
  expect_same({"Dropout", {4}, {{"ratio", 0.5}}, {{"ratio", one(0.5)}}, "y = identity(x): f32[4]"},
              12);
}

TEST(OnnxOpset, Split) {
  for (long opset = 7; opset <= 22; ++opset) {
    OnnxModel m(opset);
    m.input("x", {5});
    if (opset < 13) {
      m.node("Split", {"x"}, {"y", "z"}, {{"split", Shape{2, 3}}});
    } else {
      m.integers("split", {2, 3});
      m.node("Split", {"x", "split"}, {"y", "z"});
    }
    m.output("y");
    m.output("z");
    EXPECT_EQ(node_of(m),
              "y = slice(x, sizes=[2], starts=[0]): f32[2]\n"
              "z = slice(x, sizes=[3], starts=[2]): f32[3] as y_1");
  }
  for (const Shape& parts : {Shape{2, 4}, Shape{-1, 6}, Shape{5}}) {
    OnnxModel m;
    m.input("x", {5});
    m.integers("split", parts);
    m.node("Split", {"x", "split"}, {"y", "z"});
    m.output("y");
    EXPECT_EQ(m.error(), "node 'y' (Split): its parts do not fit");
  }
}

TEST(OnnxOpset, SoftmaxFlattenedUntil13) {
  auto softmax = [](long opset, const Attributes& attributes) {
    OnnxModel m(opset);
    m.input("x", {2, 3, 4});
    m.node("Softmax", {"x"}, {"y"}, attributes);
    m.output("y");
    return structural_hash(m.parse());
  };
  auto hash = [](const std::string& nodes) {
    return structural_hash(parse_graph("graph g\ninput x: f32[2x3x4]\n" + nodes + "\noutput y"));
  };
  uint64_t last = hash("y = softmax(x): f32[2x3x4]");
  EXPECT_EQ(softmax(13, {}), last);
  EXPECT_EQ(softmax(13, {{"axis", 1L}}), hash("y = softmax(x, axis=1): f32[2x3x4]"));
  EXPECT_EQ(softmax(12, {{"axis", 2L}}), last);
  EXPECT_EQ(softmax(12, {}), hash("a = reshape(x, shape=[2, 12]): f32[2x12]\n"
                                  "b = softmax(a): f32[2x12]\n"
                                  "y = reshape(b, shape=[2, 3, 4]): f32[2x3x4]"));
}

TEST(OnnxOpset, UpsampleAndResize) {
  const std::string taken = "y = take(x, axis=2, indices=[0, 0, 1, 1]): f32[1x1x4]";
  for (long opset : {7, 9, 10, 11, 13, 18, 19}) {
    SCOPED_TRACE(opset);
    OnnxModel m(opset);
    m.input("x", {1, 1, 2});
    m.reals("scales", {1, 1, 2});
    Attributes mode{{"mode", std::string("nearest")}};
    if (opset == 7) {
      mode["scales"] = std::vector<double>{1, 1, 2};
      m.node("Upsample", {"x"}, {"y"}, mode);
    } else if (opset == 9) {
      m.node("Upsample", {"x", "scales"}, {"y"}, mode);
    } else if (opset == 10) {
      m.node("Resize", {"x", "scales"}, {"y"}, mode);
    } else {
      m.node("Resize", {"x", "", "scales"}, {"y"}, mode);
    }
    m.output("y");
    EXPECT_EQ(node_of(m), taken);
  }
}

TEST(OnnxOpset, DropoutInTraining) {
  OnnxModel m(13);
  m.input("x", {4});
  m.real("ratio", 0.5);
  m.initialiser("training", Array::of<bool>({}, {true}));
  m.node("Dropout", {"x", "ratio", "training"}, {"y"});
  m.output("y");
  EXPECT_EQ(m.error(), "node 'y' (Dropout): dropping at random, as in training");
  OnnxModel mask(13);
  mask.input("x", {2});
  mask.node("Dropout", {"x"}, {"y", "m"});
  mask.output("y");
  mask.output("m");
  EXPECT_EQ(print_onnx(mask),
            "graph g\ninput x: f32[2]\nconstant \"m/constant\": bool[2] = [1, 1]\ny = identity(x): "
            "f32[2]\n"
            "m = identity(\"m/constant\"): bool[2]\noutput y\noutput m\n");
}

}  // namespace
}  // namespace lathe::test
