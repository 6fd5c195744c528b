// fit.cpp: see fit.h.
#include "capacity/fit.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/parallel.h"
#include "capacity/fit_targets.h"
#include "capacity/layer_equations.h"
#include "compile/walk.h"
#include "ops/op.h"
#include "program/alone.h"
#include "program/rebatch.h"

namespace lathe {
namespace {

constexpr double least_ridge = 1e-9;  // of what a constant is drawn to: next to nothing

/// What is not explained of each output of a block: before and after.
struct BlockShares {
  std::vector<double> variances, before, after;
};

/// Finds the weights of a block, and its biases: they are the last regressor. Returns what they
/// explain.
BlockShares solve(const RegressionBlock& block, const NormalEquations& equations, bool has_constant,
                  std::span<float> weights, std::span<float> biases, double ridge) {
  size_t each = block.regressors.size();
  Matrix start(block.outputs.size(), each + (has_constant ? 1 : 0));
  for (size_t f = 0; f < start.rows(); ++f) {
    for (size_t k = 0; k < each; ++k) {
      start(f, k) = weights[static_cast<size_t>(block.weights[f * each + k])];
    }
    if (!block.biases.empty()) start(f, each) = biases[static_cast<size_t>(block.biases[f])];
  }
  Matrix found = equations.solved(start, std::max(ridge, least_ridge));
  for (size_t f = 0; f < start.rows(); ++f) {
    for (size_t k = 0; k < each; ++k) {
      weights[static_cast<size_t>(block.weights[f * each + k])] = static_cast<float>(found(f, k));
    }
    if (!block.biases.empty()) {
      biases[static_cast<size_t>(block.biases[f])] = static_cast<float>(found(f, each));
    }
  }
  return {equations.variances(), equations.unexplained(start), equations.unexplained(found)};
}

/// Goes through both networks in step.
class FitWalk {
 public:
  FitWalk(const Graph& original, Graph changed, const std::vector<Array>& minibatches,
          const FitOptions& options)
      : original_(original),
        changed_(std::move(changed)),
        targets_(fit_targets(original_, changed_)),
        readers_(consumers(changed_)),
        same_(changed_.values.size(), false),
        options_(options),
        runners_({.target = options.target, .weights = WeightData::later}, options.threads) {
    find_same();
    for (size_t n = 0; n < changed_.nodes.size(); ++n) {
      if (auto input = read_by(n)) fitted_[n] = *input;
    }
    std::map<ValueId, size_t> wanted, read;
    for (const auto& [n, input] : fitted_) {
      ++wanted[targets_.at(changed_.nodes[n].outputs.front()).value];
      ++read[input];
    }
    for (const Node& node : changed_.nodes) {
      if (is_measured(node)) ++read[node.inputs.front()];
    }
    original_walk_.emplace(original_, minibatches, runners_, wanted);
    changed_walk_.emplace(changed_, minibatches, runners_, read);
  }

  void run() {
    size_t done = 0;
    for (size_t n = 0; n < changed_.nodes.size(); ++n) {
      const Node& node = changed_.nodes[n];
      if (fitted_.contains(n)) {
        fit(node, fitted_.at(n));
        if (options_.progress) options_.progress(++done, fitted_.size());
      } else if (is_measured(node)) {
        measure(node);
      }
    }
  }

  const Graph& network() const { return changed_; }
  const std::vector<LayerFit>& layers() const { return layers_; }

  /// Returns the layers that changed and that the original does not explain.
  std::vector<std::string> unfitted() const {
    std::vector<std::string> names;
    for (size_t n = 0; n < changed_.nodes.size(); ++n) {
      const Node& node = changed_.nodes[n];
      bool is_changed = !same_[node.outputs.front()] && weights_of(node) > 0;
      if (is_changed && !fitted_.contains(n) && node.op != "batch_norm") names.push_back(node.name);
    }
    return names;
  }

