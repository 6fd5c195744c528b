// kept.cpp: see kept.h.
#include "capacity/kept.h"

#include <algorithm>

#include "base/error.h"
#include "capacity/fit_targets.h"
#include "capacity/layer_equations.h"
#include "compile/walk.h"
#include "metrics/metric_probe.h"
#include "ops/op.h"
#include "program/alone.h"
#include "program/layers.h"
#include "program/pieces.h"
#include "program/rebatch.h"
#include "transforms/transform_network.h"

namespace lathe {
namespace {

/// Returns what metrics say that look at the structure of a network. Nothing runs for that.
std::vector<Score> sizes_of(const Graph& network, const std::vector<Metric>& metrics) {
  if (metrics.empty()) return {};
  Batch batch{Array(Element::f32, network.values[network.inputs.front()].type.shape), {}};
  return Evaluation(network, batch, {}).run(metrics);
}

/// Returns the first number and every "step"-th that follows, up to and without the end.
std::vector<size_t> every(long first, long end, long step) {
  std::vector<size_t> result;
  for (long i = first; i < end; i += step) result.push_back(static_cast<size_t>(i));
  return result;
}

/// Returns the places of all elements of the window, for these channels.
std::vector<size_t> regressors_of(const std::vector<size_t>& channels, size_t window) {
  std::vector<size_t> result;
  for (size_t c : channels) {
    for (size_t i = 0; i < window; ++i) result.push_back(c * window + i);
  }
  return result;
}

/// Returns one of several equal parts of a list.
std::vector<size_t> part_of(const Shape& list, size_t part, size_t parts) {
  size_t count = list.size() / parts;
  auto begin = list.begin() + static_cast<long>(part * count);
  return {begin, begin + static_cast<long>(count)};
}

/// Has a node the window and the strides of the layer that is alone? Groups do not count.
bool is_like(const Graph& alone, const Graph& changed, const Node& node) {
  const Node& own = alone.nodes.front();
  Attributes before = own.attributes, now = node.attributes;
  before.erase("groups");
  now.erase("groups");
  const Shape &was = alone.values[own.inputs[1]].type.shape,
              &is = changed.values[node.inputs[1]].type.shape;
  return now == before && std::equal(is.begin() + 2, is.end(), was.begin() + 2, was.end());
}

/// Does a part of a layer's output have all of its positions, of some channels?
bool has_all_positions(const Graph& alone, const FitTarget& part) {
  const Shape& shape = alone.values[alone.nodes.front().outputs[0]].type.shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (d != 1 && part.at[d] != counted(shape[d])) return false;
  }
  return true;
}

/// Returns what is kept of each layer of the original, in a network that was fitted to it.
Score kept_in(const Fit& fit, const std::vector<std::string>& names) {
  std::vector<double> lost(names.size(), 0), parts(names.size(), 0);
  for (const LayerFit& layer : fit.layers) {
    auto place = layer_with(layer.layer, names);
    if (!place) continue;
    lost[*place] += layer.unexplained;
    parts[*place] += 1;
  }
  Score score;
  for (size_t i = 0; i < names.size(); ++i) {
    constexpr double least = 0.01;  // a layer of which nothing is left is no further away than this
    double kept = parts[i] == 0 ? 1 : std::max(least, 1 - lost[i] / parts[i]);
    score.layers.push_back({names[i], kept});
    score.total += kept;
  }
  return score;
}

/// Returns the layers that "kept" scores.
std::vector<size_t> scored_layers(const Graph& network, Context& context) {
  std::vector<size_t> nodes;
  for (size_t n = 0; n < network.nodes.size(); ++n) {
    const Node& node = network.nodes[n];
    if (node.op != "conv") continue;
    if (regression_of(nest_of(context, call_of(network, node)))) nodes.push_back(n);
  }
  return nodes;
}

}  // namespace

struct KeptShares::Layer {
  Graph alone;
  size_t window = 1;  ///< elements of a filter for each channel
  long filters = 0;
  std::vector<NormalEquations> blocks;
  std::vector<Matrix> first;    ///< of each block: what so many channels explain of each filter
  std::vector<double> weights;  ///< how much each filter counts
  double ridge = 0;

