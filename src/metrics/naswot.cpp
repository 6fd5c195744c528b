// naswot.cpp: NASWOT (Mellor et al., 2021): how well rectifiers tell images apart.
//
//   log |det K|,  K[n, m] = the number of rectifiers that are open for both images, or for neither
//
// With x[n, i] = 1 where the input of rectifier i is above 0 for image n, K is the sum over all
// layers of x x^T + (1 - x)(1 - x)^T. A layer of D rectifiers contributes 2 G[n, m] + D - G[n, n] -
// G[m, m], so that the probe computes G = x x^T only, and no (1 - x).
#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/matrix.h"
#include "metrics/metric_weights.h"

namespace lathe::metrics {
namespace {

/// The layers of rectifiers that read the same value.
struct Rectified {
  double layers = 0;
  double width = 0;  // rectifiers for each image
  size_t place = 0;  // of G among the probe's results
};

/// Adds G of a layer of rectifiers: what is behind the samples is one dimension.
ValueId shared_openings(Probe& probe, ValueId rectified, const std::string& name) {
  GraphBuilder& g = probe.graph();
  ValueId open = g.call("sign", {rectified}, {}, name + ".open");
  std::string behind = std::string("abcdefgh").substr(0, g.shape(open).size() - 1);
  return g.call("einsum", {open, open}, {{"equation", "n" + behind + ",m" + behind + "->nm"}},
                name + ".openings");
}

std::vector<Rectified> want_openings(Probe& probe, const Graph& network) {
  std::map<ValueId, Rectified> found;
  std::vector<ValueId> order;
  for (const Node& node : network.nodes) {
    if (node.op != "relu") continue;
    auto [at, is_new] = found.try_emplace(node.inputs[0]);
    at->second.layers += 1;
    if (!is_new) continue;
    order.push_back(node.inputs[0]);
    const Shape& shape = network.values[node.outputs[0]].type.shape;
    at->second.width = static_cast<double>(count_of(shape) / shape.at(0));
    at->second.place = probe.want(shared_openings(probe, node.outputs[0], node.name));
  }
  std::vector<Rectified> result;
  for (ValueId id : order) result.push_back(found[id]);
  return result;
}

Matrix kernel(const Probe& probe, const std::vector<Rectified>& layers, size_t samples) {
  Matrix result(samples, samples);
  for (const Rectified& layer : layers) {
    std::vector<double> g = probe.result(layer.place).reals();
    for (size_t n = 0; n < samples; ++n) {
      for (size_t m = 0; m < samples; ++m) {
        result(n, m) += layer.layers * (2 * g[n * samples + m] + layer.width - g[n * samples + n] -
                                        g[m * samples + m]);
      }
    }
  }
  return result;
}

/// Returns the logarithm of the determinant. Images that all rectifiers treat alike would make it
/// that of 0: every eigenvalue, of a matrix of counts, grows by what is next to nothing.
double log_determinant(Matrix matrix) {
  constexpr double least = 1e-6;  // counts are whole numbers: far below 1
  for (size_t n = 0; n < matrix.rows(); ++n) matrix(n, n) += least;
  return log_abs_determinant(matrix);
}

Finish attach_naswot(Evaluation& evaluation) {
  Probe& probe = evaluation.probe();
  std::vector<Rectified> layers = want_openings(probe, evaluation.network());
  if (layers.empty()) fail("naswot looks at rectifiers; '{}' has none", evaluation.network().name);
  auto samples = static_cast<size_t>(evaluation.batch().images.shape()[0]);
  return
      [&probe, layers, samples] { return Score{log_determinant(kernel(probe, layers, samples))}; };
}

}  // namespace

Metric naswot() {
  // It is a logarithm already, and about the whole network.
  return {"naswot",
          "NASWOT: how well the rectifiers tell images apart",
          attach_naswot,
          {.forms = {{Form::difference, Direction::promises}, {Form::moved, Direction::warns}}}};
}

}  // namespace lathe::metrics
