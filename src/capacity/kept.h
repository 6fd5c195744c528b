// What is kept of a trained network: which share of what its layers computed they can still
// compute, with other weights, after steps changed them.
//
//   KeptShares kept(network, minibatches, rule.metrics(), {});       runs the network once
//   kept.change("layer3.0.conv1", recipe).scores[0]                  0.88: 12 % of its output is
//   lost
//
// That is a regression of what the layer computed on what it still reads (capacity/fit.h). All that
// it needs of the samples are sums of products, of pairs of what the layer reads and of that with
// what it computed. Variants that read less need a part of them; so each layer looks at the samples
// once, and a variant is a small system of equations.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "base/array.h"
#include "capacity/fit.h"
#include "capacity/gate.h"
#include "capacity/layer_scores.h"
#include "codegen/target.h"
#include "graph/graph.h"

namespace lathe {

struct KeptOptions {
  Target target;          ///< a machine of this computer
  double ridge = 0.001;   ///< as in FitOptions
  long observations = 4;  ///< at most so many for each weight of a filter
  int threads = 1;
  std::function<void(size_t, size_t)> progress = nullptr;  ///< layers done, and of how many
};

class KeptShares : public LayerScores {
 public:
  /// Of the metrics, the first one is "kept"; others must count sizes. Every weight of the network
  /// has data. Minibatches are inputs, all of one size.
  KeptShares(const Graph& network, const std::vector<Array>& minibatches,
             const std::vector<Metric>& metrics, const KeptOptions& options);
  ~KeptShares() override;

  const std::vector<Metric>& metrics() const override { return metrics_; }
  const std::vector<Score>& original_scores() const override { return original_; }
  /// Fails for variants whose weights are not those of a convolution like the layer, of some of its
  /// channels.
  LayerChange change(const std::string& layer, const Recipe& recipe,
                     const std::optional<LayerWidth>& width = std::nullopt) override;
  /// Nothing: what a layer computes does not depend on gradients.
  GradientFlow flow() override { return {}; }

 private:
  struct Layer;

  std::vector<Metric> metrics_;
  std::vector<Score> original_;
  std::map<std::string, std::unique_ptr<Layer>> layers_;
  std::mutex mutex_;
  std::map<std::string, LayerChange> known_;

  double kept_by(const Layer& layer, const Graph& changed) const;
};

/// Compares a network that was fitted with its original: by "kept", the first of the metrics, by
/// "untuned", and by others that look at the structure of a network alone. "gained" is how many
/// more percent of samples it gets right, which "untuned" is about.
std::vector<Comparison> compared_trained(const Graph& original, const Fit& fit,
                                         const std::vector<Metric>& metrics, double gained);

}  // namespace lathe