  /// Looks at all samples of a layer. "many" is the network for as many of them as walk together.
  Layer(Graph layer, const Graph& many, const Node& node, bool normalised, Walk& walk,
        const KeptOptions& options)
      : alone(std::move(layer)), ridge(options.ridge) {
    Context context;
    Nest nest = nest_of(context, call_of(many, node));
    Regression regression = *regression_of(nest);
    const Shape& weight = many.values[node.inputs[1]].type.shape;
    window = static_cast<size_t>(count_of(Shape(weight.begin() + 2, weight.end())));
    filters = weight[0];
    blocks = equations_of(regression, nest.tensors()[regression.input], walk.of(node.inputs[0]),
                          walk.of(node.outputs[0]), {options.observations, false, options.threads});
    walk.release(node.inputs[0]);
    walk.release(node.outputs[0]);
    for (const NormalEquations& block : blocks) {
      first.push_back(block.explained_by_first(window, ridge));
      for (double variance : block.variances()) weights.push_back(normalised ? 1 : variance);
    }
  }

  /// Sums up what is kept of filters, each weighed.
  struct Sum {
    double kept = 0, whole = 0;
    void add(double share, double all, double weight) {
      kept += weight * (all > 0 ? std::min(1.0, share / all) : 1);
      whole += weight;
    }
    double mean() const { return whole > 0 ? kept / whole : 1; }
  };

  double explained(size_t block, size_t filter) const {
    return first[block](filter, first[block].columns() - 1);
  }

  /// Adds what some channels say of some filters, in a layer of one block.
  void add(Sum& sum, const std::vector<size_t>& from, const std::vector<size_t>& to) const {
    std::vector<double> shares = blocks[0].explained_by(regressors_of(from, window), to, ridge);
    for (size_t i = 0; i < to.size(); ++i) sum.add(shares[i], explained(0, to[i]), weights[to[i]]);
  }

  double kept_by(const LayerWidth& width) const {
    Sum sum;
    if (blocks.size() == 1 && width.groups > 1) {
      long outputs = width.filters / width.groups;
      for (long g = 0; g < width.groups; ++g) {
        add(sum, every(g, width.inputs, width.groups), every(g * outputs, (g + 1) * outputs, 1));
      }
      return sum.mean();
    }
    auto groups = static_cast<long>(blocks.size());
    if (width.groups > 1) fail("a layer in {} groups was put into others", groups);
    if (width.inputs < groups) return 1;  // one channel a filter: fewer of both keep all of theirs
    auto inputs = static_cast<size_t>(width.inputs / groups);
    for (size_t b = 0; b < blocks.size(); ++b) {
      for (size_t f = 0; f < static_cast<size_t>(width.filters / groups); ++f) {
        sum.add(first[b](f, inputs), explained(b, f), weights[b * first[b].rows() + f]);
      }
    }
    return sum.mean();
  }
};

KeptShares::KeptShares(const Graph& network, const std::vector<Array>& minibatches,
                       const std::vector<Metric>& metrics, const KeptOptions& options)
    : metrics_(metrics) {
  std::erase_if(metrics_, [](const Metric& m) { return !m.contributes.first_order; });
  check(!metrics_.empty() && metrics_.front().name == "kept",
        "a trained network is judged by that");
  Graph many = rebatched(network, minibatches.front().shape().front());
  auto users = consumers(many);
  Context context;
  std::vector<size_t> nodes = scored_layers(many, context);
  std::map<ValueId, size_t> wanted;
  for (size_t n : nodes) {
    ++wanted[many.nodes[n].inputs.front()];
    ++wanted[many.nodes[n].outputs.front()];
  }
  Runners runners({.target = options.target, .weights = WeightData::later}, options.threads);
  Walk walk(many, minibatches, runners, wanted);
  Score all;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = many.nodes[nodes[i]];
    bool normalised = norm_behind(many, users, node).has_value();
    layers_[node.name] =
        std::make_unique<Layer>(alone(network, {nodes[i]}), many, node, normalised, walk, options);
    all.layers.push_back({node.name, 1});
    all.total += 1;
    if (options.progress) options.progress(i + 1, nodes.size());
  }
  original_ = sizes_of(network, {metrics_.begin() + 1, metrics_.end()});
  original_.insert(original_.begin(), all);
}

