// Models that claim huge tensors: an error, or a node that nothing is allocated for.
#include <gtest/gtest.h>

#include <fstream>

#include "ops/op.h"
#include "poly/isl.h"
#include "support/onnx_model.h"

namespace lathe::test {
namespace {

constexpr long huge = 1L << 40, beyond = 1L << 62;

/// Returns what the system says of this process, in kilobytes.
long kilobytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name)) return std::stol(line.substr(name.size()));
  }
  return 0;
}

/// Expects this message, or a graph if it is empty, and little memory.
void expect_small(const OnnxModel& model, const std::string& message) {
  std::ofstream("/proc/self/clear_refs") << 5;  // the peak counts from here, not other tests'
  long before = kilobytes("VmRSS:");
  EXPECT_EQ(model.error(), message);
  EXPECT_LT(kilobytes("VmHWM:") - before, 1L << 20) << "kilobytes";
}

TEST(OnnxHuge, ConstantOfShape) {
  OnnxModel m;
  m.integers("shape", {huge});
  m.node("ConstantOfShape", {"shape"}, {"y"});
  m.output("y");
  expect_small(m, "");
  EXPECT_EQ(m.parse().nodes[0].op, "expand");
  OnnxModel larger;
  larger.integers("shape", {huge, huge});
  larger.node("ConstantOfShape", {"shape"}, {"y"});
  larger.output("y");
  expect_small(
      larger,
      "node 'y' (ConstantOfShape): a tensor of the shape 1099511627776x1099511627776 is too large");
  OnnxModel negative;
  negative.integers("shape", {-1});
  negative.node("ConstantOfShape", {"shape"}, {"y"});
  negative.output("y");
  expect_small(negative, "node 'y' (ConstantOfShape): a tensor cannot have the shape -1");
}

TEST(OnnxHuge, Expand) {
  for (const auto& [shape, message] : std::vector<std::pair<Shape, std::string>>{
           {{huge}, ""},
           {{beyond}, "node 'y' (Expand): a tensor of the shape 4611686018427387904 is too large"},
           {{beyond, beyond},
            "node 'y' (Expand): a tensor of the shape 4611686018427387904x4611686018427387904 is "
            "too large"}}) {
    OnnxModel m;
    m.reals("x", {1});
    m.integers("shape", shape);
    m.node("Expand", {"x", "shape"}, {"y"});
    m.output("y");
    expect_small(m, message);
  }
}

TEST(OnnxHuge, Tile) {
  for (const auto& [repeats, message] : std::vector<std::pair<Shape, std::string>>{
           {{huge}, "node 'y' (Tile): it repeats too often"},
           {{beyond}, "node 'y' (Tile): it repeats too often"},
           {{-1}, "node 'y' (Tile): it repeats too often"}}) {
    OnnxModel m;
    m.input("x", {8});
    m.integers("repeats", repeats);
    m.node("Tile", {"x", "repeats"}, {"y"});
    m.output("y");
    expect_small(m, message);
  }
}

TEST(OnnxHuge, Range) {
  for (const auto& [limit, message] :
       std::vector<std::pair<long, std::string>>{{huge, "node 'y' (Range): the range is too long"},
                                                 {std::numeric_limits<long>::lowest(), ""}}) {
    OnnxModel m;
    m.integer("start", 0);
    m.integer("limit", limit);
    m.integer("delta", 1);
    m.node("Range", {"start", "limit", "delta"}, {"y"});
    m.output("y");
    expect_small(m, message);
  }
}

TEST(OnnxHuge, Pad) {
  for (const std::string mode : {"constant", "edge", "reflect", "wrap"}) {
    for (const Shape& pads :
         {Shape{beyond, 0}, Shape{0, beyond}, Shape{huge, huge}, Shape{beyond, beyond},
          Shape{-beyond, 0}, Shape{std::numeric_limits<long>::lowest(), 0}}) {
      SCOPED_TRACE(mode + " " + print_shape(pads));
      OnnxModel m;
      m.input("x", {8});
      m.integers("pads", pads);
      m.node("Pad", {"x", "pads"}, {"y"}, {{"mode", mode}});
      m.output("y");
      std::string message = m.error();
      EXPECT_TRUE(message.empty() || message.starts_with("node 'y' (Pad): ")) << message;
    }
  }
}

TEST(OnnxHuge, PadsOfNothing) {
  for (const std::string mode : {"edge", "reflect", "wrap"}) {
    OnnxModel m;
    m.input("x", {0});
    m.integers("pads", {1, 1});
    m.node("Pad", {"x", "pads"}, {"y"}, {{"mode", mode}});
    m.output("y");
    expect_small(m, "node 'y' (Pad): nothing can be repeated of an empty dimension");
  }
}

