// Normalisations become part of weights, or a product and a sum; copies go away.
#include "support/run_graph.h"

namespace lathe::test {
namespace {

/// The statistics of a normalisation of "channels" channels called "name".
std::string statistics(const std::string& name, int channels) {
  return fmt::format(
      "weight {0}.weight: f32[{1}] = normal(1.0)\n"
      "weight {0}.bias: f32[{1}] = normal(1.0)\n"
      "state {0}.mean: f32[{1}] = normal(1.0)\n"
      "state {0}.var: f32[{1}] = ones\n",
      name, channels);
}

std::string norm(const std::string& name, const std::string& x, const std::string& type) {
  return fmt::format("{0} = batch_norm({1}, {0}.weight, {0}.bias, {0}.mean, {0}.var): {2}\n", name,
                     x, type);
}

Graph simplified(const std::string& text) {
  return after_pass("simplify_inference", "graph g\n" + text);
}

TEST(SimplifyInference, FoldsIntoAConvolution) {
  Graph after = simplified(
      "input x: f32[1x2x4x4]\n"
      "weight w: f32[4x1x3x3] = normal(1.0)\n" +
      statistics("bn", 4) + "c = conv(x, w, groups=2, pads=[1, 1, 1, 1]): f32[1x4x4x4]\n" +
      norm("bn", "c", "f32[1x4x4x4]") + "output bn\n");
  EXPECT_EQ(print_nodes(after),
            "bn = conv(x, w.folded, bn.bias.folded, groups=2, pads=[1, 1, 1, 1]): f32[1x4x4x4] "
            "as c\n");
  for (const char* name : {"w.folded", "bn.bias.folded"}) {
    EXPECT_EQ(after.values[*find_value(after, name)].kind, Value::Kind::weight) << name;
  }
  EXPECT_EQ(after.values.size(), 4u);
}

TEST(SimplifyInference, FoldsNumbersThatCanBeWorkedOut) {
  Graph after = find_pass("simplify_inference")
                    .run(parse_graph("graph g\n"
                                     "input x: f32[1x1]\n"
                                     "weight w: f32[2x1] = [3.0, 5.0]\n"
                                     "weight b: f32[2] = [1.0, 2.0]\n"
                                     "weight scale: f32[2] = [2.0, 4.0]\n"
                                     "weight shift: f32[2] = [10.0, 20.0]\n"
                                     "state mean: f32[2] = [1.0, 3.0]\n"
                                     "state variance: f32[2] = [3.0, 15.0]\n"
                                     "f = fully_connected(x, w, b): f32[1x2]\n"
                                     "y = batch_norm(f, scale, shift, mean, variance, "
                                     "epsilon=1.0): f32[1x2]\n"
                                     "output y\n"),
                         {});
  EXPECT_EQ(print(after),
            "graph g\n"
            "input x: f32[1x1]\n"
            "weight w.folded: f32[2x1] = [3.0, 5.0]\n"
            "weight b.folded: f32[2] = [10.0, 19.0]\n"
            "y = fully_connected(x, w.folded, b.folded): f32[1x2] as f\n"
            "output y\n");
}

TEST(SimplifyInference, FoldsIntoATransposedConvolutionInGroups) {
  Graph after = simplified(
      "input x: f32[1x4x3x3]\n"
      "weight w: f32[4x3x2x2] = normal(1.0)\n"
      "weight b: f32[6] = normal(1.0)\n" +
      statistics("bn", 6) + "c = conv_transpose(x, w, b, groups=2): f32[1x6x4x4]\n" +
      norm("bn", "c", "f32[1x6x4x4]") + "output bn\n");
  EXPECT_EQ(print_nodes(after),
            "bn = conv_transpose(x, w.folded, b.folded, groups=2): f32[1x6x4x4] as c\n");
}

TEST(SimplifyInference, FoldsIntoAMatrixAndASum) {
  Graph after = simplified(
      "input x: f32[3x4]\n"
      "weight w: f32[4x5] = normal(1.0)\n" +
      statistics("bn", 5) + "m = matmul(x, w): f32[3x5]\n" + norm("bn", "m", "f32[3x5]") +
      "output bn\n");
  EXPECT_EQ(print_nodes(after),
            "m = matmul(x, w.folded): f32[3x5]\n"
            "bn = add(m, bn.bias.folded): f32[3x5]\n");
}

TEST(SimplifyInference, FoldsTwoNormalisationsIntoOneConvolution) {
  Graph after = simplified(
      "input x: f32[1x2x3x3]\n"
      "weight w: f32[4x2x1x1] = normal(1.0)\n" +
      statistics("a", 4) + statistics("b", 4) + "c = conv(x, w): f32[1x4x3x3]\n" +
      norm("a", "c", "f32[1x4x3x3]") + norm("b", "a", "f32[1x4x3x3]") + "output b\n");
  EXPECT_EQ(print_nodes(after),
            "b = conv(x, w.folded.folded, a.bias.folded.folded): f32[1x4x3x3] as c\n");
}

TEST(SimplifyInference, IsAProductAndASumElsewhere) {
  Graph after = simplified("input x: f32[1x3x2x2]\n" + statistics("bn", 3) +
                           norm("bn", "x", "f32[1x3x2x2]") + "output bn\n");
  EXPECT_EQ(print_nodes(after),
            "bn.scaled = mul(x, bn.weight.folded): f32[1x3x2x2]\n"
            "bn = add(bn.scaled, bn.bias.folded): f32[1x3x2x2]\n");
  EXPECT_EQ(after.values[*find_value(after, "bn.weight.folded")].type.shape, (Shape{3, 1, 1}));
}

TEST(SimplifyInference, DoesNotFoldIntoWhatOthersRead) {
  const std::string both =
      "input x: f32[1x2x3x3]\n"
      "weight w: f32[4x2x1x1] = normal(1.0)\n" +
      statistics("a", 4) + statistics("b", 4) + "c = conv(x, w): f32[1x4x3x3]\n" +
      norm("a", "c", "f32[1x4x3x3]");
  Graph after = simplified(both + norm("b", "c", "f32[1x4x3x3]") + "output a\noutput b\n");
  EXPECT_EQ(after.nodes.size(), 5u);
  EXPECT_EQ(after.nodes[0].inputs.size(), 2u);
  after = simplified(both + "output a\noutput c\n");
  EXPECT_EQ(after.nodes.size(), 3u);
}

TEST(SimplifyInference, KeepsNormalisationsWithoutData) {
  Graph graph = parse_graph("graph g\ninput x: f32[1x3x2x2]\n" + statistics("bn", 3) +
                            norm("bn", "x", "f32[1x3x2x2]") + "output bn\n");
  EXPECT_EQ(print(find_pass("simplify_inference").run(graph, {})), print(graph));
}

TEST(SimplifyInference, TakesOutCopies) {
  Graph after = simplified(
      "input x: f32[2x3]\n"
      "a = identity(x): f32[2x3]\n"
      "b = reshape(a, shape=[2, 3]): f32[2x3]\n"
      "c = transpose(b, perm=[0, 1]): f32[2x3]\n"
      "d = pad(c, pads=[0, 0, 0, 0]): f32[2x3]\n"
      "e = cast(d): f32[2x3]\n"
      "f = slice(e, sizes=[2, 3], starts=[0, 0]): f32[2x3]\n"
      "y = relu(f): f32[2x3]\n"
      "output y\n");
  EXPECT_EQ(print_nodes(after), "y = relu(x): f32[2x3]\n");
}

TEST(SimplifyInference, KeepsWhatOnlyLooksLikeACopy) {
  Graph after = simplified(
      "input x: f32[3x3]\n"
      "a = transpose(x, perm=[1, 0]): f32[3x3]\n"
      "b = slice(a, sizes=[3, 3], starts=[2, 0], steps=[-1, 1]): f32[3x3]\n"
      "y = relu(b): f32[3x3]\n"
      "output y\n");
  EXPECT_EQ(after.nodes.size(), 3u);
}

TEST(SimplifyInference, OutputsKeepTheirNames) {
  Graph after = simplified(
      "input x: f32[2]\n"
      "a = relu(x): f32[2]\n"
      "b = neg(a): f32[2]\n"
      "y = identity(a): f32[2]\n"
      "z = identity(x): f32[2]\n"
      "u = identity(y): f32[2]\n"
      "output y\noutput b\noutput z\noutput u\n");
  EXPECT_EQ(print_nodes(after),
            "y = relu(x): f32[2] as a\n"
            "b = neg(y): f32[2]\n"
            "z = identity(x): f32[2]\n"
            "u = identity(y): f32[2]\n");
}

}  // namespace
}  // namespace lathe::test