KeptShares::~KeptShares() = default;

LayerChange KeptShares::change(const std::string& layer, const Recipe& recipe,
                               const std::optional<LayerWidth>& width) {
  auto found = layers_.find(layer);
  if (found == layers_.end()) fail("the network has no convolution '{}'", layer);
  std::string key = layer + ": " + print(recipe);
  {
    std::lock_guard lock(mutex_);
    auto known = known_.find(key);
    if (known != known_.end()) return known->second;
  }
  const Graph& alone = found->second->alone;
  Graph changed = recipe.empty() ? alone : transformed(alone, {{pattern_of(layer), recipe}});
  LayerChange result;
  result.scores.push_back(recipe.empty() ? 1
                          : width        ? found->second->kept_by(*width)
                                         : kept_by(*found->second, changed));
  for (const Score& size :
       sizes_of(initialised(changed, 0), {metrics_.begin() + 1, metrics_.end()})) {
    result.scores.push_back(size.total);
  }
  std::lock_guard lock(mutex_);
  known_.emplace(key, result);
  return result;
}

double KeptShares::kept_by(const Layer& layer, const Graph& changed) const {
  auto refuse = [&] { fail("what is kept of '{}' is not known", layer.alone.name); };
  if (layer.blocks.size() != 1) refuse();
  std::map<ValueId, FitTarget> targets = fit_targets(layer.alone, changed);
  std::vector<bool> explained(static_cast<size_t>(layer.filters), false);
  Layer::Sum sum;
  for (const Node& node : changed.nodes) {
    if (!is_layer(node)) continue;
    auto target = targets.find(node.outputs.front());
    auto channels = channels_copied(changed, node.inputs.front());
    if (target == targets.end() || !channels || !is_like(layer.alone, changed, node)) refuse();
    if (!has_all_positions(layer.alone, target->second)) refuse();
    const Shape& to = target->second.at[1];
    auto groups =
        channels->size() / static_cast<size_t>(changed.values[node.inputs[1]].type.shape[1]);
    for (size_t g = 0; g < groups; ++g) {
      std::vector<size_t> filters = part_of(to, g, groups);
      for (size_t f : filters) {
        if (explained[f]) refuse();
        explained[f] = true;
      }
      layer.add(sum, part_of(*channels, g, groups), filters);
    }
  }
  if (std::find(explained.begin(), explained.end(), false) != explained.end()) refuse();
  return sum.mean();
}

std::vector<Comparison> compared_trained(const Graph& original, const Fit& fit,
                                         const std::vector<Metric>& metrics, double gained) {
  check(!metrics.empty() && metrics.front().name == "kept", "a trained network is judged by that");
  Context context;
  std::vector<std::string> names;
  for (size_t n : scored_layers(original, context)) names.push_back(original.nodes[n].name);
  std::vector<Scores> before{{"kept", {kept_in({}, names)}}},
      after{{"kept", {kept_in(fit, names)}}};
  std::vector<Metric> others(metrics.begin() + 1, metrics.end());
  size_t untuned =
      std::erase_if(others, [](const Metric& metric) { return metric.name == "untuned"; });
  std::vector<Score> was = sizes_of(original, others), is = sizes_of(fit.network, others);
  for (size_t m = 0; m < others.size(); ++m) {
    before.push_back({others[m].name, {was[m]}});
    after.push_back({others[m].name, {is[m]}});
  }
  std::vector<Comparison> result = compared(before, after);
  if (untuned > 0) result.push_back({"untuned", {}, {gained}, {}});
  return result;
}

}  // namespace lathe
