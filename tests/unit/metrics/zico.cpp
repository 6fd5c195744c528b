// ZiCo against differences of the loss, in two batches.
#include "base/error.h"
#include "support/tiny_network.h"

namespace lathe::test {
namespace {

TEST(Zico, EqualsDifferences) {
  TinyNetwork plain;
  TinyBatch first(5, 1), second(5, 2);
  std::vector<double> wanted;
  for (const std::string& layer : TinyNetwork::layers()) {
    std::vector<std::vector<double>> g;
    for (const TinyBatch* data : {&first, &second}) {
      g.push_back(plain.gradient([&] { return plain.loss(data->images, data->labels); },
                                 layer + ".weight"));
    }
    double sum = 0;
    for (size_t i = 0; i < g[0].size(); ++i) {
      double mean = (g[0][i] + g[1][i]) / 2, size = (std::abs(g[0][i]) + std::abs(g[1][i])) / 2;
      double variance = (std::pow(g[0][i] - mean, 2) + std::pow(g[1][i] - mean, 2)) / 2;
      sum += size / std::sqrt(variance);
    }
    wanted.push_back(std::log(sum));
  }
  EvaluationOptions options;
  options.compile.target = native_target();
  options.more = [&](size_t) { return second.batch(); };
  expect_layers(scored("zico", plain, first, options), wanted, 1e-3);
}

TEST(Zico, NeedsASecondBatch) {
  EXPECT_THROW(scored("zico", TinyNetwork(), TinyBatch(2)), UserError);
}

}  // namespace
}  // namespace lathe::test
