// The built-in networks have as many weights as their publications and PyTorch's versions say.
#include <gtest/gtest.h>

#include "models/model.h"

namespace lathe::test {
namespace {

void expect_weights(const std::string& name, long count) {
  EXPECT_EQ(weight_count(load_model(name)), count) << name;
}

TEST(ModelWeights, OfResnet) {
  expect_weights("resnet18", 11689512);
  expect_weights("resnet34", 21797672);
  expect_weights("resnet50", 25557032);
  expect_weights("resnet101", 44549160);
  expect_weights("resnet152", 60192808);
  expect_weights("resnet18-cifar", 11173962);
  expect_weights("resnet34-cifar", 21282122);
  expect_weights("resnet50-cifar", 23520842);
  expect_weights("resnet101-cifar", 42512970);
  expect_weights("resnet152-cifar", 58156618);
}

TEST(ModelWeights, OfResnext) {
  expect_weights("resnext29_2x64d", 9128778);
  expect_weights("resnext29_4x64d", 27104586);
  expect_weights("resnext29_32x4d", 4774218);
  expect_weights("resnext50_32x4d", 25028904);
}

TEST(ModelWeights, OfDensenet) {
  expect_weights("densenet121", 7978856);
  expect_weights("densenet161", 28681000);
  expect_weights("densenet169", 14149480);
  expect_weights("densenet201", 20013928);
  expect_weights("densenet121-cifar", 6956298);
  expect_weights("densenet161-cifar", 26482378);
  expect_weights("densenet169-cifar", 12493322);
  expect_weights("densenet201-cifar", 18104330);
}

TEST(ModelWeights, OfMobilenet) {
  expect_weights("mobilenet_v2", 3504872);
  expect_weights("mobilenet_v2-cifar", 2236682);
}

TEST(ModelWeights, OfWideResnet) {
  expect_weights("wrn16_8", 10961370);
  expect_weights("wrn28_10", 36479194);
  expect_weights("wrn40_2", 2243546);
}

TEST(ModelWeights, OfVgg) {
  expect_weights("vgg11", 132863336);
  expect_weights("vgg13", 133047848);
  expect_weights("vgg16", 138357544);
  expect_weights("vgg19", 143667240);
  expect_weights("vgg11-cifar", 9231114);
  expect_weights("vgg13-cifar", 9416010);
  expect_weights("vgg16-cifar", 14728266);
  expect_weights("vgg19-cifar", 20040522);
}

TEST(ModelWeights, OfDetectorsAndTransformers) {
  expect_weights("ssd_resnet50", 22894902);
  expect_weights("bert_tiny", 4385920);
  expect_weights("bert_base", 109482240);
}

TEST(ModelWeights, StatisticsOfNormalisationsAreNotCounted) {
  Graph graph = load_model("resnet18");
  std::optional<ValueId> mean = find_value(graph, "bn1.running_mean");
  std::optional<ValueId> scale = find_value(graph, "bn1.weight");
  ASSERT_TRUE(mean && scale);
  EXPECT_EQ(graph.values[*mean].kind, Value::Kind::state);
  EXPECT_EQ(graph.values[*mean].initial.kind, Initial::Kind::zeros);
  EXPECT_EQ(graph.values[*scale].kind, Value::Kind::weight);
  EXPECT_EQ(graph.values[*scale].initial.kind, Initial::Kind::ones);
}

TEST(ModelWeights, EveryOneSaysHowItBegins) {
  for (const ModelEntry& entry : list_models()) {
    for (const Value& value : load_model(entry.example).values) {
      bool begins = value.kind == Value::Kind::weight || value.kind == Value::Kind::state;
      EXPECT_EQ(begins, value.initial.kind != Initial::Kind::none)
          << entry.example << ": " << value.name;
    }
  }
}

}  // namespace
}  // namespace lathe::test
