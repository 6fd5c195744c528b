// transform_network.cpp: what recipes make of a network. Interface: transform_network.h.
#include "transforms/transform_network.h"

#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/nearest.h"
#include "nest/dependence.h"
#include "nest/marks.h"
#include "ops/op.h"
#include "ops/op_graph.h"
#include "program/alone.h"
#include "program/channel_order.h"
#include "program/fewer_channels.h"
#include "program/lift.h"
#include "transforms/transform_neural.h"
#include "transforms/transform_permute.h"
#include "transforms/transform_precision.h"

namespace lathe {

bool is_layer(const Node& node) { return node.op == "conv" || node.op == "fully_connected"; }

namespace {

/// Returns the layers whose names match.
std::vector<size_t> matching(const Graph& graph, const std::string& pattern) {
  std::vector<size_t> found;
  std::vector<std::string> names;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (!is_layer(node)) continue;
    names.push_back(node.name);
    if (fnmatch(pattern.c_str(), node.name.c_str(), 0) == 0) found.push_back(n);
  }
  if (names.empty()) fail("'{}' has no convolution or fully connected layer", graph.name);
  if (found.empty()) {
    fail("no convolution or fully connected layer is called '{}'; the nearest name is '{}'",
         pattern, nearest(pattern, names));
  }
  return found;
}

/// A step of a recipe that leaves a layer fewer filters, and how many.
struct Narrowing {
  size_t step;
  long filters;
};

/// What a recipe makes of a layer; nothing of all if it changes no more than the order of loops.
struct Changed {
  std::optional<Nest> nest;
  // What must be done to the network first:
  std::optional<Narrowing> narrowing = std::nullopt;
  std::optional<size_t> permute = std::nullopt;  ///< the step that reorders channels
};

/// Says how many filters a step leaves. It acts on the layer as it was, so that a layer that has no
/// more of them is the same: before it there are only steps that put loops into another order.
Narrowing narrowing_of(const Recipe& recipe, size_t step, const Shape& whole, const Shape& left,
                       bool is_first) {
  Shape narrow = whole;
  if (whole.size() > 1) narrow[1] = left[1];
  if (left != narrow) {
    fail(
        "{}: what is left has the shape {} instead of {}, and positions cannot be taken from all "
        "that reads them; complete it: repeat",
        print(recipe[step]), print_shape(left), print_shape(whole));
  }
  if (!is_first) {
    fail(
        "{}: filters are taken away for good (propagate) before other steps change the layer; let "
        "it come first, or complete it: repeat, or expand",
        print(recipe[step]));
  }
  return {step, left[1]};
}

/// Applies all steps, or those before one that changes the network: that takes filters away for
/// good or reorders them. The order that program steps make must respect the dependences.
Changed changed(const Nest& before, const Recipe& recipe) {
  Nest nest = samples_inward(before);
  Shape whole = output_shapes(before).front();
  for (size_t i = 0; i < recipe.size(); ++i) {
    const Step& step = recipe[i];
    bool is_first = nest.meaning == before.meaning;
    if (find_transform(step.name).kind == Transform::Kind::network) {
      if (is_first) return {.nest = std::nullopt, .permute = i};
      fail("{}: channels are reordered before other steps change the layer; let it come first",
           print(step));
    }
    nest = apply(nest, step).nest;
    Shape left = output_shapes(nest).front();
    if (left != whole) {
      return {.nest = std::nullopt, .narrowing = narrowing_of(recipe, i, whole, left, is_first)};
    }
    if (find_transform(step.name).kind != Transform::Kind::program) continue;
    if (auto violation = judge_order(nest).violation) {
      fail("{}: refused: {}; {}", print(step), explain(*violation, nest),
           witness(*violation, nest));
    }
  }
  if (const Loop* loop = find_gpu_loop(nest)) {
    fail(
        "bind({0}, {1}): the layers of a network are compiled by the backend for a CPU, which "
        "does not implement {1}; leave the step out",
        loop->name, name_of(loop->mark));
  }
  if (nest.meaning == before.meaning) return {};
  return {.nest = nest};
}

/// Are these the same channels?
bool is_same(const ChannelSet& a, const ChannelSet& b) {
  const ChannelRange &first = a.members.front(), &second = b.members.front();
  return first.value == second.value && first.dimension == second.dimension &&
         first.elements == second.elements;
}

/// Returns the set that a layer's filters belong to.
const ChannelSet& set_of(const Graph& graph, const std::vector<ChannelSet>& sets, size_t node) {
  ValueId weight = graph.nodes[node].inputs[1];
  for (const ChannelSet& set : sets) {
    for (const ChannelRange& m : set.members) {
      if (m.value == weight && m.dimension == 0) return set;
    }
  }
  fail("layer '{}': what reads its filters is not known", graph.nodes[node].name);
}

/// A normalisation undoes the scale of the weights before it, but training does not: it moves large
/// weights relatively less. So those in groups begin as small as the layer's were, not larger, as
/// they would have to be where nothing normalises.
Graph small_before_norms(Graph graph, const Graph& original) {
  auto users = consumers(graph);
  for (const Node& node : graph.nodes) {
    if (node.op != "conv") continue;
    bool normalised = norm_behind(graph, users, node).has_value();
    Value& weight = graph.values[node.inputs[1]];
    bool drawn = !weight.data && weight.initial.kind == Initial::Kind::normal;
    auto before = find_value(original, weight.name);
    bool is_new = !before || original.values[*before].type.shape != weight.type.shape;
    if (normalised && drawn && is_new) weight.initial = he_fan_out(weight.type.shape);
  }
  return graph;
}

/// Layers that recipes change, by their nodes.
class ChangedLayers {
 public:
  ChangedLayers(const Graph& graph, std::map<size_t, Recipe> recipes)
      : graph_(graph), recipes_(std::move(recipes)) {}

