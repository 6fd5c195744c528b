// Metrics: scores of a network before anybody trained it. Each file X.cpp of this folder defines
// one.
//
//   Evaluation evaluation(graph, batch, {});
//   Score score = evaluation.run({find_metric("fisher")})[0];
//
// A metric adds nodes to a program (the network as it learns, with all gradients) that compute
// something small, and says how a score is made of that. So several metrics share one program,
// which is compiled and run once.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "autodiff/training.h"
#include "compile/compile.h"
#include "ops/op_graph.h"

namespace lathe {

/// Images with labels that a network is scored on.
struct Batch {
  Array images;              ///< f32, samples first
  std::vector<long> labels;  ///< of the samples
};

/// What a metric says of one layer.
struct LayerScore {
  std::string layer;  ///< the node's name
  double score = 0;
  std::vector<double> channels = {};  ///< of which it is the sum, where there are any
};

struct Score {
  double total = 0;
  std::vector<LayerScore> layers = {};
};

/// Where activations are looked at.
enum class Hook {
  convolution,    ///< what a convolution computes
  normalisation,  ///< what the batch normalisation behind it makes of that
  block,          ///< the end of a residual block, before the sum
};

/// Finds a place by its name: "convolution", "normalisation", "block".
std::optional<Hook> hook_named(std::string_view name);

/// A program that metrics add to: the network as it learns, on one batch.
class Program {
 public:
  Program(const Graph& network, const Batch& batch, Hook hook);

  /// An activation that is looked at.
  struct Activation {
    std::string layer;
    ValueId value, gradient;  ///< of the sum of all samples' losses
  };
  const std::vector<Activation>& activations() const { return activations_; }

  /// A weight of the network, with its gradient; none if nothing depends on it.
  struct Weight {
    ValueId value, gradient;
  };
  const std::vector<Weight>& weights() const { return weights_; }

  const Learning& learning() const { return learning_; }
  GraphBuilder& graph() { return graph_; }

  /// Makes a value an output of the program; returns its place among the results.
  size_t want(ValueId value);
  /// Returns a result, once the program ran.
  const Array& result(size_t place) const { return results_.at(place); }

  /// Compiles the program and runs it.
  void run(const CompileOptions& options, int threads);

 private:
  Batch batch_;
  Learning learning_;
  GraphBuilder graph_;
  std::vector<Activation> activations_;
  std::vector<Weight> weights_;
  std::vector<ValueId> wanted_;
  std::vector<Array> results_;
};

/// Makes a score, once the program ran.
using Finish = std::function<Score()>;

struct Metric {
  std::string name;
  std::string summary;  ///< one line
  /// Adds what the metric needs to a program.
  Finish (*prepare)(Program& program);
};

namespace metrics {
/// Returns all metrics, sorted by name.
const std::vector<Metric>& all();
}  // namespace metrics

/// Finds a metric by name; an unknown one gets an error that lists what there is.
const Metric& find_metric(const std::string& name);

}  // namespace lathe
