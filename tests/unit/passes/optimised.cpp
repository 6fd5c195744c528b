// The usual passes on networks: fewer nodes, the same outputs.
#include "base/random.h"
#include "models/model.h"
#include "support/run_graph.h"

namespace lathe::test {
namespace {

/// Gives the statistics and shifts of normalisations numbers that matter; they begin as 0 and 1.
Graph trained(const std::string& name, const ModelOptions& options) {
  Graph graph = initialised(load_model(name, options), 1);
  for (Value& value : graph.values) {
    bool is_vector = value.data && value.type.shape.size() == 1;
    if (!is_vector || value.type.element != Element::f32) continue;
    Random random(5, value.name);
    std::vector<double> numbers = value.data->reals();
    for (double& x : numbers) x += 0.5 * random.uniform();
    value.data = Array::of_reals(Element::f32, value.type.shape, numbers);
  }
  return graph;
}

/// Returns the graph after the usual passes that are good for every target.
Graph optimised(const Graph& graph) {
  std::vector<std::string> names = usual_passes(Pass::Stage::graph);
  std::erase(names, "FuseWindows");
  return after_passes(graph, names);
}

/// Expects so many nodes before and after the passes, and the same outputs.
Graph expect_optimised(const std::string& name, const ModelOptions& options, size_t before,
                       size_t after) {
  SCOPED_TRACE(name);
  Graph graph = trained(name, options);
  Graph result = optimised(graph);
  EXPECT_EQ(graph.nodes.size(), before);
  EXPECT_EQ(result.nodes.size(), after);
  expect_same_outputs(graph, result);
  EXPECT_EQ(print(optimised(result)), print(result));
  return result;
}

bool has_node(const Graph& graph, const std::string& op) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [&](const Node& node) { return node.op == op; });
}

TEST(Optimised, ResNet) {
  Graph graph = expect_optimised("resnet18-cifar", {.size = 4}, 68, 23);
  EXPECT_FALSE(has_node(graph, "batch_norm"));
  EXPECT_FALSE(has_node(graph, "relu"));
  EXPECT_FALSE(has_node(graph, "add"));
}

TEST(Optimised, MobileNet) {
  Graph graph = expect_optimised("mobilenet_v2-cifar", {.batch = 2, .size = 4}, 152, 55);
  EXPECT_FALSE(has_node(graph, "batch_norm"));
  EXPECT_FALSE(has_node(graph, "clip"));
}

TEST(Optimised, DenseNet) {
  Graph graph = expect_optimised("densenet121-cifar", {.size = 8}, 424, 246);
  EXPECT_FALSE(has_node(graph, "batch_norm"));
  EXPECT_FALSE(has_node(graph, "mul"));
}

TEST(Optimised, NasBench201) {
  Graph graph = expect_optimised("nasbench201:6111", {.size = 4}, 295, 104);
  EXPECT_FALSE(has_node(graph, "batch_norm"));
  EXPECT_FALSE(has_node(graph, "add"));
}

TEST(Optimised, NetworksWithoutData) {
  Graph graph = optimised(load_model("resnet18-cifar"));
  EXPECT_TRUE(has_node(graph, "fused"));
  EXPECT_FALSE(has_node(graph, "relu"));
  EXPECT_FALSE(has_node(graph, "batch_norm"));
  EXPECT_EQ(weight_count(graph), weight_count(load_model("resnet18-cifar")));
}

TEST(Optimised, Bert) {
  Graph graph = expect_optimised("bert_tiny", {.batch = 2, .size = 4}, 62, 49);
  EXPECT_FALSE(has_node(graph, "gelu"));
}

}  // namespace
}  // namespace lathe::test
