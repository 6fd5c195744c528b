// Attention of ONNX and what belongs to it: masks, and what is refused.
#include <gtest/gtest.h>

#include "compile/executor.h"
#include "support/onnx_model.h"

namespace lathe::test {
namespace {

/// Attention of one head, whose query, key and value are "x".
OnnxModel attending(const Attributes& attributes, const std::string& mask = "",
                    const Shape& shape = {1, 1, 3, 1}) {
  OnnxModel m(24);
  m.input("x", shape);
  m.node("Attention", {"x", "x", "x", mask}, {"y"}, attributes, "attention");
  m.output("y");
  return m;
}

std::vector<double> run_attention(const OnnxModel& model) {
  std::vector<double> x{0, 0, 3};
  return Executor(model.parse(), {.target = native_target()})
      .run({Array::of_reals(Element::f32, {1, 1, 3, 1}, x)})[0]
      .reals();
}

TEST(OnnxAttention, HiddenKeysDoNotCount) {
  // A query of 0 finds all keys alike, so it gets the mean of the values that it sees.
  std::vector<double> open = run_attention(attending({}));
  EXPECT_NEAR(open[0], 1, 1e-6);
  std::vector<double> causal = run_attention(attending({{"is_causal", 1L}}));
  EXPECT_EQ(causal[0], 0);
  EXPECT_EQ(causal[1], 0);
  EXPECT_NEAR(causal[2], open[2], 1e-6);
  std::vector<double> near = run_attention(attending({{"left_window_size", 0L}}));
  EXPECT_NEAR(near[1], 1.5, 1e-6);
}

TEST(OnnxAttention, QueriesThatSeeNothingGetZeros) {
  OnnxModel m = attending({}, "mask");
  m.initialiser("mask", Array(Element::boolean, {3, 3}));
  EXPECT_EQ(run_attention(m), (std::vector<double>{0, 0, 0}));
}

TEST(OnnxAttention, ShortMasksHideTheRest) {
  OnnxModel m = attending({}, "mask");
  m.initialiser("mask", Array(Element::f32, {3, 2}));
  EXPECT_EQ(run_attention(m), (std::vector<double>{0, 0, 0}));
}

TEST(OnnxAttention, HeadsThatDoNotFit) {
  EXPECT_EQ(attending({}, "", {1, 3, 4}).error(),
            "node 'attention' (Attention): 1x3x4 cannot be split into 0 heads");
  EXPECT_EQ(attending({{"q_num_heads", 2L}, {"kv_num_heads", 3L}}, "", {1, 3, 4}).error(),
            "node 'attention' (Attention): 1x3x4 cannot be split into 3 heads");
  EXPECT_EQ(attending({{"qk_matmul_output_mode", 7L}}).error(),
            "node 'attention' (Attention): qk_matmul_output_mode=7 is unknown");
  EXPECT_EQ(attending({{"scale", -1.0}}).error(), "node 'attention' (Attention): a scale of -1");
  OnnxModel m(24);
  m.input("q", {1, 3, 2, 4});
  m.input("k", {1, 2, 2, 4});
  m.node("Attention", {"q", "k", "k"}, {"y"});
  m.output("y");
  EXPECT_EQ(m.error(), "node 'y' (Attention): 3 query heads cannot share 2 heads");
}

TEST(OnnxAttention, EmbeddingsThatDoNotFit) {
  auto error = [](const Attributes& attributes, const Shape& shape) {
    OnnxModel m(23);
    m.input("x", shape);
    m.input("angle", {1, 3, 2});
    m.node("RotaryEmbedding", {"x", "angle", "angle"}, {"y"}, attributes, "turn");
    m.output("y");
    return m.error();
  };
  std::string where = "node 'turn' (RotaryEmbedding): ";
  EXPECT_EQ(error({}, {1, 2, 3, 4}), "");
  EXPECT_EQ(error({}, {1, 2, 3, 6}), where + "its cosines and sines do not fit its features");
  EXPECT_EQ(error({}, {1, 3, 8}), where + "num_heads does not fit its input");
  EXPECT_EQ(error({}, {3, 8}), where + "its input must have 3 or 4 dimensions");
  EXPECT_EQ(error({{"rotary_embedding_dim", 3L}}, {1, 2, 3, 4}),
            where + "rotary_embedding_dim=3 does not fit 4 features");
}

}  // namespace
}  // namespace lathe::test
