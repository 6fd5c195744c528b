// FakeQuantizationToInteger: dequantize moves behind what integers can do.
#include "support/run_graph.h"

namespace lathe::test {
namespace {

std::string integers(const std::string& text) {
  return print_nodes(after_pass("FakeQuantizationToInteger",
                                "graph g\n"
                                "input x: f32[1x2x4x4]\n"
                                "constant s: f32[] = [0.05]\n"
                                "constant t: f32[] = [0.11]\n"
                                "constant z: i8[] = [3]\n"
                                "q = quantize(x, s, z, to=\"i8\"): i8[1x2x4x4]\n"
                                "d = dequantize(q, s, z): f32[1x2x4x4]\n" +
                                    text));
}

/// Returns the nodes behind the first two, which are always the same.
std::string rest(const std::string& nodes) {
  return nodes.substr(nodes.find('\n', nodes.find('\n') + 1) + 1);
}

bool has(const std::string& nodes, const std::string& part) {
  return nodes.find(part) != std::string::npos;
}

TEST(FakeQuantizationToInteger, ConvolvesIntegers) {
  std::string nodes = integers(
      "weight w: i8[3x2x1x1] = [1, -2, 3, 100, -128, 5]\n"
      "constant u: f32[3x1x1x1] = [0.01, 0.02, 0.03]\n"
      "e = dequantize(w, u): f32[3x2x1x1]\n"
      "c = conv(d, e): f32[1x3x4x4]\n"
      "r = relu(c): f32[1x3x4x4]\n"
      "m = max_pool(r, kernel=[2, 2], strides=[2, 2]): f32[1x3x2x2]\n"
      "y = quantize(m, t, to=\"i8\"): i8[1x3x2x2]\n"
      "output y\n");
  // The zero point 3 is taken out of the sums: the bias has -3 times the sums of the weights.
  EXPECT_TRUE(has(nodes, "c.conv = conv(q, w, c.bias, to=\"i32\"): i32[1x3x4x4]")) << nodes;
  EXPECT_TRUE(has(nodes, "c = dequantize(c.conv, c.mul): f32[1x3x4x4]")) << nodes;
  EXPECT_TRUE(has(nodes, "r = relu(c): f32[1x3x4x4]")) << nodes;
  EXPECT_FALSE(has(nodes, "d = ")) << nodes;
}

TEST(FakeQuantizationToInteger, PaddingHoldsWhatStandsForZero) {
  std::string nodes = integers(
      "weight w: i8[2x1x3x3] = normal(20.0)\n"
      "e = dequantize(w, t): f32[2x1x3x3]\n"
      "c = conv(d, e, groups=2, pads=[1, 0, 1, 1], strides=[2, 1]): f32[1x2x2x3]\n"
      "y = quantize(c, s, z, to=\"i8\"): i8[1x2x2x3]\n"
      "output y\n");
  EXPECT_TRUE(has(nodes, "padding=3")) << nodes;
}

TEST(FakeQuantizationToInteger, DataWithoutASignGetOne) {
  std::string nodes = print_nodes(after_pass("FakeQuantizationToInteger",
                                             "graph g\n"
                                             "input x: f32[1x2x4x4]\n"
                                             "constant s: f32[] = [0.05]\n"
                                             "constant z: u8[] = [131]\n"
                                             "weight w: u8[3x2x1x1] = [1, 2, 3, 100, 255, 5]\n"
                                             "q = quantize(x, s, z): u8[1x2x4x4]\n"
                                             "d = dequantize(q, s, z): f32[1x2x4x4]\n"
                                             "e = dequantize(w, s, z): f32[3x2x1x1]\n"
                                             "c = conv(d, e): f32[1x3x4x4]\n"
                                             "output c\n"));
  EXPECT_TRUE(has(nodes, "q = quantize(x, s, z_1, to=\"i8\"): i8[1x2x4x4]")) << nodes;
  // Weights from 1 to 255 less 131 fit no 8 bits.
  EXPECT_TRUE(has(nodes, "c.conv = conv(q, c.sub, c.bias, to=\"i32\")")) << nodes;
}

/// Returns a convolution of two channels, on integers with a zero point, between zeros.
Graph padded_convolution() {
  return initialised(parse_graph("graph g\n"
                                 "input x: f32[1x2x4x4]\n"
                                 "constant s: f32[] = [0.05]\n"
                                 "constant z: i8[] = [3]\n"
                                 "weight w: i8[3x2x3x3] = normal(20.0)\n"
                                 "q = quantize(x, s, z, to=\"i8\"): i8[1x2x4x4]\n"
                                 "d = dequantize(q, s, z): f32[1x2x4x4]\n"
                                 "e = dequantize(w, s): f32[3x2x3x3]\n"
                                 "c = conv(d, e, pads=[1, 1, 1, 1]): f32[1x3x4x4]\n"
                                 "output c\n"),
                     1);
}

TEST(FakeQuantizationToInteger, ChannelsFillInstructions) {
  Graph before = padded_convolution();
  Graph after = find_pass("FakeQuantizationToInteger").run(before, {.terms = 4});
  expect_same_outputs(before, after, 1e-4);
  EXPECT_TRUE(has(print_nodes(after), "c.pad = pad(q, pads=[0, 0, 0, 0, 0, 2, 0, 0])"))
      << print_nodes(after);
  Graph enough = find_pass("FakeQuantizationToInteger").run(before, {.terms = 2});
  EXPECT_FALSE(has(print_nodes(enough), "pad(")) << print_nodes(enough);
}

TEST(FakeQuantizationToInteger, DataHaveTheSignThatProcessorsLike) {
  Graph before = padded_convolution();
  Graph after = find_pass("FakeQuantizationToInteger").run(before, {.data = Element::u8});
  expect_same_outputs(before, after, 1e-4);
  EXPECT_TRUE(has(print_nodes(after), "q = quantize(x, s, z_1): u8[1x2x4x4]"));
  EXPECT_TRUE(has(print_nodes(after), "padding=131"));
}

TEST(FakeQuantizationToInteger, GivenBytesAreConverted) {
  std::string nodes = print_nodes(after_pass("FakeQuantizationToInteger",
                                             "graph g\n"
                                             "input x: u8[1x2x4x4]\n"
                                             "constant s: f32[] = [0.05]\n"
                                             "weight w: i8[3x2x3x3] = normal(20.0)\n"
                                             "d = dequantize(x, s): f32[1x2x4x4]\n"
                                             "e = dequantize(w, s): f32[3x2x3x3]\n"
                                             "c = conv(d, e, pads=[1, 1, 1, 1]): f32[1x3x4x4]\n"
                                             "output c\n"));
  EXPECT_TRUE(has(nodes, "padding=-128")) << nodes;
}

TEST(FakeQuantizationToInteger, ABiasOfTheSameScaleIsOneOfTheSummands) {
  auto biased = [](const std::string& scale) {
    return integers(
        "weight w: i8[3x2x1x1] = [1, -2, 3, 100, -128, 5]\n"
        "weight b: i32[3] = [100, -200, 3]\n"
        "constant u: f32[] = [" +
        scale +
        "]\n"
        "e = dequantize(w, t): f32[3x2x1x1]\n"
        "f = dequantize(b, u): f32[3]\n"
        "c = conv(d, e, f): f32[1x3x4x4]\n"
        "output c\n");
  };
  EXPECT_TRUE(has(biased("0.0055"), "c = dequantize(c.conv, c.mul)"));
  EXPECT_TRUE(has(biased("0.0044"), "c = add(c.dequantize, c.reshape)"));
}

TEST(FakeQuantizationToInteger, WhatOnlyMovesCancels) {
  EXPECT_EQ(integers("r = relu(d): f32[1x2x4x4]\n"
                     "m = max_pool(r, kernel=[2, 2], pads=[1, 1, 0, 0]): f32[1x2x4x4]\n"
                     "t2 = transpose(m, perm=[0, 2, 3, 1]): f32[1x4x4x2]\n"
                     "f = reshape(t2, shape=[1, 32]): f32[1x32]\n"
                     "y = quantize(f, s, z, to=\"i8\"): i8[1x32]\n"
                     "output y\n"),
            "q = quantize(x, s, z, to=\"i8\"): i8[1x2x4x4]\n"
            "r.maximum = maximum(q, z): i8[1x2x4x4]\n"
            "m.max_pool = max_pool(r.maximum, kernel=[2, 2], pads=[1, 1, 0, 0]): i8[1x2x4x4]\n"
            "t2.transpose = transpose(m.max_pool, perm=[0, 2, 3, 1]): i8[1x4x4x2]\n"
            "f.reshape = reshape(t2.transpose, shape=[1, 32]): i8[1x32]\n"
            "y = identity(f.reshape): i8[1x32]\n");
}

TEST(FakeQuantizationToInteger, JoinsAndAverages) {
  std::string nodes = integers(
      "a = add(d, d): f32[1x2x4x4]\n"
      "j = concat(d, d, axis=1): f32[1x4x4x4]\n"
      "p = global_pool(d): f32[1x2x1x1]\n"
      "y = quantize(a, t, z, to=\"i8\"): i8[1x2x4x4]\n"
      "k = quantize(j, s, z, to=\"i8\"): i8[1x4x4x4]\n"
      "output y\noutput k\noutput p\n");
  EXPECT_TRUE(has(nodes, "a = add(d, d)")) << nodes;  // numbers are added beside what is summed
  EXPECT_TRUE(has(nodes, "j.concat = concat(q, q, axis=1): i8[1x4x4x4]")) << nodes;
  EXPECT_TRUE(has(nodes, "k = identity(j.concat)")) << nodes;
  EXPECT_TRUE(has(nodes, "p.reduce_sum = reduce_sum(q, axes=[2, 3], to=\"i32\"): i32[1x2x1x1]"))
      << nodes;
}

TEST(FakeQuantizationToInteger, LayersAndProducts) {
  for (const char* layer : {"fully_connected(f, e): f32[1x3]", "matmul(f, g): f32[1x3]"}) {
    std::string nodes = integers(
        "weight w: i8[3x32] = normal(1.0)\n"
        "weight v: u8[32x3] = normal(1.0)\n"
        "constant n: u8[] = [128]\n"
        "e = dequantize(w, t): f32[3x32]\n"
        "g = dequantize(v, t, n): f32[32x3]\n"
        "f = reshape(d, shape=[1, 32]): f32[1x32]\n"
        "y = " +
        std::string(layer) + "\noutput y\n");
    EXPECT_TRUE(has(nodes, "i32[1x3]")) << nodes;
  }
}

TEST(FakeQuantizationToInteger, LeavesOtherScalesAndNumbers) {
  std::string nodes =
      rest(integers("h = dequantize(q, t, z): f32[1x2x4x4]\n"
                    "a = add(d, h): f32[1x2x4x4]\n"
                    "b = add(d, x): f32[1x2x4x4]\n"
                    "output a\noutput b\n"));
  EXPECT_TRUE(has(nodes, "a = add(d, h)")) << nodes;
  EXPECT_TRUE(has(nodes, "b = add(d, x)")) << nodes;
}

}  // namespace
}  // namespace lathe::test
