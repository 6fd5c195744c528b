// zen.cpp: Zen-score (Lin et al., 2021): how much the features of an image change with the image.
//
//   log(mean of |f(x) - f(x + 0.01 e)|) + sum over batch normalisations of log(deviation)
//
// f is the network up to the global pooling, with weights from a normal distribution; x and e are
// drawn from one too. The length is that of one sample's features. A normalisation divides by the
// deviation of its channels, the root of their mean variance: the second sum takes that back, as
// without normalisations f would grow out of any number. It is the mean over several draws of x and
// e; the weights are drawn once.
#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "metrics/metric_weights.h"

namespace lathe::metrics {
namespace {

/// Samples of x, how often x and e are drawn, and how far e moves x. The samples and the distance
/// are the authors'.
constexpr long samples = 16;
constexpr int repeats = 4;
constexpr double distance = 0.01;

std::vector<double> drawn(size_t count, Random& random) {
  std::vector<double> result(count);
  for (double& value : result) value = random.normal();
  return result;
}

/// Draws the weights; biases begin at 0 and scales of normalisations at 1.
Graph with_drawn_weights(Graph graph, uint64_t seed) {
  std::vector<bool> scales(graph.values.size(), false);
  for (const Node& node : graph.nodes) {
    if (node.op.ends_with("_norm") && node.inputs.size() > 1) scales[node.inputs[1]] = true;
  }
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    Value& value = graph.values[id];
    if (value.kind != Value::Kind::weight) continue;
    auto count = static_cast<size_t>(count_of(value.type.shape));
    Random random(seed, "zen." + value.name);
    std::vector<double> values = value.type.shape.size() > 1
                                     ? drawn(count, random)
                                     : std::vector<double>(count, scales[id] ? 1 : 0);
    value.data = Array::of_reals(value.type.element, value.type.shape, values);
  }
  return graph;
}

/// Has a value rows and columns?
bool is_map(const Graph& graph, ValueId id) {
  if (id == no_value) return false;
  const Shape& shape = graph.values[id].type.shape;
  return std::any_of(shape.begin() + std::min<long>(2, static_cast<long>(shape.size())),
                     shape.end(), [](long size) { return size > 1; });
}

/// Returns the last value that has rows and columns; the output if none has.
ValueId features_of(const Graph& graph) {
  ValueId result = graph.outputs.at(0);
  for (const Node& node : graph.nodes) {
    bool pools = is_map(graph, node.inputs.empty() ? no_value : node.inputs[0]) &&
                 !is_map(graph, node.outputs[0]);
    if (pools) result = node.inputs[0];
  }
  return result;
}

/// Returns the features, and the variances that normalisations before them take from the batch.
Graph features_and_variances(const Graph& network) {
  Graph graph = in_training(network);
  graph.outputs = {features_of(network)};
  graph = without_dead(graph);
  for (const Node& node : graph.nodes) {
    if (node.op == "variance") graph.outputs.push_back(node.outputs[0]);
  }
  return graph;
}

/// Returns the mean over the samples of the distance between two features.
double mean_distance(const Array& a, const Array& b) {
  std::vector<double> x = a.reals(), y = b.reals();
  auto count = static_cast<size_t>(a.shape()[0]);
  size_t size = x.size() / count;
  double sum = 0;
  for (size_t n = 0; n < count; ++n) {
    double square = 0;
    for (size_t i = n * size; i < (n + 1) * size; ++i) square += (x[i] - y[i]) * (x[i] - y[i]);
    sum += std::sqrt(square);
  }
  return sum / static_cast<double>(count);
}

double log_deviation(const Array& variances) {
  double sum = 0;
  for (double variance : variances.reals()) sum += variance;
  return logarithm(sum / static_cast<double>(variances.count())) / 2;
}

/// Returns the score of one draw.
double zen_of(Runner& runner, const Shape& shape, Random random) {
  auto count = static_cast<size_t>(count_of(shape));
  std::vector<double> x = drawn(count, random), e = drawn(count, random);
  std::vector<Array> here = runner.run({Array::of_reals(Element::f32, shape, x)});
  for (size_t i = 0; i < count; ++i) x[i] += distance * e[i];
  std::vector<Array> there = runner.run({Array::of_reals(Element::f32, shape, x)});
  double score = logarithm(mean_distance(here[0], there[0]));
  for (size_t i = 1; i < here.size(); ++i) score += log_deviation(here[i]);
  return score;
}

Finish attach_zen(Evaluation& evaluation) {
  return [&evaluation] {
    const EvaluationOptions& options = evaluation.options();
    Graph graph = features_and_variances(
        with_drawn_weights(with_samples(evaluation.network(), samples), options.seed));
    Runner& runner = evaluation.runners().of(graph);
    const Shape& shape = graph.values[graph.inputs[0]].type.shape;
    Score score;
    for (int i = 0; i < repeats; ++i) {
      score.total += zen_of(runner, shape, Random(options.seed, fmt::format("zen.{}", i)));
    }
    score.total /= repeats;
    return score;
  };
}

}  // namespace

Metric zen() {
  // It is a logarithm already, and about the whole network.
  return {"zen",
          "Zen-score: how much features change with the image",
          attach_zen,
          {.forms = {{Form::difference, Direction::promises}, {Form::moved, Direction::warns}}}};
}

}  // namespace lathe::metrics