  Graph run() {
    while (reorder() || narrow()) continue;
    std::vector<LayerNest> layers;
    for (const auto& [n, recipe] : recipes_) {
      if (const auto& nest = changed_at(n).nest) layers.push_back({n, *nest});
    }
    return layers.empty() ? graph_ : small_before_norms(with_nests(graph_, layers), graph_);
  }

 private:
  Graph graph_;
  std::map<size_t, Recipe> recipes_;
  Context context_;
  std::map<std::string, Changed> known_;  // networks repeat their layers

  const Changed& changed_at(size_t n) {
    Call call = call_of(graph_, graph_.nodes[n]);
    try {
      auto [found, is_new] = known_.try_emplace(print(call) + ": " + print(recipes_[n]));
      if (is_new) found->second = changed(nest_of(context_, call), recipes_[n]);
      return found->second;
    } catch (const UserError& error) {
      fail("layer '{}': {}", graph_.nodes[n].name, error.what());
    }
  }

  /// Puts channels into the orders that steps say, all at once, and takes those steps from the
  /// recipes. Returns whether there were any.
  bool reorder() {
    std::vector<ChannelSet> sets;
    std::vector<ChannelOrder> orders;
    std::vector<std::string> by;  // which layer
    bool any = false;
    for (auto& [n, recipe] : recipes_) {
      auto step = changed_at(n).permute;
      if (!step) continue;
      any = true;
      if (sets.empty()) sets = channel_sets(graph_);
      const std::string& name = graph_.nodes[n].name;
      for (ChannelOrder& order : orders_at(n, recipe[*step], sets)) {
        auto same = std::find_if(orders.begin(), orders.end(),
                                 [&](const auto& o) { return is_same(o.set, order.set); });
        if (same == orders.end()) {
          orders.push_back(std::move(order));
          by.push_back(name);
        } else if (same->order != order.order) {
          fail(
              "layer '{}' would have its channels in another order than '{}', which is coupled "
              "with it",
              name, by[static_cast<size_t>(same - orders.begin())]);
        }
      }
      recipe.erase(recipe.begin() + static_cast<long>(*step));
    }
    try {
      if (!orders.empty()) graph_ = with_order(graph_, orders);
    } catch (const UserError& error) {
      fail("layer '{}': permute: {}", fmt::join(by, "', '"), error.what());
    }
    return any;
  }

  std::vector<ChannelOrder> orders_at(size_t n, const Step& step,
                                      const std::vector<ChannelSet>& sets) const {
    ValueId weight = graph_.nodes[n].inputs[1];
    try {
      std::vector<long> order = order_of(step, graph_.values[weight].type.shape[0]);
      return orders_of_filters(graph_, sets, weight, order);
    } catch (const UserError& error) {
      fail("layer '{}': {}", graph_.nodes[n].name, error.what());
    }
  }

  /// Takes away the filters that steps take away for good, and those steps from the recipes.
  /// Returns whether there were any.
  bool narrow() {
    std::vector<ChannelSet> sets;
    std::map<const ChannelSet*, std::pair<long, std::string>> left;  // channels; by which layer
    for (auto& [n, recipe] : recipes_) {
      auto narrowing = changed_at(n).narrowing;
      if (!narrowing) continue;
      if (sets.empty()) sets = channel_sets(graph_);
      const std::string& name = graph_.nodes[n].name;
      auto [found, is_new] = left.try_emplace(&set_of(graph_, sets, n), narrowing->filters, name);
      if (found->second.first != narrowing->filters) {
        fail("layer '{}' would have {} filters, and '{}', which is coupled with it, {}", name,
             narrowing->filters, found->second.second, found->second.first);
      }
      recipe.erase(recipe.begin() + static_cast<long>(narrowing->step));
    }
    std::vector<FewerChannels> cuts;
    for (const auto& [set, kept] : left) cuts.push_back({*set, kept.first});
    if (!cuts.empty()) graph_ = with_fewer(std::move(graph_), cuts);
    return !cuts.empty();
  }
};

}  // namespace

Nest samples_inward(const Nest& nest) {
  auto target = find_target(nest);
  if (!target) return nest;
  const std::vector<Loop>& loops = nest.order[*target].loops;
  if (loops.size() < 2 || loops.front().name != batch_loop) return nest;
  Step step{"reorder", {}};
  for (size_t i = 1; i < loops.size(); ++i) step.args.emplace_back(loops[i].name);
  step.args.emplace_back(std::string(batch_loop));
  return apply(nest, step).nest;
}

std::vector<Shape> output_shapes(const Nest& nest) {
  std::vector<Shape> shapes;
  for (const Tensor& tensor : nest.tensors()) {
    if (tensor.role == Role::output) shapes.push_back(tensor.shape);
  }
  return shapes;
}

Graph transformed(const Graph& graph, const NetworkRecipe& recipe) {
  std::map<size_t, Recipe> of_node;
  for (const LayerRecipe& layer : recipe) {
    for (size_t node : matching(graph, layer.layers)) {
      Recipe& all = of_node[node];
      Recipe steps = without_precision(layer.recipe);
      all.insert(all.end(), steps.begin(), steps.end());
    }
  }
  return ChangedLayers(graph, std::move(of_node)).run();
}

}  // namespace lathe
