// quantised.cpp: see quantised.h.
#include "capacity/quantised.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "base/error.h"
#include "ops/op_fused.h"
#include "passes/pass.h"
#include "passes/pass_fused.h"
#include "passes/pass_rewrite.h"

namespace lathe {
namespace {

/// The largest integers of weights: as many below 0 as above.
constexpr double largest_weight = 127;

/// A bias takes part in sums of 32 bits, which it must leave room for.
constexpr double largest_bias = 1L << 29;

/// Minibatches that are run to see how far off results are.
constexpr size_t compared_minibatches = 1;

/// What a layer computes with.
struct Factors {
  ValueId data = no_value;
  std::optional<ValueId> weights;  ///< none: both factors are computed
  ValueId other = no_value;        ///< the second factor, if there are no weights
  size_t channels_at = 0;          ///< the dimension of the weights that is the outputs'
};

bool is_single(const Graph& graph, ValueId id) {
  const Type& type = graph.values[id].type;
  return type.element == Element::f32 && !type.dynamic;
}

bool varies(const Graph& graph, ValueId id) { return !passes::is_known_before(graph, id); }

/// Returns the factors of a node that is a layer.
std::optional<Factors> factors_of(const Graph& graph, const Node& node) {
  bool is_matrix = node.op == "matmul";
  if (node.op != "conv" && node.op != "fully_connected" && !is_matrix) return std::nullopt;
  ValueId data = node.inputs[0], second = node.inputs[1];
  if (!is_single(graph, data) || !is_single(graph, second) || !varies(graph, data)) {
    return std::nullopt;
  }
  if (varies(graph, second)) {
    return is_matrix ? std::optional(Factors{data, std::nullopt, second}) : std::nullopt;
  }
  const Value& weights = graph.values[second];
  if (!weights.data || weights.type.shape.size() < 2) return std::nullopt;
  return Factors{data, second, no_value, is_matrix ? weights.type.shape.size() - 1 : 0};
}

/// Does a node put elements elsewhere, or choose among them, so that the same integers can stand
/// for what it reads and what it makes?
bool keeps_integers(const Graph& graph, const Node& node) {
  static const std::set<std::string> ops = {"concat",  "expand", "identity", "max_pool",
                                            "reshape", "slice",  "take",     "transpose"};
  if (node.op == "pad") return call_of(graph, node).real("value") == 0;
  return ops.contains(node.op);
}

/// Groups of values that the same integers stand for.
class Groups {
 public:
  explicit Groups(const Graph& graph) : parent_(graph.values.size()) {
    std::iota(parent_.begin(), parent_.end(), ValueId{0});
    for (const Node& node : graph.nodes) {
      if (node.outputs.size() != 1 || !is_single(graph, node.outputs[0])) continue;
      if (!keeps_integers(graph, node)) continue;
      size_t read = node.op == "concat" ? node.inputs.size() : 1;
      for (size_t i = 0; i < read; ++i) join(node.inputs[i], node.outputs[0]);
    }
  }

  ValueId of(ValueId id) const {
    while (parent_[id] != id) id = parent_[id];
    return id;
  }

 private:
  std::vector<ValueId> parent_;

  void join(ValueId a, ValueId b) { parent_[of(a)] = of(b); }
};

/// Returns the names of values that the compiler stores for others to read, made by one of some
/// layers or by what it computes along with one.
std::set<std::string> stored_by_layers(const Graph& graph,
                                       const std::function<bool(const Node&)>& which) {
  Graph fused = after_passes(graph, {"FuseOps"});
  std::set<std::string> names;
  for (const Node& node : fused.nodes) {
    if (which && !which(node)) continue;
    Call first = passes::calls_of(fused, node).front().call;
    bool is_layer =
        first.name() == "conv" || first.name() == "fully_connected" || first.name() == "matmul";
    if (is_layer) names.insert(fused.values[node.outputs[0]].name);
  }
  return names;
}

/// Would a node read integers rather than numbers, if it could?
bool gains(const Graph& graph, const Node& node) {
  return node.op == "global_pool" || keeps_integers(graph, node) ||
         ops::is_elementwise(call_of(graph, node));
}

class Quantiser {
 public:
  Quantiser(const Graph& network, const std::vector<Array>& minibatches,
            const QuantiseOptions& options)
      : graph_(with_folded_normalisations(network)),
        groups_(graph_),
        minibatches_(minibatches),
        options_(options) {}