 private:
  const Graph& original_;
  Graph changed_;
  std::map<ValueId, FitTarget> targets_;
  std::vector<std::vector<size_t>> readers_;
  std::vector<bool> same_;            // is a value of the changed network what it was?
  std::map<size_t, ValueId> fitted_;  // nodes that get new weights, and what they read
  FitOptions options_;
  Context context_;
  Runners runners_;
  std::optional<Walk> original_walk_, changed_walk_;
  std::vector<LayerFit> layers_;

  size_t weights_of(const Node& node) const {
    return static_cast<size_t>(
        std::count_if(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
          return id != no_value && changed_.values[id].kind == Value::Kind::weight;
        }));
  }

  /// Finds the values that nothing changed: the same nodes compute them from the same weights.
  void find_same() {
    for (ValueId id = 0; id < changed_.values.size(); ++id) {
      const Value& value = changed_.values[id];
      if (value.kind == Value::Kind::computed) continue;
      auto before = find_value(original_, value.name);
      same_[id] = before && original_.values[*before].type == value.type &&
                  original_.values[*before].data == value.data;
    }
    for (const Node& node : changed_.nodes) {
      auto before = find_node(original_, node.name);
      bool same = before && original_.nodes[*before].op == node.op &&
                  original_.nodes[*before].attributes == node.attributes &&
                  original_.nodes[*before].inputs.size() == node.inputs.size();
      for (size_t i = 0; same && i < node.inputs.size(); ++i) {
        ValueId now = node.inputs[i], then = original_.nodes[*before].inputs[i];
        if (now == no_value || then == no_value) {
          same = now == then;
        } else {
          same = same_[now] && changed_.values[now].name == original_.values[then].name;
        }
      }
      for (ValueId id : node.outputs) same_[id] = same;
    }
  }

  /// Returns what a node reads that gets new weights; nothing if it gets none. It has weights of
  /// its own, the original has its output, and something that it reads or its weights have changed.
  std::optional<ValueId> read_by(size_t n) {
    const Node& node = changed_.nodes[n];
    if (same_[node.outputs.front()] || node.outputs.size() != 1 || weights_of(node) == 0) {
      return std::nullopt;
    }
    for (ValueId id : node.inputs) {
      bool shared = id != no_value && changed_.values[id].kind == Value::Kind::weight &&
                    readers_[id].size() > 1;
      if (shared) return std::nullopt;
    }
    Call call = call_of(changed_, node);
    if (!targets_.contains(node.outputs.front()) || !reads_are_known(call)) return std::nullopt;
    Nest nest = nest_of(context_, call);
    auto regression = regression_of(nest);
    if (!regression) return std::nullopt;
    ValueId input = operand(node, nest, regression->input);
    const Value& read = changed_.values[input];
    bool is_known = read.kind == Value::Kind::computed || read.kind == Value::Kind::input;
    bool are_floats = read.type.element == Element::f32 &&
                      changed_.values[node.outputs.front()].type.element == Element::f32;
    return is_known && are_floats ? std::optional(input) : std::nullopt;
  }

  bool is_measured(const Node& node) const {
    return node.op == "batch_norm" && !same_[node.outputs.front()] && node.inputs.size() == 5 &&
           changed_.values[node.inputs[3]].kind == Value::Kind::state;
  }

  /// Does a normalisation, whose mean will be measured, follow this node alone?
  bool is_normalised(const Node& node) const {
    auto norm = norm_behind(changed_, readers_, node);
    return norm && is_measured(changed_.nodes[*norm]);
  }

  /// Returns the operand that a tensor of a node's nest is.
  static ValueId operand(const Node& node, const Nest& nest, size_t tensor) {
    size_t place = 0;
    for (size_t t = 0; t < tensor; ++t) {
      Role role = nest.tensors()[t].role;
      place += role == Role::input || role == Role::weight ? 1 : 0;
    }
    std::vector<ValueId> given;
    std::copy_if(node.inputs.begin(), node.inputs.end(), std::back_inserter(given),
                 [](ValueId id) { return id != no_value; });
    return given[place];
  }

