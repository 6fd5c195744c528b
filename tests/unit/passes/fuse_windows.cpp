// Which windows are computed with the convolution that they read, and which are not.
#include "passes/pass_fused.h"
#include "support/run_graph.h"

namespace lathe::test {
namespace {

/// An expansion to 64 channels, a window over each, and a projection; what is in braces can differ.
struct Block {
  std::string size = "32", function = "relu", kernel = "1", from = "e", outputs = "output p\n";
  bool pads_first = false;

  std::string text() const {
    return fmt::format(
        "graph g\n"
        "input x: f32[1x8x{0}x{0}]\n"
        "weight w: f32[64x8x{2}x{2}] = normal(0.3)\n"
        "weight v: f32[64x1x3x3] = normal(0.3)\n"
        "weight u: f32[8x64x1x1] = normal(0.3)\n"
        "c = conv(x, w{3}): f32[1x64x{0}x{0}]\n"
        "e = {1}(c): f32[1x64x{0}x{0}]\n"
        "d = conv({4}, v, groups=64, pads=[1, 1, 1, 1]): f32[1x64x{0}x{0}]\n"
        "r = clip(d, min=0.0, max=6.0): f32[1x64x{0}x{0}]\n"
        "p = conv(r, u): f32[1x8x{0}x{0}]\n"
        "{5}",
        size, function, kernel, kernel == "3" ? ", pads=[1, 1, 1, 1]" : "", from, outputs);
  }
};

Graph fused(const std::string& text) {
  Graph graph = after_pass("fuse_ops", text);
  return find_pass("fuse_windows").run(graph, {});
}

TEST(FuseWindows, TakesAWindowIntoTheConvolutionThatItReads) {
  EXPECT_EQ(print_nodes(fused(Block{}.text())),
            "r = fused(x, w, v, calls=[\"conv(%0, %1)\", \"relu(#0)\", "
            "\"conv(#1, %2, groups=64, pads=[1, 1, 1, 1])\", \"clip(#2, max=6.0, min=0.0)\"]): "
            "f32[1x64x32x32] as c\n"
            "p = conv(r, u): f32[1x8x32x32]\n");
}

TEST(FuseWindows, ComputesTheSame) {
  Graph before = initialised(parse_graph(Block{}.text()), 1);
  expect_same_outputs(before, fused(Block{}.text()));
}

TEST(FuseWindows, BlocksOfChannelsShareOutAmongWorkers) {
  Graph graph = after_pass("fuse_ops", Block{}.text());  // four blocks
  for (long workers : {1, 2, 3, 4, 5, 8}) {
    bool even = workers != 3 && workers <= 4;
    Graph after = find_pass("FuseWindows").run(graph, {.workers = workers});
    EXPECT_EQ(after.nodes.size(), even ? 2u : 3u) << workers;
  }
}

TEST(FuseWindows, LeavesOtherPairsAlone) {
  Block small, wide, alone, shared, shown, last;
  small.size = "16";  // stays in a cache
  wide.kernel = "3";  // may be computed with fewer products
  alone.from = "c";   // read by two: each gets its own
  shared.outputs = "q = exp(e): f32[1x64x32x32]\noutput p\noutput q\n";
  shown.outputs = "output p\noutput e\n";
  last.outputs = "output p\noutput r\n";  // stored row by row
  for (const Block& block : {small, wide, alone, shared, shown, last}) {
    std::string text = block.text();
    Graph graph = after_pass("fuse_ops", text);
    EXPECT_EQ(print_nodes(find_pass("fuse_windows").run(graph, {})), print_nodes(graph)) << text;
  }
}

}  // namespace
}  // namespace lathe::test
