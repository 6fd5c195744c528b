// FoldQuantizationScale: what is known is divided by scales before the network runs.
#include "support/run_graph.h"

namespace lathe::test {
namespace {

/// Returns the nodes that the pass makes of some, which may read the integers y and the number x.
std::string folded(const std::string& text) {
  return print_nodes(after_pass("FoldQuantizationScale",
                                "graph g\n"
                                "input x: f32[1x3x4x4]\n"
                                "input y: i32[1x3x4x4]\n"
                                "constant s: f32[3x1x1] = [0.5, 0.25, 3]\n"
                                "constant t: f32[] = [0.11]\n"
                                "constant z: i8[] = [-128]\n"
                                "constant u: i8[] = [3]\n" +
                                    text));
}

bool has(const std::string& nodes, const std::string& part) {
  return nodes.find(part) != std::string::npos;
}

TEST(FoldQuantizationScale, FactorsAreDivided) {
  std::string nodes = folded(
      "d = dequantize(y, s): f32[1x3x4x4]\n"
      "q = quantize(d, t, u, to=\"i8\"): i8[1x3x4x4]\n"
      "output q\n");
  EXPECT_EQ(nodes,
            "q.div = div(s, t): f32[3x1x1]\n"
            "q.dequantize = dequantize(y, q.div): f32[1x3x4x4]\n"
            "q = quantize(q.dequantize, _, u, to=\"i8\"): i8[1x3x4x4]\n");
}

TEST(FoldQuantizationScale, BoundsThatIntegersHaveAnywayAreLeftOut) {
  const std::string begin = "d = dequantize(y, s): f32[1x3x4x4]\n";
  std::string relu = folded(begin +
                            "r = relu(d): f32[1x3x4x4]\n"
                            "q = quantize(r, t, to=\"u8\"): u8[1x3x4x4]\n"
                            "output q\n");
  EXPECT_FALSE(has(relu, "relu")) << relu;
  EXPECT_TRUE(has(relu, "q = quantize(q.dequantize, to=\"u8\"): u8")) << relu;
  std::string lowest = folded(begin +
                              "r = clip(d, min=0.0, max=100.0): f32[1x3x4x4]\n"
                              "q = quantize(r, t, z, to=\"i8\"): i8[1x3x4x4]\n"
                              "output q\n");
  EXPECT_FALSE(has(lowest, "clip")) << lowest;
  // 3 stands for 0 here, so integers below 3 would be numbers below 0.
  std::string inside = folded(begin +
                              "r = relu(d): f32[1x3x4x4]\n"
                              "q = quantize(r, t, u, to=\"i8\"): i8[1x3x4x4]\n"
                              "output q\n");
  EXPECT_TRUE(has(inside, "relu")) << inside;
  std::string narrow = folded(begin +
                              "r = clip(d, min=0.0, max=11.0): f32[1x3x4x4]\n"
                              "q = quantize(r, t, to=\"u8\"): u8[1x3x4x4]\n"
                              "output q\n");
  EXPECT_TRUE(has(narrow, "max=100") || has(narrow, "max=99.99")) << narrow;
}

TEST(FoldQuantizationScale, SumsAreDividedTermByTerm) {
  std::string nodes = folded(
      "constant b: f32[3x1x1] = [1, 2, 3]\n"
      "d = dequantize(y, s): f32[1x3x4x4]\n"
      "e = add(d, b): f32[1x3x4x4]\n"
      "h = quantize(x, t, u, to=\"i8\"): i8[1x3x4x4]\n"
      "i = dequantize(h, t, u): f32[1x3x4x4]\n"
      "a = add(e, i): f32[1x3x4x4]\n"
      "r = relu(a): f32[1x3x4x4]\n"
      "q = quantize(r, t, z, to=\"i8\"): i8[1x3x4x4]\n"
      "output q\n"
      "output i\n");
  EXPECT_TRUE(has(nodes, "h = quantize(x, t, u, to=\"i8\")")) << "x is not known: " << nodes;
  EXPECT_TRUE(has(nodes, " = div(b, t)")) << nodes;
  EXPECT_TRUE(has(nodes, "q = quantize(q.add_1, _, z, to=\"i8\")")) << nodes;
  EXPECT_FALSE(has(nodes, "relu")) << nodes;
}

TEST(FoldQuantizationScale, LeavesWhatOthersReadAndWhatIsUnknown) {
  const std::string shared =
      "d = dequantize(y, s): f32[1x3x4x4]\n"
      "r = add(d, d): f32[1x3x4x4]\n"
      "q = quantize(r, t, u, to=\"i8\"): i8[1x3x4x4]\n"
      "output q\n"
      "output r\n";
  EXPECT_TRUE(has(folded(shared), "q = quantize(r, t, u, to=\"i8\")"));
  EXPECT_TRUE(
      has(folded("q = quantize(x, t, u, to=\"i8\"): i8[1x3x4x4]\noutput q\n"), "quantize(x, t, u"));
  std::string given = folded(
      "input v: f32[]\n"
      "d = dequantize(y, v): f32[1x3x4x4]\n"
      "q = quantize(d, t, u, to=\"i8\"): i8[1x3x4x4]\n"
      "output q\n");
  EXPECT_TRUE(has(given, "q = quantize(d, t, u, to=\"i8\")")) << given;
}

}  // namespace
}  // namespace lathe::test