TEST(OnnxHuge, Resize) {
  for (const std::string mode : {"nearest", "linear", "cubic"}) {
    for (const auto& [extent, size] : std::vector<std::pair<long, long>>{
             {8, huge}, {8, beyond}, {huge, 8}, {huge, 1L << 20}, {1L << 24, 1L << 20}}) {
      SCOPED_TRACE(fmt::format("{} {} {}", mode, extent, size));
      OnnxModel m;
      m.input("x", {1, 1, extent});
      m.integers("sizes", {1, 1, size});
      m.node("Resize", {"x", "", "", "sizes"}, {"y"}, {{"mode", mode}});
      m.output("y");
      std::string message = m.error();
      EXPECT_TRUE(message.empty() || message.starts_with("node 'y' (Resize): ")) << message;
    }
    OnnxModel up(9);
    up.input("x", {huge});
    up.reals("scales", {100000});
    up.node("Upsample", {"x", "scales"}, {"y"}, {{"mode", mode == "cubic" ? "linear" : mode}});
    up.output("y");
    expect_small(up, "node 'y' (Upsample): a scale is out of range");
  }
}

TEST(OnnxHuge, MasksOfHugeInputs) {
  const Shape shape{1L << 20, 1L << 20};
  for (const std::string op : {"EyeLike", "Trilu", "Dropout"}) {
    OnnxModel m(13);
    m.input("x", shape);
    m.node(op, {"x"},
           op == "Dropout" ? std::vector<std::string>{"y", "mask"} : std::vector<std::string>{"y"});
    m.output("y");
    if (op == "Dropout") m.output("mask");
    expect_small(m, fmt::format("node 'y' ({}): too many elements to store", op));
  }
  OnnxModel empty;
  empty.input("x", {0, beyond});
  empty.node("EyeLike", {"x"}, {"y"});
  empty.output("y");
  expect_small(empty, "");
}

TEST(OnnxHuge, Normalisations) {
  OnnxModel m;
  m.input("x", {1, 1, huge});
  m.reals("s", {1});
  m.node("InstanceNormalization", {"x", "s", "s"}, {"y"});
  m.output("y");
  expect_small(m, "node 'y' (InstanceNormalization): too many elements to store");
}

