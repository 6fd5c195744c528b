// What is read through, and what is copied.
#include "support/run_graph.h"

namespace lathe::test {
namespace {

/// A view of 16 channels, and what reads it.
std::string text_of(const std::string& view, const std::string& type, const std::string& reader) {
  return fmt::format(
      "graph g\n"
      "input x: f32[1x16x6x6]\n"
      "weight w: f32[8x8x3x3] = normal(0.3)\n"
      "weight v: f32[8x4x1x1] = normal(0.3)\n"
      "weight u: f32[16x8x3x3] = normal(0.3)\n"
      "s = {}: f32[{}]\n"
      "{}\n"
      "output y\n",
      view, type, reader);
}

Graph read_through(const std::string& text) { return after_pass("fuse_views", text); }

void expect_read_through(const std::string& text, const std::string& nodes) {
  Graph graph = read_through(text);
  EXPECT_EQ(print_nodes(graph), nodes);
  expect_same_outputs(initialised(parse_graph(text), 1), graph);
}

TEST(FuseViews, AConvolutionReadsASliceWhereItIs) {
  expect_read_through(
      text_of("slice(x, starts=[0, 8, 0, 0], sizes=[1, 8, 6, 6])", "1x8x6x6",
              "y = conv(s, w, pads=[1, 1, 1, 1]): f32[1x8x6x6]"),
      "y = fused(x, w, calls=[\"slice(%0, sizes=[1, 8, 6, 6], starts=[0, 8, 0, 0])\", "
      "\"conv(#0, %1, pads=[1, 1, 1, 1])\"]): f32[1x8x6x6]\n");
}

TEST(FuseViews, AViewOfAViewIsReadThrough) {
  std::string text = text_of("slice(x, starts=[0, 8, 0, 0], sizes=[1, 8, 6, 6])", "1x8x6x6",
                             "r = take(s, axis=2, indices=[0, 0, 1, 1, 2, 2]): f32[1x8x6x6]\n"
                             "y = relu(r): f32[1x8x6x6]");
  Graph graph = read_through(text);
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].op, "fused");
  expect_same_outputs(initialised(parse_graph(text), 1), graph);
}

TEST(FuseViews, WindowsThatSlideReadShuffledChannels) {
  std::string shuffled =
      "take(x, axis=1, indices=[0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15])";
  std::string window = "y = conv(s, u, groups=2, pads=[1, 1, 1, 1]): f32[1x16x6x6]";
  EXPECT_EQ(read_through(text_of(shuffled, "1x16x6x6", window)).nodes.size(), 1u);
  // Other sums want their channels side by side.
  std::string point = "y = conv(s, v, groups=4): f32[1x8x6x6]";
  EXPECT_EQ(read_through(text_of(shuffled, "1x16x6x6", point)).nodes.size(), 2u);
}

TEST(FuseViews, PaddingStaysBesideTheSameElements) {
  // Rows in the middle: what is above them is no padding.
  std::string rows = "slice(x, starts=[0, 0, 2, 0], sizes=[1, 8, 3, 6])";
  std::string padded = "y = conv(s, w, pads=[1, 1, 1, 1]): f32[1x8x3x6]";
  EXPECT_EQ(read_through(text_of(rows, "1x8x3x6", padded)).nodes.size(), 2u);
  std::string inside = "y = conv(s, w, pads=[0, 1, 0, 1]): f32[1x8x1x6]";
  EXPECT_EQ(read_through(text_of(rows, "1x8x3x6", inside)).nodes.size(), 1u);
}

TEST(FuseViews, AnyOtherListIsCopied) {
  std::string list = "take(x, axis=1, indices=[3, 1, 4, 1, 5, 9, 2, 6])";
  std::string window = "y = conv(s, w, pads=[1, 1, 1, 1]): f32[1x8x6x6]";
  EXPECT_EQ(read_through(text_of(list, "1x8x6x6", window)).nodes.size(), 2u);
}

}  // namespace
}  // namespace lathe::test
