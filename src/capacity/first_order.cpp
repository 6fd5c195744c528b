// first_order.cpp: one layer re-evaluated. Interface: first_order.h.
#include "capacity/first_order.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "program/alone.h"
#include "transforms/transform_network.h"

namespace lathe {
namespace {

constexpr size_t no_place = static_cast<size_t>(-1);

/// A convolution with the normalisation that alone reads it, if one does.
struct Found {
  size_t node;
  std::optional<size_t> norm;

  std::vector<size_t> nodes() const { return norm ? std::vector{node, *norm} : std::vector{node}; }
};

std::vector<Found> find_layers(const Graph& graph) {
  std::vector<Found> result;
  auto users = consumers(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (graph.nodes[n].op != "conv") continue;
    result.push_back({n, norm_behind(graph, users, graph.nodes[n])});
  }
  return result;
}

/// Returns the convolutions that read the network's input, not what another one made of it.
std::vector<size_t> first_convolutions(const Graph& graph) {
  std::vector<size_t> result;
  std::vector<bool> is_read(graph.values.size(), false);
  for (ValueId id : graph.inputs) is_read[id] = true;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    bool reads = std::any_of(node.inputs.begin(), node.inputs.end(),
                             [&](ValueId id) { return id != no_value && is_read[id]; });
    if (reads && node.op == "conv") {
      result.push_back(n);
    } else if (reads) {
      for (ValueId id : node.outputs) is_read[id] = true;
    }
  }
  return result;
}

/// Adds the sums of squares of a value's channels to a probe; returns their place among the
/// results.
size_t want_channels(Probe& probe, ValueId value) {
  GraphBuilder& g = probe.graph();
  Shape axes{0};
  for (size_t i = 2; i < g.shape(value).size(); ++i) axes.push_back(static_cast<long>(i));
  return probe.want(g.call("reduce_sum_square", {value}, {{"axes", axes}, {"keep", 0L}}));
}

/// Returns the sum over filters of what each gets times the sum of its squared weights.
double handed_back(const Array& given, const Array& weight) {
  std::vector<double> squares = given.reals(), weights = weight.reals();
  size_t count = weights.size() / squares.size();
  double sum = 0;
  for (size_t c = 0; c < squares.size(); ++c) {
    for (size_t i = 0; i < count; ++i) {
      sum += squares[c] * weights[c * count + i] * weights[c * count + i];
    }
  }
  return sum;
}

/// Adds the sum of squares of a value to a probe; returns its place among the results.
size_t want_squares(Probe& probe, ValueId value) {
  GraphBuilder& g = probe.graph();
  return probe.want(g.call("reduce_sum_square", {value}, {{"keep", 0L}}));
}

/// Returns the nodes that are no layers and read, beside others, a value that is computed.
std::vector<size_t> find_joins(const Graph& graph, const std::vector<std::vector<size_t>>& users) {
  std::vector<size_t> result;
  for (size_t v = 0; v < users.size(); ++v) {
    if (graph.values[v].kind != Value::Kind::computed || users[v].size() < 2) continue;
    for (size_t n : users[v]) {
      if (graph.nodes[n].op != "conv") result.push_back(n);
    }
  }
  return result;
}

/// Returns the metrics that layers alone tell.
std::vector<Metric> told_by_layers(const std::vector<Metric>& metrics) {
  check(!metrics.empty(), "a rule reads a metric");
  if (!metrics.front().contributes.first_order) {
    fail("{} says nothing of layers alone, so networks cannot be judged by it to first order",
         metrics.front().name);
  }
  std::vector<Metric> result = metrics;
  std::erase_if(result, [](const Metric& metric) { return !metric.contributes.first_order; });
  return result;
}

/// Returns the score of all that a recipe made of a layer.
double score_of_parts(const Metric& metric, const Score& score) {
  if (score.layers.empty()) return score.total;
  if (metric.contributes.first_order->parts == FirstOrderScore::Parts::last) {
    return score.layers.back().score;
  }
  double sum = 0;
  for (const LayerScore& layer : score.layers) sum += layer.score;
  return sum;
}

}  // namespace

