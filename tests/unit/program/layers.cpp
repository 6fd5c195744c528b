// Which weights of a network are those of layers.
#include "program/layers.h"

#include <gtest/gtest.h>

#include "models/model.h"

namespace lathe::test {
namespace {

std::vector<std::string> names(const Graph& graph) {
  std::vector<std::string> result;
  for (ValueId id : layer_weights(graph)) result.push_back(graph.values[id].name);
  return result;
}

TEST(LayerWeights, AreMultipliedAndSummedUp) {
  // The table is looked up, the scale multiplies elements, the bias is added. What the matrix
  // product reads is made of two weights.
  Graph graph = parse_graph(R"(graph g
input tokens: i64[4]
weight table: f32[9x6] = zeros
weight positions: f32[4x6] = zeros
weight scale: f32[4x6] = zeros
weight first: f32[6x3] = zeros
weight second: f32[6x3] = zeros
weight last: f32[5x3] = zeros
weight bias: f32[5] = zeros
looked = gather(table, tokens): f32[4x6]
placed = add(looked, positions): f32[4x6]
scaled = mul(placed, scale): f32[4x6]
made = mul(first, second): f32[6x3]
product = matmul(scaled, made): f32[4x3]
scores = fully_connected(product, last, bias): f32[4x5]
output scores
)");
  EXPECT_EQ(names(graph), (std::vector<std::string>{"first", "second", "last"}));
}

TEST(LayerWeights, AreOnePerConvolutionAndFullyConnectedLayer) {
  Graph resnet = load_model("resnet20-cifar");
  size_t layers = 0;
  for (const Node& node : resnet.nodes) {
    layers += node.op == "conv" || node.op == "fully_connected" ? 1 : 0;
  }
  EXPECT_EQ(names(resnet).size(), layers);
}

}  // namespace
}  // namespace lathe::test
