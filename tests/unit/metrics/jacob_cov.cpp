// Correlations of gradients by images, against differences.
#include "base/matrix.h"
#include "base/statistics.h"
#include "support/tiny_network.h"

namespace lathe::test {
namespace {

TEST(JacobCov, EqualsDifferences) {
  TinyNetwork plain;
  TinyBatch data(4);
  std::vector<double> g =
      TinyNetwork::differences([&] { return plain.output_sum(data.images); }, data.images.values);
  size_t count = g.size() / 4;
  Matrix correlations(4, 4);
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = 0; j < 4; ++j) {
      correlations(i, j) = i == j ? 1
                                  : pearson(Numbers(g).subspan(i * count, count),
                                            Numbers(g).subspan(j * count, count));
    }
  }
  double wanted = 0;
  for (double v : symmetric_eigenvalues(correlations)) {
    wanted -= std::log(v + 1e-5) + 1 / (v + 1e-5);
  }
  EXPECT_NEAR(scored("jacob_cov", plain, data).total, wanted, 1e-3);
}

}  // namespace
}  // namespace lathe::test