FirstOrder::FirstOrder(const Graph& network, const Scorer& scorer,
                       const std::vector<Metric>& metrics, uint64_t seed)
    : network_(network),
      users_(consumers(network)),
      metrics_(told_by_layers(metrics)),
      how_(scorer.evaluation(network, seed)),
      seed_(seed) {
  Batch batch = scorer.batch(network, seed);
  std::vector<Found> found = find_layers(network);
  std::vector<size_t> joins = find_joins(network, users_);
  // What a layer reads, and the gradient behind its normalisation: with the score, in one run.
  Evaluation evaluation(initialised(network, seed), batch, how_);
  Probe& probe = evaluation.probe();
  auto value_of = [&](ValueId id) {
    return *find_value(probe.graph().unfinished(), network.values[id].name);
  };
  std::vector<ValueId> outputs;
  for (const Found& layer : found) {
    outputs.push_back(value_of(network.nodes[layer.norm.value_or(layer.node)].outputs[0]));
  }
  for (size_t n : joins) outputs.push_back(value_of(network.nodes[n].outputs[0]));
  std::vector<ValueId> gradients = probe.loss_gradients(outputs);
  std::vector<size_t> reads, given, passed;
  for (size_t i = 0; i < found.size(); ++i) {
    const Node& node = network.nodes[found[i].node];
    reads.push_back(probe.want(value_of(node.inputs[0])));
    if (gradients[i] == no_value) fail("the loss does not depend on layer '{}'", node.name);
    given.push_back(probe.want(gradients[i]));
  }
  for (size_t i = 0; i < joins.size(); ++i) {
    ValueId gradient = gradients[found.size() + i];
    passed.push_back(gradient == no_value ? no_place : want_squares(probe, gradient));
  }
  original_ = evaluation.run(metrics_);
  how_.threads = 1;
  how_.compile.threads = 1;
  how_.kind.loss = ProbeKind::Loss::given;
  for (size_t i = 0; i < found.size(); ++i) {
    layers_[network.nodes[found[i].node].name] = {
        alone(network, found[i].nodes()), {probe.result(reads[i]), {}, probe.result(given[i])}};
  }
  for (size_t i = 0; i < joins.size(); ++i) {
    passed_on_[joins[i]] = passed[i] == no_place ? 0 : probe.result(passed[i]).reals()[0];
  }
}

FirstOrder::Alone FirstOrder::evaluated(const std::string& layer, const Recipe& recipe) {
  auto key = std::pair(layer, print(recipe));
  {
    std::lock_guard lock(mutex_);
    auto known = known_.find(key);
    if (known != known_.end()) return known->second;
  }
  auto found = layers_.find(layer);
  if (found == layers_.end()) fail("the network has no convolution '{}'", layer);
  const auto& [graph, batch] = found->second;
  Graph changed = initialised(
      recipe.empty() ? graph : transformed(graph, {{pattern_of(layer), recipe}}), seed_);
  Evaluation evaluation(changed, batch, how_);
  Probe& probe = evaluation.probe();
  // Weights are drawn independently: what a convolution hands back is, in squares, what each filter
  // gets times its squared weights. So nothing that the metrics do not need is computed.
  std::vector<ValueId> outputs;
  std::vector<size_t> firsts = first_convolutions(changed), places;
  for (size_t n : firsts) {
    const std::string& name = changed.values[changed.nodes[n].outputs[0]].name;
    outputs.push_back(*find_value(probe.graph().unfinished(), name));
  }
  for (ValueId gradient : probe.loss_gradients(outputs)) {
    places.push_back(gradient == no_value ? no_place : want_channels(probe, gradient));
  }
  // As it was, it is computed for all that: paths that join are compared by it.
  size_t exactly = no_place;
  if (recipe.empty()) {
    ValueId gradient = probe.loss_gradients({probe.images()})[0];
    if (gradient != no_value) exactly = want_squares(probe, gradient);
  }
  std::vector<Score> scores = evaluation.run(metrics_);
  Alone result;
  for (size_t m = 0; m < scores.size(); ++m) {
    result.scores.push_back(score_of_parts(metrics_[m], scores[m]));
  }
  if (exactly != no_place) result.measured = probe.result(exactly).reals()[0];
  for (size_t i = 0; i < firsts.size(); ++i) {
    if (places[i] == no_place) continue;
    const Value& weight = changed.values[changed.nodes[firsts[i]].inputs[1]];
    if (!weight.data) continue;
    result.estimated += handed_back(probe.result(places[i]), *weight.data);
  }
  std::lock_guard lock(mutex_);
  known_.emplace(key, result);
  return result;
}

