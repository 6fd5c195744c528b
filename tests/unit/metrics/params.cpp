// Weights, counted by hand.
#include "support/tiny_network.h"

namespace lathe::test {
namespace {

TEST(Params, CountsAllWeightsByTheirReader) {
  Score score = scored("params", TinyNetwork(), TinyBatch(2));
  std::map<std::string, double> layers;
  for (const LayerScore& layer : score.layers) layers[layer.layer] = layer.score;
  EXPECT_EQ(layers, (std::map<std::string, double>{
                        {"conv1", 54}, {"bn1", 6}, {"conv2", 108}, {"bn2", 8}, {"fc", 15}}));
  EXPECT_EQ(score.total, 191);
}

}  // namespace
}  // namespace lathe::test
