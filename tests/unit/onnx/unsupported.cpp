// Models that are right but use what Lathe does not have, and attributes of the wrong type.
#include <gtest/gtest.h>

#include "support/onnx_model.h"

namespace lathe::test {
namespace {

TEST(OnnxUnsupported, AllOperatorsAreListedAtOnce) {
  OnnxModel m(21);
  m.input("x", {2});
  m.node("ImageDecoder", {"x"}, {"a"}, {}, "image");
  m.node("Relu", {"x"}, {"b"}, {}, "fine");
  m.node("Attention", {"x"}, {"c"}).set_domain("com.microsoft");
  m.node("Invented", {"x"}, {}, {}, "last").set_domain("ai.onnx");
  m.opset_import("com.microsoft", 3);
  m.node("Relu", {"x"}, {"d"}, {}, "relu").set_domain("custom");
  m.output("b");
  EXPECT_EQ(m.error(),
            "m.onnx: these operators are not supported:\n"
            "  ImageDecoder (domain ai.onnx, operator set 21), node 'image'\n"
            "  Attention (domain com.microsoft, operator set 3), node 'c'\n"
            "  Invented (domain ai.onnx, operator set 21), node 'last'\n"
            "  Relu (domain custom, operator set not stated), node 'relu'");
  EXPECT_THROW(m.parse(), Unsupported);
}

TEST(OnnxUnsupported, SparseInitialisers) {
  OnnxModel m;
  m.input("x", {2});
  m.graph().add_sparse_initializer();
  m.output("x");
  EXPECT_EQ(m.error(), "m.onnx: sparse initialisers are not supported");
}

TEST(OnnxUnsupported, DomainsOfOnnxItself) {
  OnnxModel m;
  m.input("x", {2});
  m.node("Relu", {"x"}, {"y"}).set_domain("ai.onnx");
  m.output("y");
  EXPECT_EQ(m.error(), "");
  m.model().clear_opset_import();
  EXPECT_EQ(m.error(),
            "'m.onnx' does not say which operator sets it means: it is damaged or truncated");
  m.model().set_ir_version(2);
  EXPECT_EQ(m.error(), "");
  m.opset_import("ai.onnx", 13);
  EXPECT_EQ(m.error(), "");
}

TEST(OnnxUnsupported, AttributesOfTheWrongType) {
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, Attribute>>{{"pads", 1L},
                                                      {"strides", std::vector<double>{1, 1}},
                                                      {"auto_pad", 1L},
                                                      {"group", std::string("1")},
                                                      {"dilations", std::string("1")},
                                                      {"kernel_shape", 0.5}}) {
    OnnxModel m;
    m.input("x", {1, 2, 4, 4});
    m.initialiser("w", Array(Element::f32, {2, 2, 1, 1}));
    m.node("Conv", {"x", "w"}, {"y"}, {{name, value}}, "conv");
    m.output("y");
    EXPECT_EQ(m.error(), "node 'conv' (Conv): attribute '" + name + "' has the wrong type");
  }
  OnnxModel m;
  m.input("x", {2});
  m.node("LeakyRelu", {"x"}, {"y"}, {{"alpha", 1L}});
  m.output("y");
  EXPECT_EQ(m.error(), "node 'y' (LeakyRelu): attribute 'alpha' has the wrong type");
}

TEST(OnnxUnsupported, AttributesOfTheFirstVersionsHaveNoType) {
  OnnxModel m;
  m.input("x", {2});
  onnx::NodeProto& node = m.node("LeakyRelu", {"x"}, {"y"}, {{"alpha", 0.5}});
  node.mutable_attribute(0)->clear_type();
  m.output("y");
  EXPECT_EQ(print_onnx(m),
            "graph g\ninput x: f32[2]\ny = leaky_relu(x, alpha=0.5): f32[2]\noutput y\n");
}

TEST(OnnxUnsupported, Texts) {
  OnnxModel m;
  m.input("x", {2}, Element::string);
  m.node("Add", {"x", "x"}, {"y"});
  m.output("y");
  EXPECT_EQ(m.error(), "node 'y' (Add): computing with texts");
  OnnxModel cast;
  cast.input("x", {2});
  cast.node("Cast", {"x"}, {"y"}, {{"to", 8L}});
  cast.output("y");
  EXPECT_EQ(cast.error(), "node 'y' (Cast): texts are not converted");
  OnnxModel float8;
  float8.input("x", {2});
  float8.node("Cast", {"x"}, {"y"}, {{"to", 17L}});
  float8.output("y");
  EXPECT_EQ(float8.error(), "node 'y' (Cast): elements of type FLOAT8E4M3FN are not supported");
  OnnxModel beyond;
  beyond.input("x", {2});
  beyond.node("Cast", {"x"}, {"y"}, {{"to", (1L << 32) + 1}});
  beyond.output("y");
  EXPECT_EQ(beyond.error(),
            "node 'y' (Cast): elements of type number 4294967297 are not supported");
}

TEST(OnnxUnsupported, Sequences) {
  OnnxModel m;
  m.input("x", {2});
  m.node("SequenceConstruct", {"x", "x"}, {"s"});
  m.output("s");
  EXPECT_EQ(m.error(), "m.onnx: output 's' is a sequence");
  OnnxModel used;
  used.input("x", {2});
  used.node("SequenceConstruct", {"x", "x"}, {"s"});
  used.node("Relu", {"s"}, {"y"});
  used.output("y");
  EXPECT_EQ(used.error(), "node 'y' (Relu): 's' is a sequence");
}

}  // namespace
}  // namespace lathe::test