LayerChange FirstOrder::change(const std::string& layer, const Recipe& recipe,
                               const std::optional<LayerWidth>&) {
  Alone changed = evaluated(layer, recipe);
  double before = recipe.empty() ? 0 : evaluated(layer, {}).estimated;
  return {changed.scores, before > 0 ? changed.estimated / before : 1};
}

double FirstOrder::weight_of(size_t node) {
  const Node& n = network_.nodes[node];
  return n.op == "conv" ? evaluated(n.name, {}).measured : passed_on_.at(node);
}

std::vector<LayerScore> FirstOrder::scores(const std::map<std::string, Recipe>& changed) {
  for (const auto& [layer, recipe] : changed) {
    if (!layers_.contains(layer)) fail("the network has no convolution '{}'", layer);
  }
  std::vector<double> gains;
  std::vector<LayerScore> result;
  for (const LayerScore& layer : original()) {
    if (!layers_.contains(layer.layer)) {  // no convolution: it stays as it is
      result.push_back({layer.layer, layer.score});
      gains.push_back(1);
      continue;
    }
    auto found = changed.find(layer.layer);
    LayerChange now = change(layer.layer, found == changed.end() ? Recipe() : found->second);
    result.push_back({layer.layer, now.scores.front()});
    gains.push_back(now.gain);
  }
  std::vector<double> received = flow().received(gains);
  double power = metrics_.front().contributes.first_order->gradient;
  for (size_t i = 0; i < result.size(); ++i) result[i].score *= std::pow(received[i], power);
  return result;
}

GradientFlow FirstOrder::flow() {
  std::vector<GradientFlow::Station> stations(network_.nodes.size());
  for (size_t n = 0; n < stations.size(); ++n) {
    const Node& node = network_.nodes[n];
    const std::vector<size_t>& users = users_[node.outputs[0]];
    for (size_t user : users) {
      stations[n].readers.push_back({user, users.size() == 1 ? 1 : weight_of(user)});
    }
    const std::vector<LayerScore>& layers = original();
    auto layer = std::find_if(layers.begin(), layers.end(),
                              [&](const LayerScore& l) { return l.layer == node.name; });
    bool is_layer = node.op == "conv" && layer != layers.end();
    if (is_layer) stations[n].layer = static_cast<size_t>(layer - layers.begin());
  }
  return GradientFlow(std::move(stations));
}

std::vector<double> GradientFlow::received(const std::vector<double>& gains) const {
  std::vector<double> result(gains.size(), 1), handed_back(stations_.size(), 1);
  // From the loss back.
  for (size_t n = stations_.size(); n-- > 0;) {
    const Station& station = stations_[n];
    double before = 0, after = 0;
    for (const Reader& reader : station.readers) {
      before += reader.weight;
      after += reader.weight * handed_back[reader.station];
    }
    if (before > 0) handed_back[n] = after / before;
    if (!station.layer) continue;
    result[*station.layer] = handed_back[n];
    handed_back[n] *= gains[*station.layer];
  }
  return result;
}

}  // namespace lathe