TEST(OnnxHuge, Windows) {
  for (const std::string op : {"AveragePool", "MaxPool", "LpPool"}) {
    for (const auto& [name, value] : std::vector<std::pair<std::string, long>>{
             {"kernel_shape", beyond},
             {"kernel_shape", 1L << 30},
             {"kernel_shape", -1},
             {"strides", beyond},
             {"strides", 0},
             {"strides", -1},
             {"pads", beyond},
             {"dilations", beyond},
             {"dilations", std::numeric_limits<long>::max()}}) {
      for (const std::string automatic : {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"}) {
        SCOPED_TRACE(fmt::format("{} {} {} {}", op, name, value, automatic));
        OnnxModel m(22);
        m.input("x", {1, 1, 8});
        Attributes attributes{{"kernel_shape", Shape{2}}, {"auto_pad", automatic}};
        attributes[name] = Shape(name == "pads" ? 2 : 1, value);
        m.node(op, {"x"}, {"y"}, attributes);
        m.output("y");
        std::string message = m.error();
        EXPECT_TRUE(message.empty() || message.starts_with("node 'y' (" + op)) << message;
      }
    }
  }
}

TEST(OnnxHuge, TransposedConvolutions) {
  for (const Attributes& attributes :
       {Attributes{{"auto_pad", std::string("SAME_UPPER")}, {"strides", Shape{1L << 62, 1}}},
        Attributes{{"output_shape", Shape{1L << 62, 1}}},
        Attributes{{"auto_pad", std::string("SAME_UPPER")}, {"strides", Shape{2}}},
        Attributes{{"output_shape", Shape{4, 4}}, {"pads", Shape{1}}},
        Attributes{{"output_shape", Shape{4, 4}}, {"dilations", Shape{1}}},
        Attributes{{"output_shape", Shape{4}}}}) {
    OnnxModel m;
    m.input("x", {1, 1, 4, 4});
    m.initialiser("w", Array(Element::f32, {1, 1, 3, 3}));
    m.node("ConvTranspose", {"x", "w"}, {"y"}, attributes);
    m.output("y");
    std::string message = m.error();
    EXPECT_TRUE(message.starts_with("node 'y' (ConvTranspose): ")) << message;
  }
  OnnxModel m;
  m.input("x", {1, 1});
  m.initialiser("w", Array(Element::f32, {1, 1, 3, 3}));
  m.node("ConvTranspose", {"x", "w"}, {"y"}, {{"auto_pad", std::string("SAME_UPPER")}});
  m.output("y");
  expect_small(m, "node 'y' (ConvTranspose): its attributes do not fit an input 1x1");
}

TEST(OnnxHuge, FoldingDoesNotGrow) {
  OnnxModel m;
  m.reals("v0", {1, 2});
  for (int i = 0; i < 40; ++i) {
    std::string from = fmt::format("v{}", i);
    m.node("Concat", {from, from}, {fmt::format("v{}", i + 1)}, {{"axis", 0L}});
  }
  m.output("v40");
  expect_small(m, "");
}

TEST(OnnxHuge, FoldingDoesNotTakeLong) {
  OnnxModel m;
  std::vector<double> numbers(20000, 1);
  for (const char* name : {"a", "b", "c", "d"}) m.reals(name, numbers);
  m.node("Einsum", {"a", "b", "c", "d"}, {"y"}, {{"equation", std::string("a,b,c,d->")}});
  m.output("y");
  expect_small(m, "");
  EXPECT_EQ(m.parse().nodes[0].op, "einsum");
}

TEST(OnnxHuge, Sequences) {
  OnnxModel m;
  m.input("x", {huge});
  m.node("SplitToSequence", {"x"}, {"s"});
  m.node("SequenceLength", {"s"}, {"y"});
  m.output("y");
  expect_small(m, "node 's' (SplitToSequence): too many elements to store");
  OnnxModel gap;
  gap.input("x", {2});
  gap.node("SequenceConstruct", {"x", "", "x"}, {"s"});
  gap.node("ConcatFromSequence", {"s"}, {"y"}, {{"axis", 0L}});
  gap.output("y");
  expect_small(gap, "node 's' (SequenceConstruct): operand 1 is missing");
}

TEST(OnnxHuge, Blocks) {
  for (const std::string op : {"DepthToSpace", "SpaceToDepth"}) {
    for (long size : {1L << 32, 0L, -1L, beyond}) {
      OnnxModel m;
      m.input("x", {1, 4, 4, 4});
      m.node(op, {"x"}, {"y"}, {{"blocksize", size}});
      m.output("y");
      expect_small(m, fmt::format("node 'y' ({}): its blocks do not fit", op));
    }
  }
}

TEST(OnnxHuge, LabelsWithoutABatch) {
  OnnxModel m;
  m.input("x", {2, 3});
  m.input("labels", {}, Element::i64);
  m.node("NegativeLogLikelihoodLoss", {"x", "labels"}, {"y"});
  m.output("y");
  expect_small(m, "node 'y' (NegativeLogLikelihoodLoss): its labels have no batch");
}

TEST(OnnxHuge, Reductions) {
  for (const std::string op : {"GlobalAveragePool", "GlobalMaxPool", "ReduceSum", "Softmax"}) {
    OnnxModel m;
    m.input("x", {1, 1, huge});
    m.node(op, {"x"}, {"y"});
    m.output("y");
    expect_small(m, "");
  }
}

TEST(OnnxHuge, NoNestIsThatLarge) {
  Context context;
  for (const std::string text :
       {"global_pool(f32[1x4x1099511627776])", "relu(f32[1099511627776])",
        "avg_pool(f32[1x4x1099511627776], kernel=[2])", "reduce_sum(f32[1099511627776])"}) {
    expect_failure([&] { nest_of(context, parse_call(text)); },
                   {"is too large for a nest: a dimension is at most 1073741824"});
  }
  for (const std::string op : {"avg_pool", "max_pool", "lp_pool"}) {
    std::string text = op + "(f32[1x4x8], kernel=[4611686018427387904])";
    expect_failure([&] { infer(parse_call(text)); }, {op + ": the kernel", "is too large"});
    text = op + "(f32[1x4x1073741824], kernel=[1073741824])";
    EXPECT_NO_THROW(nest_of(context, parse_call(text))) << text;
  }
}

TEST(OnnxHuge, AttributesOfManyKinds) {
  OnnxModel reshape;
  reshape.input("x", {8});
  reshape.integers("shape", {beyond, 4, -1});
  reshape.node("Reshape", {"x", "shape"}, {"y"});
  reshape.output("y");
  expect_small(reshape, "node 'y' (Reshape): [4611686018427387904, 4, -1] does not fit 8");
  OnnxModel top;
  top.input("x", {8});
  top.integers("k", {beyond});
  top.node("TopK", {"x", "k"}, {"y", "i"});
  top.output("y");
  expect_small(
      top,
      "node 'y' (TopK): top_k: k=4611686018427387904 is more than the 8 elements along axis 0");
  OnnxModel hot;
  hot.input("x", {8}, Element::i64);
  hot.integer("depth", beyond);
  hot.reals("values", {0, 1});
  hot.node("OneHot", {"x", "depth", "values"}, {"y"});
  hot.output("y");
  expect_small(hot, "node 'y' (OneHot): a tensor of the shape 8x4611686018427387904 is too large");
  OnnxModel slice;
  slice.input("x", {8});
  slice.integers("starts", {std::numeric_limits<long>::lowest()});
  slice.integers("ends", {std::numeric_limits<long>::max()});
  slice.integers("axes", {0});
  slice.integers("steps", {std::numeric_limits<long>::lowest()});
  slice.node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"y"});
  slice.output("y");
  expect_small(slice, "");
}

}  // namespace
}  // namespace lathe::test
