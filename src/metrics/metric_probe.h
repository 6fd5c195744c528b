// Probes: a network as it learns, with all gradients and with what metrics add to look at them,
// compiled as one.
//
//   Probe& probe = evaluation.probe();
//   size_t place = probe.want(probe.weights()[0].gradient);      before it runs
//   probe.result(place)                                          after it ran
#pragma once

#include <memory>
#include <optional>

#include "autodiff/training.h"
#include "compile/runners.h"
#include "metrics/metric.h"
#include "ops/op_graph.h"

namespace lathe {

/// Samples with labels that a network is scored on.
struct Batch {
  Array images;              ///< what the first input reads: f32, samples first
  std::vector<long> labels;  ///< of the samples
  /// The gradient of the output, for probes whose loss is ProbeKind::Loss::given. They read no
  /// labels.
  std::optional<Array> gradient = std::nullopt;
  std::vector<Array> others = {};  ///< what further inputs read
};

/// Where activations are looked at.
enum class Hook {
  convolution,    ///< what a convolution computes
  normalisation,  ///< what the batch normalisation behind it makes of that
  block,          ///< the end of a residual block, before the sum
};

/// Finds a place by its name: "convolution", "normalisation", "block".
std::optional<Hook> hook_named(std::string_view name);
std::string name_of(Hook hook);

/// How a probe is made of a network.
struct ProbeKind {
  enum class Norm { batch, none } norm = Norm::batch;  ///< none: batch normalisations do nothing
  enum class Weights { own, absolute } weights = Weights::own;
  enum class Loss {
    cross_entropy,
    outputs,  ///< their sum
    given,    ///< the sum of all products with a gradient that comes with the batch
  } loss = Loss::cross_entropy;
  Element element = Element::f32;

  friend bool operator==(const ProbeKind&, const ProbeKind&) = default;
};

/// A network as it learns, and what metrics add to it. It runs once for each batch that it is
/// given.
class Probe {
 public:
  Probe(const Graph& network, const ProbeKind& kind, Hook hook);

  /// An activation that is looked at.
  struct Activation {
    std::string layer;
    ValueId value, gradient;  ///< of the sum of all samples' losses; none if nothing depends on it
  };
  const std::vector<Activation>& activations() const { return activations_; }

  /// A layer's weight (program/layers.h), with its gradient.
  struct Weight {
    std::string layer;  ///< the node that reads it first
    ValueId value, gradient;
  };
  const std::vector<Weight>& weights() const { return weights_; }

  ValueId images() const { return images_; }
  ValueId logits() const { return logits_; }

  /// Returns the graph, to add nodes to it.
  GraphBuilder& graph() { return graph_; }
  /// Adds the gradients of the sum of all elements of "of" by each value of "by", and returns them;
  /// no_value if the sum does not depend on that value.
  std::vector<ValueId> gradients(ValueId of, const std::vector<ValueId>& by);

  /// Adds the gradients of the sum of all samples' losses.
  std::vector<ValueId> loss_gradients(const std::vector<ValueId>& by) {
    return gradients(loss_, by);
  }

  /// Makes a value an output of the probe; returns its place among the results.
  size_t want(ValueId value);
  /// Adds a batch to run on; returns its number. The first is the evaluation's own.
  size_t feed(Batch batch);
  /// Returns a result of the run on a batch.
  const Array& result(size_t place, size_t batch = 0) const { return results_.at(batch).at(place); }

  /// Compiles the probe and runs it, if anything is wanted of it.
  void run(Runners& runners);

 private:
  ProbeKind kind_;
  GraphBuilder graph_;
  std::vector<ValueId> inputs_;  // of the network
  ValueId images_, logits_, loss_, labels_ = no_value;
  std::vector<Activation> activations_;
  std::vector<Weight> weights_;
  std::vector<ValueId> wanted_;
  std::vector<Batch> batches_;
  std::vector<std::vector<Array>> results_;  // of each batch
};

struct EvaluationOptions {
  Hook hook = Hook::convolution;
  ProbeKind kind = {};  ///< of the probe, unless a metric wants another
  int threads = 1;
  CompileOptions compile = {};  ///< with the machine that probes run on
  /// What runs the probes. Evaluations of one network with other weights can share it, so that the
  /// network is compiled once, as "compile" and "threads" say. Null: this evaluation has its own.
  std::shared_ptr<Runners> runners = nullptr;
  /// Returns further batches, for metrics that need more than one: 1, 2, ...
  std::function<Batch(size_t)> more = nullptr;
  uint64_t seed = 0;  ///< of what metrics draw
};

/// One network on one batch, seen by several metrics.
class Evaluation {
 public:
  /// Every weight of the network must have data.
  Evaluation(const Graph& network, Batch batch, EvaluationOptions options);

  /// Returns the probe of the usual kind (EvaluationOptions::kind), or of another one. Metrics that
  /// ask for the same kind share the probe.
  Probe& probe();
  Probe& probe(const ProbeKind& kind);

  const Graph& network() const { return network_; }
  const Batch& batch() const { return batch_; }
  const EvaluationOptions& options() const { return options_; }
  /// Returns what probes run with.
  Runners& runners() const { return *options_.runners; }

  /// Returns what each of the metrics says. Call it once. Fails if the loss is no number.
  std::vector<Score> run(const std::vector<Metric>& metrics);

 private:
  Graph network_;
  Batch batch_;
  EvaluationOptions options_;
  std::vector<std::pair<ProbeKind, std::unique_ptr<Probe>>> probes_;
};

}  // namespace lathe
