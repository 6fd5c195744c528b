// GraSP against differences of gradients that are differences themselves.
#include "support/tiny_network.h"

namespace lathe::test {
namespace {

using Gradient = std::map<std::string, std::vector<double>>;

Gradient gradient_of(TinyNetwork& plain, const TinyBatch& data) {
  Gradient result;
  for (const std::string& layer : TinyNetwork::layers()) {
    result[layer] =
        plain.gradient([&] { return plain.loss(data.images, data.labels); }, layer + ".weight");
  }
  return result;
}

/// Returns the network moved along a direction.
TinyNetwork moved(TinyNetwork plain, const Gradient& direction, double step) {
  for (const auto& [layer, g] : direction) {
    std::vector<double>& w = plain.weights.at(layer + ".weight");
    for (size_t i = 0; i < w.size(); ++i) w[i] += step * g[i];
  }
  return plain;
}

TEST(Grasp, EqualsDifferencesOfGradients) {
  TinyNetwork plain;
  TinyBatch data(5);
  Gradient g = gradient_of(plain, data);
  constexpr double step = 1e-4;
  TinyNetwork above = moved(plain, g, step), below = moved(plain, g, -step);
  Gradient high = gradient_of(above, data), low = gradient_of(below, data);
  std::vector<double> wanted;
  for (const std::string& layer : TinyNetwork::layers()) {
    const std::vector<double>& w = plain.weights.at(layer + ".weight");
    wanted.push_back(0);
    for (size_t i = 0; i < w.size(); ++i) {
      wanted.back() -= w[i] * (high[layer][i] - low[layer][i]) / (2 * step);
    }
  }
  expect_layers(scored("grasp", plain, data), wanted, 1e-3);
}

}  // namespace
}  // namespace lathe::test
