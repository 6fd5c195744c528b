// A whole search of a trained network: what is different from one that nobody has trained.
#include <gtest/gtest.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/random.h"
#include "data/file.h"
#include "data/npy.h"
#include "jobs/frontier.h"
#include "jobs/outputs.h"
#include "onnx/onnx.h"
#include "support/small_network.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

namespace fs = std::filesystem;

/// A search of the small network with weights, and with images that are no generated ones.
struct TrainedSearch {
  TemporaryDirectory directory;
  OptimizeOptions options;

  TrainedSearch() {
    Graph network = initialised(parse_graph(small_network), 20261117);
    constexpr long images = 80;
    Random random(20261117, "images");
    std::vector<float> pixels(static_cast<size_t>(images * 3 * 32 * 32));
    for (float& pixel : pixels) pixel = static_cast<float>(random.normal());
    std::vector<long> labels;
    for (long i = 0; i < images; ++i) labels.push_back(i % 10);
    write_npy(directory.file("x.npy"), Array::of<float>({images, 3, 32, 32}, pixels));
    write_npy(directory.file("y.npy"), Array::of_integers(Element::i64, {images}, labels));
    options.score.network.network = directory.file("small.onnx", export_onnx(network));
    options.score.data = "npy:" + directory.file("x.npy") + "," + directory.file("y.npy");
    options.score.samples = 8;
    options.folder = directory.file("run");
    options.rule.tolerance = 20;  // what the rule expects of so small a network is beside the point
    options.space.most = 4;
    options.exact = 2;
    options.tune = 0;
    options.blocks = false;
  }
};

TEST(OptimizeTrained, HandsOverFittedWeights) {
  TrainedSearch search;
  OptimizeResult found = optimize(search.options);
  ASSERT_TRUE(found.result && found.result->found);
  EXPECT_EQ(found.result->rule.metric, "kept");
  ASSERT_TRUE(found.result->accuracy.has_value());
  EXPECT_EQ(found.result->accuracy->images, 8);  // a tenth of all
  EXPECT_TRUE(fs::exists(search.options.folder + "/bundle/original.py"));
  EXPECT_TRUE(fs::exists(search.options.folder + "/bundle/train.py"));
}

/// The small network with a second output, of another shape and of larger numbers.
Graph two_outputs(uint64_t seed) {
  std::string text = small_network;
  text.replace(text.find("output scores"), 13,
               "large = mul(relu2, relu2): f32[2x32x16x16]\noutput scores\noutput large");
  return initialised(parse_graph(text), seed);
}

TEST(OptimizeTrained, NeedsNoLabelsForOutputs) {
  TrainedSearch search;
  ScoreArguments& score = search.options.score;
  score.network.network = search.directory.file("two.onnx", export_onnx(two_outputs(20261117)));
  score.data = "npy:" + search.directory.file("x.npy");
  score.loss = "output";
  OptimizeResult found = optimize(search.options);
  ASSERT_TRUE(found.result && found.result->found);
  ASSERT_TRUE(found.result->accuracy.has_value());
  EXPECT_EQ(found.result->accuracy->of, "outputs");
  EXPECT_DOUBLE_EQ(found.result->accuracy->original, 100);
  EXPECT_GT(found.result->accuracy->before, 0);
  EXPECT_LT(found.result->accuracy->before, 100);
  ASSERT_TRUE(found.result->winner.verdict.has_value());
  EXPECT_FALSE(found.result->winner.verdict->predicted) << "it is not calibrated for outputs";
  std::string bundle = read_file(search.options.folder + "/bundle/bundle.json");
  EXPECT_NE(bundle.find("\"loss\": \"output\""), std::string::npos) << bundle;
}

TEST(OptimizeTrained, ComparesOutputsHoweverLargeTheyAre) {
  TrainedSearch search;
  Dataset data = load_dataset("npy:" + search.directory.file("x.npy"));
  Graph network = two_outputs(1), other = network;
  OutputsCompared same = compare_outputs(network, network, data, 64, 1);
  EXPECT_EQ(same.samples, 64);
  EXPECT_DOUBLE_EQ(same.explained(), 100);
  for (Value& value : other.values) {  // then the scores are constants, and "large" is as it was
    if (value.name == "second.weight") value.data = Array(Element::f32, value.type.shape);
  }
  OutputsCompared half = compare_outputs(network, other, data, 64, 1);
  ASSERT_EQ(half.outputs.size(), 2U);
  EXPECT_GT(half.outputs[1].variance, 10 * half.outputs[0].variance);
  EXPECT_NEAR(half.explained(), 50, 5);
}