  void fit(const Node& node, ValueId input) {
    Nest nest = nest_of(context_, call_of(changed_, node));
    Regression regression = *regression_of(nest);
    Value& weight = changed_.values[operand(node, nest, regression.weight)];
    Value* bias =
        regression.bias ? &changed_.values[operand(node, nest, *regression.bias)] : nullptr;
    const FitTarget& target = targets_.at(node.outputs.front());
    std::vector<Array> wanted;
    for (const Array& whole : original_walk_->of(target.value)) {
      wanted.push_back(elements_at(whole, target.at));
    }
    original_walk_->release(target.value);
    bool normalised = is_normalised(node);
    EquationOptions how{options_.observations, bias != nullptr || normalised, options_.threads};
    std::vector<NormalEquations> equations = equations_of(
        regression, nest.tensors()[regression.input], changed_walk_->of(input), wanted, how);
    changed_walk_->release(input);

    std::vector<float> weights(weight.data->as<float>().begin(), weight.data->as<float>().end());
    std::vector<float> biases;
    if (bias != nullptr) {
      biases.assign(bias->data->as<float>().begin(), bias->data->as<float>().end());
    }
    std::vector<BlockShares> shares(equations.size());
    for_each_index(equations.size(), options_.threads, [&](size_t b) {
      shares[b] = solve(regression.blocks[b], equations[b], how.has_constant, weights, biases,
                        options_.ridge);
    });
    weight.data = Array::of<float>(weight.type.shape, weights);
    if (bias != nullptr) bias->data = Array::of<float>(bias->type.shape, biases);
    layers_.push_back(summed(node.name, shares, normalised));
  }

  /// Returns what all blocks of a layer explain. Behind a normalisation, all outputs count alike.
  static LayerFit summed(const std::string& name, const std::vector<BlockShares>& shares,
                         bool normalised) {
    LayerFit result{name};
    double whole = 0;
    for (const BlockShares& block : shares) {
      for (size_t f = 0; f < block.variances.size(); ++f) {
        double weight = normalised ? 1 : block.variances[f];
        result.before += weight * block.before[f];
        result.unexplained += weight * block.after[f];
        whole += weight;
      }
    }
    if (whole > 0) {
      result.before /= whole;
      result.unexplained /= whole;
    }
    return result;
  }

  /// Sets the mean and variance of a normalisation to those of what it reads now.
  void measure(const Node& node) {
    ValueId input = node.inputs.front();
    const Shape& shape = changed_.values[input].type.shape;
    auto channels = static_cast<size_t>(shape[1]);
    auto inner = static_cast<size_t>(count_of(Shape(shape.begin() + 2, shape.end())));
    std::vector<double> sums(channels, 0), squares(channels, 0);
    double count = 0;
    for (const Array& array : changed_walk_->of(input)) {
      std::span<const float> values = array.as<float>();
      for (size_t i = 0; i < values.size(); ++i) {
        double value = values[i];
        sums[i / inner % channels] += value;
        squares[i / inner % channels] += value * value;
      }
      count += static_cast<double>(values.size() / channels);
    }
    std::vector<float> means, variances;
    for (size_t c = 0; c < channels; ++c) {
      double mean = sums[c] / count;
      means.push_back(static_cast<float>(mean));
      variances.push_back(static_cast<float>(std::max(0.0, squares[c] / count - mean * mean)));
    }
    changed_.values[node.inputs[3]].data = Array::of<float>({shape[1]}, means);
    changed_.values[node.inputs[4]].data = Array::of<float>({shape[1]}, variances);
    changed_walk_->release(input);
  }
};

}  // namespace

Fit fitted(const Graph& original, const Graph& changed, const std::vector<Array>& minibatches,
           const FitOptions& options) {
  if (minibatches.empty()) fail("there are no samples to fit weights to");
  long samples = minibatches.front().shape().front();
  Graph reference = rebatched(original, samples);
  FitWalk walk(reference, rebatched(initialised(changed, 0), samples), minibatches, options);
  walk.run();
  Fit result{changed, walk.layers(), walk.unfitted()};
  for (ValueId id = 0; id < changed.values.size(); ++id) {
    Value& value = result.network.values[id];
    if (value.kind != Value::Kind::computed) value.data = walk.network().values[id].data;
  }
  return result;
}

}  // namespace lathe
