// Passes that are not among the usual ones: what each does, and that it computes the same.
#include "support/run_graph.h"

namespace lathe::test {
namespace {

std::string after(const std::string& pass, const std::string& text) {
  return print_nodes(after_pass(pass, "graph g\n" + text));
}

TEST(MorePasses, CanonicalizeOpsWritesABiasAsASum) {
  EXPECT_EQ(after("CanonicalizeOps",
                  "input x: f32[1x2x4x4]\n"
                  "weight w: f32[3x2x3x3] = normal(1.0)\n"
                  "weight b: f32[3] = normal(1.0)\n"
                  "y = conv(x, w, b, pads=[1, 1, 1, 1]): f32[1x3x4x4]\n"
                  "output y\n"),
            "y.sums = conv(x, w, pads=[1, 1, 1, 1]): f32[1x3x4x4]\n"
            "y.bias = reshape(b, shape=[3, 1, 1]): f32[3x1x1]\n"
            "y = add(y.sums, y.bias): f32[1x3x4x4]\n");
}

TEST(MorePasses, CanonicalizeCastGivesEachReaderItsOwn) {
  EXPECT_EQ(after("CanonicalizeCast",
                  "input x: i8[4]\n"
                  "c = cast(x, to=\"f32\"): f32[4]\n"
                  "y = neg(c): f32[4]\n"
                  "z = mul(c, c): f32[4]\n"
                  "output y\noutput z\n"),
            "c = cast(x, to=\"f32\"): f32[4]\n"
            "y = neg(c): f32[4]\n"
            "c_1 = cast(x, to=\"f32\"): f32[4]\n"
            "z = mul(c_1, c_1): f32[4]\n");
}

TEST(MorePasses, FoldExplicitPaddingTakesZerosOnly) {
  auto padded = [](const std::string& more) {
    return after("FoldExplicitPadding",
                 "input x: f32[1x2x4x4]\n"
                 "weight w: f32[3x2x3x3] = normal(1.0)\n"
                 "p = pad(x, pads=[0, 0, 1, 0, 0, 0, 1, 2]" +
                     more +
                     "): f32[1x2x6x6]\n"
                     "y = conv(p, w, pads=[0, 1, 0, 0]): f32[1x3x4x5]\n"
                     "output y\n");
  };
  EXPECT_EQ(padded(""), "y = conv(x, w, pads=[1, 1, 1, 2]): f32[1x3x4x5]\n");
  EXPECT_NE(padded(", value=1.0").find("pad("), std::string::npos);
}

TEST(MorePasses, ScalesGoIntoWeightsBeforeAndBehind) {
  std::string given =
      "input x: f32[1x2x4x4]\n"
      "weight w: f32[3x2x1x1] = normal(1.0)\n"
      "weight b: f32[3] = normal(1.0)\n"
      "constant s: f32[2x1x1] = [2.0, 3.0]\n"
      "constant t: f32[1x3x1x1] = [5.0, 6.0, 7.0]\n"
      "m = mul(x, s): f32[1x2x4x4]\n"
      "c = conv(m, w, b): f32[1x3x4x4]\n"
      "y = mul(c, t): f32[1x3x4x4]\n"
      "output y\n";
  std::string forward = after("ForwardFoldScaleAxis", given);
  EXPECT_NE(forward.find("c = conv(x, c.scaled, b)"), std::string::npos) << forward;
  EXPECT_NE(forward.find("y = mul(c, t)"), std::string::npos) << forward;
  std::string backward = after("BackwardFoldScaleAxis", given);
  EXPECT_NE(backward.find("y = conv(m, c.scaled, c.scaled_1)"), std::string::npos) << backward;
  EXPECT_NE(backward.find("m = mul(x, s)"), std::string::npos) << backward;
}

TEST(MorePasses, ParallelLayersBecomeOne) {
  std::string convolutions = after("CombineParallelConv2D",
                                   "input x: f32[1x2x4x4]\n"
                                   "weight v: f32[3x2x1x1] = normal(1.0)\n"
                                   "weight w: f32[5x2x1x1] = normal(1.0)\n"
                                   "weight u: f32[5x2x3x3] = normal(1.0)\n"
                                   "a = conv(x, v): f32[1x3x4x4]\n"
                                   "b = conv(x, w): f32[1x5x4x4]\n"
                                   "c = conv(x, u, pads=[1, 1, 1, 1]): f32[1x5x4x4]\n"
                                   "output a\noutput b\noutput c\n");
  EXPECT_NE(convolutions.find("v.all = concat(v, w, axis=0): f32[8x2x1x1]"), std::string::npos)
      << convolutions;
  EXPECT_NE(convolutions.find("a.all = conv(x, v.all): f32[1x8x4x4]"), std::string::npos);
  EXPECT_NE(convolutions.find("c = conv(x, u, pads=[1, 1, 1, 1])"), std::string::npos);
  std::string dense = after("CombineParallelDense",
                            "input x: f32[2x4]\n"
                            "weight v: f32[3x4] = normal(1.0)\n"
                            "weight w: f32[5x4] = normal(1.0)\n"
                            "weight p: f32[3] = normal(1.0)\n"
                            "weight q: f32[5] = normal(1.0)\n"
                            "a = fully_connected(x, v, p): f32[2x3]\n"
                            "b = fully_connected(x, w, q): f32[2x5]\n"
                            "output a\noutput b\n");
  EXPECT_NE(dense.find("a.all = fully_connected(x, v.all, p.all): f32[2x8]"), std::string::npos)
      << dense;
  std::string batched = after("BatchingOps",
                              "input x: f32[2x4]\n"
                              "weight v: f32[4x3] = normal(1.0)\n"
                              "weight w: f32[4x3] = normal(1.0)\n"
                              "a = matmul(x, v): f32[2x3]\n"
                              "b = matmul(x, w): f32[2x3]\n"
                              "output a\noutput b\n");
  EXPECT_NE(batched.find("a.all = matmul(x, a.parts): f32[2x2x3]"), std::string::npos) << batched;
}

TEST(MorePasses, SimplifyExprTakesOutWhatCancels) {
  EXPECT_EQ(after("SimplifyExpr",
                  "input x: f32[2x3x4]\n"
                  "constant none: f32[] = [0.0]\n"
                  "constant one: f32[4] = [1.0, 1.0, 1.0, 1.0]\n"
                  "a = add(none, x): f32[2x3x4]\n"
                  "m = mul(a, one): f32[2x3x4]\n"
                  "t = transpose(m, perm=[2, 0, 1]): f32[4x2x3]\n"
                  "u = transpose(t, perm=[1, 0, 2]): f32[2x4x3]\n"
                  "r = reshape(u, shape=[8, 3]): f32[8x3]\n"
                  "s = reshape(r, shape=[24]): f32[24]\n"
                  "output s\n"),
            "a = identity(x): f32[2x3x4]\n"
            "m = identity(a): f32[2x3x4]\n"
            "u = transpose(m, perm=[0, 2, 1]): f32[2x4x3]\n"
            "s = reshape(u, shape=[24]): f32[24]\n");
}

TEST(MorePasses, SimplifyFCTransposeMakesALayer) {
  EXPECT_EQ(after("SimplifyFCTranspose",
                  "input x: f32[2x4]\n"
                  "weight w: f32[3x4] = normal(1.0)\n"
                  "t = transpose(w, perm=[1, 0]): f32[4x3]\n"
                  "y = matmul(x, t): f32[2x3]\n"
                  "output y\n"),
            "y = fully_connected(x, w): f32[2x3]\n");
}

TEST(MorePasses, DefuseOpsTakesApartWhatFuseOpsMade) {
  Graph graph = initialised(parse_graph("graph g\n"
                                        "input x: f32[1x2x4x4]\n"
                                        "input r: f32[1x3x4x4]\n"
                                        "weight w: f32[3x2x3x3] = normal(1.0)\n"
                                        "c = conv(x, w, pads=[1, 1, 1, 1]): f32[1x3x4x4]\n"
                                        "a = add(r, c): f32[1x3x4x4]\n"
                                        "y = relu(a): f32[1x3x4x4]\n"
                                        "output y\n"),
                            1);
  Graph fused = after_passes(graph, {"FuseOps"}), apart = after_passes(fused, {"DefuseOps"});
  EXPECT_NE(written_hash(fused), written_hash(graph));
  EXPECT_EQ(written_hash(apart), written_hash(graph));
  expect_same_outputs(graph, apart);
}

TEST(MorePasses, WhatNeverChangesAGraphSaysWhy) {
  Graph graph = initialised(parse_graph("graph g\ninput x: f32[2]\n"
                                        "y = neg(x): f32[2]\noutput y\n"),
                            1);
  for (const Pass& pass : passes::all()) {
    if (pass.never.empty()) continue;
    EXPECT_EQ(print(pass.run(graph, {})), print(graph)) << pass.name;
  }
}

TEST(MorePasses, ErrorsNameThePass) {
  EXPECT_THROW(parse_passes("FuseOps,,FoldConstant"), UserError);
  EXPECT_EQ(parse_passes("fuse_ops, FOLDCONSTANT"),
            (std::vector<std::string>{"FuseOps", "FoldConstant"}));
  try {
    parse_passes("AlterOpLayout,FuseOps");
    FAIL() << "storage is chosen last";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("'FuseOps' cannot come after 'AlterOpLayout'"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace lathe::test
