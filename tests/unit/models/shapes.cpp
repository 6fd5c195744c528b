// What goes into the built-in networks and what comes out, with and without options; the names of
// their layers.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "models/model.h"
#include "ops/op.h"

namespace lathe::test {
namespace {

const Type& type_of(const Graph& graph, const std::string& name) {
  std::optional<ValueId> value = find_value(graph, name);
  if (!value) fail("{} has no value '{}'", graph.name, name);
  return graph.values[*value].type;
}

const Shape& shape_of(const Graph& graph, const std::string& name) {
  return type_of(graph, name).shape;
}

const Node& node_of(const Graph& graph, const std::string& name) {
  std::optional<size_t> node = find_node(graph, name);
  if (!node) fail("{} has no node '{}'", graph.name, name);
  return graph.nodes[*node];
}

/// The rows of what a node computes.
long rows_of(const Graph& graph, const std::string& name) {
  return graph.values[node_of(graph, name).outputs[0]].type.shape[2];
}

TEST(ModelShapes, EveryNetworkIsAValidGraph) {
  for (const ModelEntry& entry : list_models()) {
    SCOPED_TRACE(entry.example);
    Graph graph = load_model(entry.example);
    EXPECT_EQ(graph.name, entry.example);
    EXPECT_NO_THROW(verify_types(graph));
    EXPECT_FALSE(entry.summary.empty());
    for (ValueId id : graph.inputs) EXPECT_EQ(graph.values[id].type.shape[0], 1);
    for (ValueId id : graph.outputs) EXPECT_EQ(graph.values[id].type.shape[0], 1);
  }
}

TEST(ModelShapes, EveryNetworkTakesABatch) {
  for (const ModelEntry& entry : list_models()) {
    SCOPED_TRACE(entry.example);
    Graph graph = load_model(entry.example, {.batch = 3});
    EXPECT_NO_THROW(verify_types(graph));
    for (ValueId id : graph.inputs) EXPECT_EQ(graph.values[id].type.shape[0], 3);
    for (ValueId id : graph.outputs) EXPECT_EQ(graph.values[id].type.shape[0], 3);
    EXPECT_EQ(weight_count(graph), weight_count(load_model(entry.example)));
  }
}

TEST(ModelShapes, TextFormKeepsWhatIsComputed) {
  for (const char* name : {"resnet18-cifar", "mobilenet_v2", "bert_tiny", "ssd_resnet50",
                           "nasbench201:|none~0|+|none~0|none~1|+|none~0|none~1|nor_conv_1x1~2|"}) {
    Graph graph = load_model(name);
    EXPECT_EQ(structural_hash(parse_graph(print(graph))), structural_hash(graph)) << name;
  }
}

TEST(ModelShapes, ImagesAndClasses) {
  for (const char* name : {"resnet50", "resnext50_32x4d", "densenet121", "mobilenet_v2", "vgg16"}) {
    Graph graph = load_model(name);
    EXPECT_EQ(shape_of(graph, "input"), (Shape{1, 3, 224, 224})) << name;
    EXPECT_EQ(shape_of(graph, "output"), (Shape{1, 1000})) << name;
  }
  for (const char* name : {"resnet50-cifar", "resnext29_2x64d", "densenet121-cifar", "wrn40_2",
                           "mobilenet_v2-cifar", "vgg16-cifar", "nasbench201:0"}) {
    Graph graph = load_model(name);
    EXPECT_EQ(shape_of(graph, "input"), (Shape{1, 3, 32, 32})) << name;
    EXPECT_EQ(shape_of(graph, "output"), (Shape{1, 10})) << name;
  }
}

TEST(ModelShapes, LastFeaturesHaveTheExpectedRows) {
  EXPECT_EQ(rows_of(load_model("resnet34"), "layer4.2.relu2"), 7);
  EXPECT_EQ(rows_of(load_model("resnet34-cifar"), "layer4.2.relu2"), 4);
  EXPECT_EQ(rows_of(load_model("resnext29_2x64d"), "layer3.2.relu3"), 8);
  EXPECT_EQ(rows_of(load_model("densenet169"), "features.norm5"), 7);
  EXPECT_EQ(rows_of(load_model("densenet169-cifar"), "features.norm5"), 4);
  EXPECT_EQ(rows_of(load_model("mobilenet_v2"), "features.18.2"), 7);
  EXPECT_EQ(rows_of(load_model("mobilenet_v2-cifar"), "features.18.2"), 4);
  EXPECT_EQ(rows_of(load_model("wrn40_2"), "block3.layer.5.add"), 8);
  EXPECT_EQ(rows_of(load_model("vgg16"), "features.30"), 7);
  EXPECT_EQ(rows_of(load_model("nasbench201:6111"), "lastact.1"), 8);
}

TEST(ModelShapes, OptionsOfImages) {
  Graph graph = load_model("resnet18", {.batch = 2, .classes = 7, .size = 97});
  EXPECT_EQ(shape_of(graph, "input"), (Shape{2, 3, 97, 97}));
  EXPECT_EQ(shape_of(graph, "output"), (Shape{2, 7}));
  EXPECT_EQ(shape_of(load_model("densenet121", {.size = 29}), "output"), (Shape{1, 1000}));
  EXPECT_EQ(shape_of(load_model("densenet121-cifar", {.size = 8}), "output"), (Shape{1, 10}));
  EXPECT_EQ(shape_of(load_model("mobilenet_v2", {.size = 1}), "output"), (Shape{1, 1000}));
  EXPECT_EQ(shape_of(load_model("vgg11-cifar", {.size = 64}), "output"), (Shape{1, 10}));
  EXPECT_EQ(rows_of(load_model("vgg11", {.size = 448}), "avgpool"), 7);
  EXPECT_EQ(shape_of(load_model("wrn40_2", {.classes = 100}), "fc.weight"), (Shape{100, 128}));
}

TEST(ModelShapes, DetectorSaysOfEachBoxWhereAndWhat) {
  Graph graph = load_model("ssd_resnet50");
  EXPECT_EQ(shape_of(graph, "input"), (Shape{1, 3, 300, 300}));
  EXPECT_EQ(shape_of(graph, "boxes"), (Shape{1, 4, 8732}));
  EXPECT_EQ(shape_of(graph, "scores"), (Shape{1, 81, 8732}));
  ASSERT_EQ(graph.outputs.size(), 2u);
  EXPECT_EQ(graph.values[graph.outputs[0]].name, "boxes");
  std::vector<long> rows;
  for (int i = 0; i < 6; ++i) rows.push_back(rows_of(graph, fmt::format("loc.{}", i)));
  EXPECT_EQ(rows, (std::vector<long>{38, 19, 10, 5, 3, 1}));
  EXPECT_EQ(shape_of(load_model("ssd_resnet50", {.classes = 21}), "scores"), (Shape{1, 21, 8732}));
  EXPECT_EQ(shape_of(load_model("ssd_resnet50", {.size = 257}), "loc.5"), (Shape{1, 16, 1, 1}));
}

TEST(ModelShapes, TransformerReadsTokens) {
  Graph graph = load_model("bert_base", {.batch = 2, .size = 384});
  ASSERT_EQ(graph.inputs.size(), 3u);
  for (const char* name : {"input_ids", "attention_mask", "token_type_ids"}) {
    EXPECT_EQ(type_of(graph, name), (Type{Element::i64, {2, 384}})) << name;
  }
  EXPECT_EQ(shape_of(graph, "last_hidden_state"), (Shape{2, 384, 768}));
  EXPECT_EQ(shape_of(graph, "pooler_output"), (Shape{2, 768}));
  EXPECT_EQ(shape_of(graph, "encoder.layer.11.attention.self.scores"), (Shape{2, 12, 384, 384}));
  EXPECT_EQ(shape_of(load_model("bert_tiny"), "last_hidden_state"), (Shape{1, 128, 128}));
  EXPECT_EQ(shape_of(load_model("bert_tiny", {.size = 512}), "pooler_output"), (Shape{1, 128}));
}

TEST(ModelNames, AreThoseOfPytorch) {
  Graph resnet = load_model("resnet34");
  EXPECT_EQ(node_of(resnet, "layer2.0.conv1").op, "conv");
  EXPECT_EQ(node_of(resnet, "layer2.0.bn1").op, "batch_norm");
  EXPECT_EQ(shape_of(resnet, "layer2.0.conv1.weight"), (Shape{128, 64, 3, 3}));
  EXPECT_EQ(shape_of(resnet, "layer2.0.downsample.0.weight"), (Shape{128, 64, 1, 1}));
  EXPECT_EQ(shape_of(resnet, "layer2.0.bn1.running_var"), (Shape{128}));
  EXPECT_EQ(shape_of(resnet, "fc.bias"), (Shape{1000}));
  EXPECT_FALSE(find_node(resnet, "layer1.0.downsample.0"));

  Graph densenet = load_model("densenet161");
  EXPECT_EQ(shape_of(densenet, "features.denseblock1.denselayer1.conv1.weight"),
            (Shape{192, 96, 1, 1}));
  EXPECT_EQ(shape_of(densenet, "features.transition3.conv.weight"), (Shape{1056, 2112, 1, 1}));
  EXPECT_EQ(shape_of(densenet, "classifier.weight"), (Shape{1000, 2208}));

  Graph mobilenet = load_model("mobilenet_v2");
  EXPECT_EQ(shape_of(mobilenet, "features.1.conv.0.0.weight"), (Shape{32, 1, 3, 3}));
  EXPECT_EQ(shape_of(mobilenet, "features.2.conv.1.0.weight"), (Shape{96, 1, 3, 3}));
  EXPECT_EQ(node_of(mobilenet, "features.2.conv.1.0").attributes.at("groups"), Attribute{96});

  EXPECT_EQ(shape_of(load_model("vgg16"), "features.28.weight"), (Shape{512, 512, 3, 3}));
  EXPECT_EQ(shape_of(load_model("wrn40_2"), "block2.layer.0.convShortcut.weight"),
            (Shape{64, 32, 1, 1}));
  EXPECT_EQ(shape_of(load_model("resnext29_2x64d"), "layer1.0.conv2.weight"),
            (Shape{128, 64, 3, 3}));
  EXPECT_EQ(shape_of(load_model("bert_base"), "encoder.layer.3.attention.self.query.weight"),
            (Shape{768, 768}));
}

TEST(ModelNames, NodesAndValuesAgree) {
  for (const char* name : {"resnet50", "densenet121", "bert_tiny", "nasbench201:6111"}) {
    Graph graph = load_model(name);
    for (const Node& node : graph.nodes) {
      const std::string& value = graph.values[node.outputs[0]].name;
      bool is_output = std::count(graph.outputs.begin(), graph.outputs.end(), node.outputs[0]) > 0;
      EXPECT_TRUE(is_output || value == node.name) << name << ": " << node.name << ", " << value;
    }
  }
}

}  // namespace
}  // namespace lathe::test