TEST(OptimizeTrained, StoppedInAFitItBlamesNoNetworkAndGoesOn) {
  TrainedSearch search;
  bool asked = false;
  auto hear = [&](const JobEvent& event) {
    const auto* work = std::get_if<WorkDone>(&event);
    asked = asked || (work != nullptr && work->what == "layers fitted");
  };
  OptimizeResult stopped = optimize(search.options, {hear, [&] { return asked; }});
  EXPECT_TRUE(asked);
  EXPECT_TRUE(stopped.stopped);
  EXPECT_FALSE(stopped.result.has_value());
  for (const RecordedTrial& each : read_journal(search.options.folder).trials) {
    EXPECT_NE(each.trial.outcome, Trial::Outcome::failed) << each.trial.reason;
  }
  OptimizeResult found = optimize(search.options);
  ASSERT_TRUE(found.result.has_value());
  EXPECT_TRUE(found.result->found);
  EXPECT_EQ(found.result->failed, 0);
}

TEST(OptimizeTrained, ChoosesThePrecisionOfEachLayer) {
  TrainedSearch search;
  search.options.precision = "any";
  OptimizeResult found = optimize(search.options);
  ASSERT_TRUE(found.result && found.result->found);
  ASSERT_TRUE(found.result->precisions.has_value());
  // f32 and int8 are tried on every machine; f16 where there is arithmetic for it.
  std::vector<std::string> names;
  for (const ResultPrecision& each : *found.result->precisions) {
    names.push_back(each.precision);
    EXPECT_GT(each.ms, 0);
    EXPECT_TRUE(each.accuracy.has_value());
  }
  EXPECT_EQ(names.front(), "f32");
  EXPECT_EQ(names.back(), "int8");
  // Layers that have no other steps can choose, too.
  std::vector<std::string> layers;
  for (const ResultLayer& layer : found.result->layers) layers.push_back(layer.layer);
  EXPECT_NE(std::find(layers.begin(), layers.end(), "scores"), layers.end())
      << fmt::format("{}", fmt::join(layers, ", "));
  EXPECT_TRUE(fs::exists(search.options.folder + "/bundle/library/libmodel.so"));
  // What was measured is not measured again.
  size_t trials = read_journal(search.options.folder).trials.size();
  OptimizeResult again = optimize(search.options);
  ASSERT_TRUE(again.result && again.result->found);
  EXPECT_EQ(read_journal(search.options.folder).trials.size(), trials);
  EXPECT_EQ(print(again.result->winner.recipe), print(found.result->winner.recipe));
}

TEST(OptimizeTrained, AllLayersMayHaveOnePrecision) {
  TrainedSearch search;
  search.options.precision = "int8";
  OptimizeResult found = optimize(search.options);
  ASSERT_TRUE(found.result.has_value());
  EXPECT_FALSE(found.result->precisions.has_value());
  EXPECT_EQ(found.result->identity.at("precision"), "int8");
  search.options.score.data = "synthetic:1";
  search.options.folder = search.directory.file("other");
  EXPECT_THROW(optimize(search.options), UserError);
}

TEST(OptimizeTrained, AFrontierHasABundleForEachPoint) {
  TrainedSearch search;
  FrontierOptions options{search.options, 2, 15, 20};
  EXPECT_EQ(frontier_tolerances(options), (std::vector<double>{15, 20}));
  FrontierResult found = find_frontier(options);
  ASSERT_EQ(found.points.size(), 2U);
  for (const FrontierPoint& point : found.points) {
    EXPECT_TRUE(fs::exists(point.folder + "/bundle/model.onnx")) << point.folder;
  }
  EXPECT_TRUE(fs::exists(search.options.folder + "/frontier.json"));
  EXPECT_TRUE(fs::exists(search.options.folder + "/frontier.svg"));
}

}  // namespace
}  // namespace lathe::test