  Quantised run() {
    find_layers();
    find_groups();
    choose_integers();
    judge_layers();
    Quantised result{rewritten(), layers_};
    if (!options_.timed) compare(result);
    return result;
  }

 private:
  /// What stands for the values of a group.
  struct Choice {
    std::vector<ValueId> values;
    ZeroPoint zero = ZeroPoint::any;
    Seen seen = {};
    std::string kept;  ///< why they stay numbers; empty: they become integers
    Integers integers = {};
    ValueId scale_id = no_value, zero_id = no_value;  ///< in the new graph
  };

  Graph graph_;
  Groups groups_;
  const std::vector<Array>& minibatches_;
  const QuantiseOptions& options_;
  std::vector<std::pair<size_t, Factors>> found_;  // nodes that are layers
  std::vector<QuantisedLayer> layers_;
  std::map<ValueId, Choice> choices_;  // by group

  void find_layers() {
    for (const Value& value : graph_.values) {
      bool is_byte = value.type.element == Element::i8 || value.type.element == Element::u8;
      if (is_byte) fail("'{}' has 8-bit integers already: '{}'", graph_.name, value.name);
    }
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (options_.which && !options_.which(graph_.nodes[n])) continue;
      if (auto factors = factors_of(graph_, graph_.nodes[n])) found_.emplace_back(n, *factors);
    }
    if (found_.empty()) fail("'{}' has no layer that could read integers", graph_.name);
  }

  /// Finds the groups of values that layers read, and those that only others read which gain.
  void find_groups() {
    std::set<ValueId> wanted;
    for (const auto& [n, factors] : found_) {
      wanted.insert(groups_.of(factors.data));
      if (!factors.weights) wanted.insert(groups_.of(factors.other));
    }
    std::set<std::string> stored = stored_by_layers(graph_, options_.which);
    std::vector<std::vector<size_t>> readers = consumers(graph_);
    for (ValueId id = 0; id < graph_.values.size(); ++id) {
      if (!stored.contains(graph_.values[id].name) || readers[id].empty()) continue;
      bool all = std::all_of(readers[id].begin(), readers[id].end(),
                             [&](size_t n) { return gains(graph_, graph_.nodes[n]); });
      if (all) wanted.insert(groups_.of(id));
    }
    for (ValueId id = 0; id < graph_.values.size(); ++id) {
      bool is_there = graph_.values[id].kind == Value::Kind::computed ||
                      graph_.values[id].kind == Value::Kind::input;
      if (is_there && is_single(graph_, id) && wanted.contains(groups_.of(id))) {
        choices_[groups_.of(id)].values.push_back(id);
      }
    }
    // Of two factors that are computed neither sum is known, so no zero point can be taken out.
    for (const auto& [n, factors] : found_) {
      if (factors.weights) continue;
      for (ValueId id : {factors.data, factors.other}) {
        choices_.at(groups_.of(id)).zero = ZeroPoint::none;
      }
    }
  }

  void choose_integers() {
    std::vector<std::vector<ValueId>> groups;
    for (const auto& [group, choice] : choices_) groups.push_back(choice.values);
    std::vector<Seen> seen = options_.timed
                                 ? std::vector<Seen>(groups.size(), Seen{true, -0.5, 1, {1}})
                                 : seen_values(graph_, groups, minibatches_, options_.watch);
    size_t next = 0;
    for (auto& [group, choice] : choices_) {
      choice.seen = seen[next++];
      const std::string& name = graph_.values[choice.values.front()].name;
      if (!choice.seen.finite) {
        choice.kept = fmt::format("'{}' is not always a finite number", name);
      } else if (choice.seen.is_zero()) {
        choice.kept = fmt::format("'{}' is always 0", name);
      } else {
        choice.integers = integers_for(choice.seen, options_.clipping, choice.zero);
      }
    }
  }

  Choice& choice_of(ValueId id) { return choices_.at(groups_.of(id)); }

  void judge_layers() {
    for (const auto& [n, factors] : found_) {
      const Node& node = graph_.nodes[n];
      QuantisedLayer layer{node.name, node.op, "", 0, 0, {}, std::nullopt};
      const Choice& data = choice_of(factors.data);
      layer.kept = data.kept;
      layer.least = data.seen.least;
      layer.greatest = data.seen.greatest;
      layer.data = data.integers;
      if (layer.kept.empty() && !factors.weights) layer.kept = choice_of(factors.other).kept;
      if (layer.kept.empty() && factors.weights && !are_numbers(*factors.weights)) {
        layer.kept =
            fmt::format("'{}' is not always a finite number", graph_.values[*factors.weights].name);
      }
      layers_.push_back(layer);
    }
  }

