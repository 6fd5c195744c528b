// metric_probe.cpp: networks as they learn, for metrics. Interface: metric_probe.h.
#include "metrics/metric_probe.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "autodiff/gradient.h"
#include "base/error.h"
#include "program/layers.h"

namespace lathe {
namespace {

struct Hooked {
  std::string layer;
  ValueId value;
};

/// Returns the values that are looked at.
std::vector<Hooked> hooked(const Graph& graph, Hook hook) {
  std::vector<Hooked> result;
  std::vector<size_t> depth(graph.values.size(), 0);
  for (const Node& node : graph.nodes) {
    size_t deepest = 0;
    for (ValueId id : node.inputs) {
      if (id != no_value) deepest = std::max(deepest, depth[id]);
    }
    for (ValueId id : node.outputs) depth[id] = deepest + 1;
    const char* op = hook == Hook::convolution     ? "conv"
                     : hook == Hook::normalisation ? "batch_norm"
                                                   : "add";
    if (node.op != op) continue;
    if (hook != Hook::block) {
      result.push_back({node.name, node.outputs[0]});
      continue;
    }
    // Of a residual sum, the longer way is the block.
    ValueId a = node.inputs[0], b = node.inputs[1];
    bool residual = graph.values[a].kind == Value::Kind::computed &&
                    graph.values[b].kind == Value::Kind::computed &&
                    graph.values[a].type == graph.values[b].type;
    if (residual) result.push_back({node.name, depth[a] >= depth[b] ? a : b});
  }
  return result;
}

Array one_hot(const std::vector<long>& labels, const Type& type) {
  if (static_cast<long>(labels.size()) != type.shape[0]) {
    fail("the network takes {} samples, but there are {} labels", type.shape[0], labels.size());
  }
  auto classes = static_cast<size_t>(type.shape[1]);
  std::vector<double> values(labels.size() * classes, 0);
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= type.shape[1]) {
      fail("sample {} is of class {}, but the network knows {} classes", i, labels[i],
           type.shape[1]);
    }
    values[i * classes + static_cast<size_t>(labels[i])] = 1;
  }
  return Array::of_reals(type.element, type.shape, values);
}

/// Returns the network without batch normalisations.
Graph without_norms(Graph graph) {
  for (Node& node : graph.nodes) {
    if (node.op == "batch_norm") node = {node.name, "identity", {}, {node.inputs[0]}, node.outputs};
  }
  return graph;
}

Array absolute(const Array& array) {
  std::vector<double> values = array.reals();
  for (double& value : values) value = std::abs(value);
  return Array::of_reals(array.element(), array.shape(), values);
}

Array converted(const Array& array, Element element) {
  return Array::of_reals(element, array.shape(), array.reals());
}

/// Returns the network with all reals of one type.
Graph with_reals(Graph graph, Element element) {
  for (Value& value : graph.values) {
    if (!is_float(value.type.element) || value.type.element == element) continue;
    value.type.element = element;
    if (value.data) value.data = converted(*value.data, element);
  }
  return graph;
}

Graph network_of(const Graph& graph, const ProbeKind& kind) {
  Graph result = kind.norm == ProbeKind::Norm::batch ? in_training(graph) : without_norms(graph);
  if (kind.weights == ProbeKind::Weights::absolute) {
    for (Value& value : result.values) {
      if (value.kind == Value::Kind::weight && value.data) value.data = absolute(*value.data);
    }
  }
  return with_reals(std::move(result), kind.element);
}

/// Returns the node that first reads each value.
std::vector<std::string> readers(const Graph& graph) {
  std::vector<std::string> result(graph.values.size());
  for (const Node& node : graph.nodes) {
    for (ValueId id : node.inputs) {
      if (id != no_value && result[id].empty()) result[id] = node.name;
    }
  }
  return result;
}

/// A probe whose first nodes are evaluated and not compiled: those that have no gradient, as
/// lookups in a table, and read nothing but inputs, weights, and each other. The rest reads what
/// they compute as inputs.
class LookedUp {
 public:
  explicit LookedUp(const Graph& graph) : graph_(graph), rest_(graph) {
    rest_.nodes.clear();
    auto is_given = [&](ValueId id) {
      return id == no_value || rest_.values[id].kind != Value::Kind::computed;
    };
    for (const Node& node : graph.nodes) {
      bool looked_up = !reads_are_known(call_of(graph, node)) &&
                       std::all_of(node.inputs.begin(), node.inputs.end(), is_given);
      (looked_up ? nodes_ : rest_.nodes).push_back(node);
      if (!looked_up) continue;
      for (ValueId id : node.outputs) {
        check(id != no_value, "a lookup has outputs that are there");
        rest_.values[id].kind = Value::Kind::input;
        rest_.inputs.push_back(id);
      }
    }
    if (!nodes_.empty()) rest_ = without_dead(rest_);
  }

  const Graph& rest() const { return rest_; }

  /// Returns the inputs of the rest for those of the probe.
  std::vector<Array> inputs_of_rest(std::vector<Array> inputs) const {
    Context context;
    std::map<ValueId, Array> known;
    for (size_t i = 0; i < inputs.size(); ++i) known.emplace(graph_.inputs.at(i), inputs[i]);
    for (const Node& node : nodes_) {
      std::vector<Array> operands;
      for (ValueId id : node.inputs) {
        if (id == no_value) continue;
        operands.push_back(known.contains(id) ? known.at(id) : graph_.values[id].data.value());
      }
      std::vector<Array> outputs = evaluate(context, call_of(graph_, node), operands);
      for (size_t i = 0; i < outputs.size(); ++i) {
        known.emplace(node.outputs[i], outputs[i]);
        inputs.push_back(std::move(outputs[i]));
      }
    }
    return inputs;
  }

