// SynFlow against differences of what flows out.
#include "support/tiny_network.h"

namespace lathe::test {
namespace {

TEST(Synflow, EqualsDifferences) {
  TinyNetwork plain;
  TinyBatch data(5);
  Score score = scored("synflow", plain, data);
  for (auto& [name, values] : plain.weights) {
    for (double& value : values) value = std::abs(value);
  }
  plain.norm = TinyNetwork::Norm::none;
  Map ones{1, TinyNetwork::channels, TinyNetwork::size};
  for (double& value : ones.values) value = 1;
  double total = 0;
  ASSERT_EQ(score.layers.size(), 3u);
  for (size_t l = 0; l < 3; ++l) {
    std::string layer = TinyNetwork::layers()[l];
    std::vector<double> g =
        plain.gradient([&] { return plain.output_sum(ones); }, layer + ".weight");
    double sum = 0;
    for (size_t i = 0; i < g.size(); ++i) sum += g[i] * plain.weights.at(layer + ".weight")[i];
    EXPECT_EQ(score.layers[l].layer, layer);
    EXPECT_NEAR(score.layers[l].score, sum, 1e-7 * sum);  // f64
    total += sum;
  }
  EXPECT_NEAR(score.total, std::log(total), 1e-7);
}

}  // namespace
}  // namespace lathe::test