  bool are_numbers(ValueId weights) const {
    std::vector<double> numbers = graph_.values[weights].data->reals();
    return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
  }

  // ---- the new graph ----------------------------------------------------------------------

  Graph out_;
  std::set<std::string> names_;
  std::map<ValueId, ValueId> rounded_;  // what stands for a value in nodes that read it

  std::string fresh(const std::string& name) {
    std::string result = name;
    for (int i = 1; !names_.insert(result).second; ++i) result = fmt::format("{}_{}", name, i);
    return result;
  }

  ValueId constant(const std::string& name, const Array& data) {
    out_.values.push_back(
        {fresh(name), Value::Kind::constant, {data.element(), data.shape()}, data});
    return out_.values.size() - 1;
  }

  ValueId call(const std::string& name, const std::string& op, const std::vector<ValueId>& inputs,
               const Type& type, const Attributes& attributes = {}) {
    std::string own = fresh(name);
    out_.values.push_back({own, Value::Kind::computed, type});
    ValueId id = out_.values.size() - 1;
    out_.nodes.push_back({own, op, attributes, inputs, {id}});
    return id;
  }

  /// Rounds a value to what integers stand for, for all that read it later.
  void round(ValueId id) {
    auto choice = choices_.find(groups_.of(id));
    bool is_there = graph_.values[id].kind == Value::Kind::computed ||
                    graph_.values[id].kind == Value::Kind::input;
    if (choice == choices_.end() || !choice->second.kept.empty() || !is_there) return;
    Choice& how = choice->second;
    const std::string name = graph_.values[id].name;
    if (how.scale_id == no_value) {
      how.scale_id = constant(name + ".scale",
                              Array::of_reals(Element::f32, {}, std::vector{how.integers.scale}));
      how.zero_id = constant(name + ".zero",
                             Array::of_integers(Element::i8, {}, std::vector{how.integers.zero}));
    }
    Type type = graph_.values[id].type;
    ValueId integers = call(name + ".integers", "quantize", {id, how.scale_id, how.zero_id},
                            {Element::i8, type.shape}, {{"to", std::string("i8")}});
    rounded_[id] =
        call(name + ".rounded", "dequantize", {integers, how.scale_id, how.zero_id}, type);
  }

  Graph rewritten() {
    out_ = graph_;
    out_.nodes.clear();
    for (const Value& value : graph_.values) names_.insert(value.name);
    for (ValueId id : graph_.inputs) round(id);
    size_t next = 0;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      Node node = graph_.nodes[n];
      for (ValueId& id : node.inputs) {
        if (rounded_.contains(id)) id = rounded_.at(id);
      }
      if (next < found_.size() && found_[next].first == n) {
        if (layers_[next].kept.empty()) round_weights(node, found_[next].second);
        ++next;
      }
      out_.nodes.push_back(node);
      for (ValueId id : node.outputs) round(id);
    }
    Graph result = without_dead(out_);
    verify_types(result);
    return result;
  }

  /// Makes a layer read weights, and a bias, that integers stand for.
  void round_weights(Node& node, const Factors& factors) {
    if (!factors.weights) return;
    const Value& weights = graph_.values[*factors.weights];
    std::vector<double> scales = scales_of(*weights.data, factors.channels_at);
    // One number for each channel broadcasts to the weights.
    Shape shape(weights.type.shape.size() - factors.channels_at, 1);
    shape[0] = static_cast<long>(scales.size());
    ValueId scale = constant(weights.name + ".scale", Array::of_reals(Element::f32, shape, scales));
    ValueId integers =
        constant(weights.name + ".integers", divided(*weights.data, scales, factors.channels_at));
    node.inputs[1] = call(weights.name + ".rounded", "dequantize", {integers, scale}, weights.type);
    if (node.inputs.size() > 2) round_bias(node, factors, scales);
  }

  /// Returns the elements of each channel of the weights, one after the other.
  static std::vector<std::vector<double>> channels_of(const Array& weights, size_t at) {
    Shape shape = weights.shape();
    auto inner = static_cast<size_t>(
        count_of(Shape(shape.begin() + static_cast<long>(at) + 1, shape.end())));
    std::vector<double> numbers = weights.reals();
    std::vector<std::vector<double>> channels(static_cast<size_t>(shape[at]));
    for (size_t i = 0; i < numbers.size(); ++i) {
      channels[i / inner % channels.size()].push_back(numbers[i]);
    }
    return channels;
  }