 private:
  const Graph& graph_;
  Graph rest_;
  std::vector<Node> nodes_;
};

}  // namespace

std::optional<Hook> hook_named(std::string_view name) {
  if (name == "convolution") return Hook::convolution;
  if (name == "normalisation") return Hook::normalisation;
  if (name == "block") return Hook::block;
  return std::nullopt;
}

std::string name_of(Hook hook) {
  return hook == Hook::convolution     ? "convolution"
         : hook == Hook::normalisation ? "normalisation"
                                       : "block";
}

Probe::Probe(const Graph& network, const ProbeKind& kind, Hook hook) : kind_(kind), graph_("") {
  using Loss = ProbeKind::Loss;
  Graph plain = network_of(network, kind);
  Learning learning = kind.loss == Loss::given ? with_given_gradient(plain) : with_loss(plain);
  inputs_ = plain.inputs;
  images_ = learning.images;
  logits_ = learning.logits;
  if (kind.loss != Loss::outputs) labels_ = learning.labels;
  const Graph& graph = learning.graph;
  std::vector<std::string> layers = readers(graph);
  std::vector<ValueId> by;
  for (const Hooked& each : hooked(graph, hook)) {
    activations_.push_back({each.layer, each.value, no_value});
    by.push_back(each.value);
  }
  for (ValueId id : layer_weights(graph)) {
    weights_.push_back({layers[id], id, no_value});
    by.push_back(id);
  }
  graph_ = GraphBuilder(learning.graph);
  loss_ = kind.loss == Loss::outputs ? logits_ : learning.losses;
  std::vector<ValueId> found = gradients(loss_, by);
  for (size_t i = 0; i < activations_.size(); ++i) activations_[i].gradient = found[i];
  for (size_t i = 0; i < weights_.size(); ++i) {
    weights_[i].gradient = found[activations_.size() + i];
  }
}

std::vector<ValueId> Probe::gradients(ValueId of, const std::vector<ValueId>& by) {
  Gradients result = with_gradients(graph_.unfinished(), of, by);
  graph_ = GraphBuilder(std::move(result.graph));
  return result.by;
}

size_t Probe::want(ValueId value) {
  auto known = std::find(wanted_.begin(), wanted_.end(), value);
  if (known != wanted_.end()) return static_cast<size_t>(known - wanted_.begin());
  wanted_.push_back(value);
  return wanted_.size() - 1;
}

size_t Probe::feed(Batch batch) {
  batches_.push_back(std::move(batch));
  return batches_.size() - 1;
}

void Probe::run(Runners& runners) {
  if (wanted_.empty()) return;
  Graph graph = graph_.unfinished();
  graph.outputs = wanted_;
  if (labels_ == no_value) graph.inputs = inputs_;
  graph = without_dead(graph);
  verify_types(graph);
  LookedUp looked_up(graph);
  Runner& runner = runners.of(looked_up.rest());
  for (const Batch& batch : batches_) {
    std::vector<Array> inputs{converted(batch.images, graph_.type(images_).element)};
    for (const Array& other : batch.others) {
      inputs.push_back(converted(other, graph_.type(inputs_.at(inputs.size())).element));
    }
    if (batch.gradient) {
      inputs.push_back(converted(*batch.gradient, kind_.element));
    } else if (labels_ != no_value) {
      inputs.push_back(one_hot(batch.labels, graph_.type(labels_)));
    }
    results_.push_back(runner.run(looked_up.inputs_of_rest(std::move(inputs))));
  }
}

Evaluation::Evaluation(const Graph& network, Batch batch, EvaluationOptions options)
    : network_(network), batch_(std::move(batch)), options_(std::move(options)) {
  if (network.inputs.size() != batch_.others.size() + 1) {
    fail("'{}' has {} inputs, but the data are for {}", network.name, network.inputs.size(),
         batch_.others.size() + 1);
  }
  for (size_t i = 0; i < network.inputs.size(); ++i) {
    const Shape& shape = network.values[network.inputs[i]].type.shape;
    const Shape& given = (i == 0 ? batch_.images : batch_.others[i - 1]).shape();
    if (given == shape) continue;
    fail("'{}' takes images {}, not {}", network.name, print_shape(shape), print_shape(given));
  }
  if (!options_.runners) {
    options_.runners = std::make_shared<Runners>(options_.compile, options_.threads);
  }
}

Probe& Evaluation::probe() { return probe(options_.kind); }

Probe& Evaluation::probe(const ProbeKind& kind) {
  for (auto& [known, probe] : probes_) {
    if (known == kind) return *probe;
  }
  probes_.emplace_back(kind, std::make_unique<Probe>(network_, kind, options_.hook));
  probes_.back().second->feed(batch_);
  return *probes_.back().second;
}

std::vector<Score> Evaluation::run(const std::vector<Metric>& metrics) {
  std::vector<Finish> finishes;
  for (const Metric& metric : metrics) finishes.push_back(metric.attach(*this));
  for (auto& [kind, probe] : probes_) probe->run(runners());
  std::vector<Score> scores;
  for (size_t i = 0; i < metrics.size(); ++i) {
    scores.push_back(finishes[i]());
    if (std::isfinite(scores.back().total)) continue;
    fail(
        "'{}' cannot be scored: {} is {}; do weights or images hold NaN, or huge numbers? Or has "
        "the exporter folded its batch normalisations?",
        network_.name, metrics[i].name, scores.back().total);
  }
  return scores;
}

}  // namespace lathe
