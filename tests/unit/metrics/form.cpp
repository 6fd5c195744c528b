// What networks read and say, and that generated data fit all of them.
#include "metrics/metric_form.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "capacity/judgeable.h"
#include "metrics/metric_scores.h"
#include "models/model.h"
#include "support/temporary.h"

namespace lathe {
namespace {

TEST(Form, IsWhatInputsAndOutputsSay) {
  SampleForm images = form_of(load_model("resnet18-cifar", {.batch = 4, .classes = 7, .size = 16}));
  ASSERT_EQ(images.inputs.size(), 1u);
  EXPECT_EQ(images.inputs[0].shape, (Shape{3, 16, 16}));
  EXPECT_EQ(images.inputs[0].below, 0);
  EXPECT_EQ(images.classes, 7);
  SampleForm texts = form_of(load_model("bert_tiny", {.batch = 2, .size = 16}));
  ASSERT_EQ(texts.inputs.size(), 3u);
  EXPECT_EQ(texts.inputs[0].shape, Shape{16});
  EXPECT_EQ(texts.inputs[0].below, 30522);  // words
  EXPECT_EQ(texts.inputs[1].below, 2);      // which of them are there
  EXPECT_EQ(texts.inputs[2].below, 2);      // of which sentence
  EXPECT_EQ(texts.classes, 128);
}

/// Scores a network on generated data.
double scored(const Graph& network, const std::string& metric) {
  Scorer scorer(load_dataset("synthetic:0", Split::train, Normalize::cifar),
                {.target = native_target(), .samples = 4});
  return scorer.run(network, {find_metric(metric)})[0].totals()[0];
}

TEST(Form, GeneratedDataFitEveryNetwork) {
  EXPECT_GT(scored(load_model("resnet20-cifar", {.batch = 4, .classes = 7, .size = 16}), "fisher"),
            0);
  EXPECT_GT(scored(load_model("resnet18", {.batch = 4, .size = 32}), "grad_norm"), 0);
}

TEST(Form, TablesThatTokensIndexAreNoLayers) {
  Graph bert = load_model("bert_tiny", {.batch = 4, .size = 8});
  Scorer scorer(load_dataset("synthetic:0", Split::train, Normalize::cifar),
                {.target = native_target(), .hook = Hook::block, .samples = 4});
  std::vector<Scores> scores =
      scorer.run(bert, parse_metrics("grad_norm,grasp,snip,synflow,fisher,macs"));
  for (size_t m = 0; m < scores.size(); ++m) {
    EXPECT_NE(scores[m].totals()[0], 0) << scores[m].metric;
    if (m >= 4) continue;                                        // the first four look at weights
    EXPECT_EQ(scores[m].of_seeds[0].layers.size(), 2u * 6 + 1);  // two layers, and the pooler
    for (const LayerScore& layer : scores[m].of_seeds[0].layers) {
      EXPECT_EQ(layer.layer.find("embeddings"), std::string::npos) << layer.layer;
    }
  }
  test::expect_failure([&] { scored(bert, "fisher"); },
                       {"behind each convolution", "'bert_tiny' has none"});
}

TEST(Judgeable, SaysFirstWhyNot) {
  EXPECT_NO_THROW(check_judgeable(load_model("resnet20-cifar")));
  EXPECT_NO_THROW(check_judgeable(load_model("vgg16")));
  test::expect_failure([] { check_judgeable(load_model("bert_tiny")); },
                       {"cannot be judged", "no conv"});
  // As an exporter that folds batch normalisations leaves it.
  Graph folded = load_model("resnet20-cifar");
  for (Node& node : folded.nodes) {
    if (node.op == "batch_norm") node = {node.name, "identity", {}, {node.inputs[0]}, node.outputs};
  }
  test::expect_failure([&] { check_judgeable(folded); },
                       {"cannot be judged", "9 residual blocks", "training mode"});
}

}  // namespace
}  // namespace lathe