  std::vector<double> scales_of(const Array& weights, size_t at) const {
    std::vector<double> scales;
    for (const std::vector<double>& channel : channels_of(weights, at)) {
      scales.push_back(scale_of_weights(channel, options_.clipping));
    }
    return scales;
  }

  static Array divided(const Array& weights, const std::vector<double>& scales, size_t at) {
    Shape shape = weights.shape();
    auto inner = static_cast<size_t>(
        count_of(Shape(shape.begin() + static_cast<long>(at) + 1, shape.end())));
    std::vector<long> integers;
    std::vector<double> numbers = weights.reals();
    for (size_t i = 0; i < numbers.size(); ++i) {
      double integer = std::round(numbers[i] / scales[i / inner % scales.size()]);
      integers.push_back(std::lround(std::clamp(integer, -largest_weight, largest_weight)));
    }
    return Array::of_integers(Element::i8, shape, integers);
  }

  /// Rounds a bias to integers of the scale of the products: what it loses is less than what one
  /// product loses of a hundred. It stays a number where it is not known, or too large.
  void round_bias(Node& node, const Factors& factors, const std::vector<double>& scales) {
    const Value& bias = graph_.values[node.inputs[2]];
    if (!bias.data || bias.data->count() != static_cast<long>(scales.size())) return;
    double of_data = choice_of(factors.data).integers.scale;
    std::vector<double> products, numbers = bias.data->reals();
    std::vector<long> integers;
    for (size_t c = 0; c < scales.size(); ++c) {
      products.push_back(static_cast<float>(of_data * scales[c]));
      double integer = std::round(numbers[c] / products[c]);
      if (!(std::abs(integer) <= largest_bias)) return;
      integers.push_back(std::lround(integer));
    }
    Shape shape = bias.type.shape;
    ValueId scale = constant(bias.name + ".scale", Array::of_reals(Element::f32, shape, products));
    ValueId whole =
        constant(bias.name + ".integers", Array::of_integers(Element::i32, shape, integers));
    node.inputs[2] = call(bias.name + ".rounded", "dequantize", {whole, scale}, bias.type);
  }

  // ---- how far off it is ------------------------------------------------------------------

  /// Finds how far the results of layers are off.
  void compare(Quantised& result) {
    std::vector<ValueId> before, after;
    for (const auto& [n, factors] : found_) {
      before.push_back(graph_.nodes[n].outputs[0]);
      after.push_back(*find_value(result.network, graph_.values[before.back()].name));
    }
    std::vector<Array> few(minibatches_.begin(),
                           minibatches_.begin() + static_cast<long>(std::min(compared_minibatches,
                                                                             minibatches_.size())));
    std::vector<double> errors(before.size(), 0), squares(before.size(), 0);
    std::vector<std::vector<double>> wanted(before.size());
    watch(graph_, before, few, {.target = options_.watch.target, .threads = options_.watch.threads},
          [&](size_t, const std::vector<Array>& found) {
            for (size_t i = 0; i < found.size(); ++i) {
              for (double x : found[i].reals()) {
                wanted[i].push_back(x);
                squares[i] += x * x;
              }
            }
          });
    std::vector<size_t> next(before.size(), 0);
    watch(result.network, after, few,
          {.target = options_.watch.target, .threads = options_.watch.threads},
          [&](size_t, const std::vector<Array>& found) {
            for (size_t i = 0; i < found.size(); ++i) {
              for (double x : found[i].reals()) {
                errors[i] += std::pow(x - wanted[i][next[i]++], 2);
              }
            }
          });
    for (size_t i = 0; i < errors.size(); ++i) {
      double error = std::sqrt(errors[i] / squares[i]);
      if (std::isfinite(error)) result.layers[i].error = error;
    }
  }
};

}  // namespace

Graph with_folded_normalisations(const Graph& network) {
  return after_passes(network, {"FoldConstant", "SimplifyInference", "EliminateCommonSubexpr",
                                "DeadCodeElimination"});
}

Quantised quantised(const Graph& network, const std::vector<Array>& minibatches,
                    const QuantiseOptions& options) {
  return Quantiser(network, minibatches, options).run();
}

}  // namespace lathe
