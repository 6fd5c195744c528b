// SNIP against differences of the loss.
#include "support/tiny_network.h"

namespace lathe::test {
namespace {

TEST(Snip, EqualsDifferences) {
  TinyNetwork plain;
  TinyBatch data(5);
  std::vector<double> wanted;
  for (const std::string& layer : TinyNetwork::layers()) {
    std::vector<double>& w = plain.weights.at(layer + ".weight");
    std::vector<double> g =
        TinyNetwork::differences([&] { return plain.loss(data.images, data.labels); }, w);
    wanted.push_back(0);
    for (size_t i = 0; i < w.size(); ++i) wanted.back() += std::abs(w[i] * g[i]);
  }
  expect_layers(scored("snip", plain, data), wanted);
}

}  // namespace
}  // namespace lathe::test
