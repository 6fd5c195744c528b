// Lengths of gradients against differences of the loss.
#include "support/tiny_network.h"

namespace lathe::test {
namespace {

TEST(GradNorm, EqualsDifferences) {
  TinyNetwork plain;
  TinyBatch data(5);
  std::vector<double> wanted;
  for (const std::string& layer : TinyNetwork::layers()) {
    double square = 0;
    auto loss = [&] { return plain.loss(data.images, data.labels); };
    for (double g : plain.gradient(loss, layer + ".weight")) square += g * g;
    wanted.push_back(std::sqrt(square));
  }
  expect_layers(scored("grad_norm", plain, data), wanted);
}

}  // namespace
}  // namespace lathe::test
