// precision.cpp: see precision.h.
#include "capacity/precision.h"

#include <algorithm>
#include <cmath>

#include "passes/pass_mixed.h"
#include "passes/pass_rewrite.h"

namespace lathe {
namespace {

/// Does a node multiply? Such nodes have a precision.
bool is_product_node(const Node& node) {
  return node.op == "conv" || node.op == "fully_connected" || node.op == "matmul";
}

class Narrowing {
 public:
  Narrowing(const Graph& network, const LayerPrecisions& precisions,
            const std::vector<Array>& minibatches, const QuantiseOptions& options)
      : result_{with_folded_normalisations(network), {}},
        precisions_(precisions),
        minibatches_(minibatches),
        options_(options) {}

  Narrowed run() {
    if (has(Precision::int8)) make_integers();
    constexpr std::pair<Precision, Element> narrow[] = {{Precision::f16, Element::f16},
                                                        {Precision::bf16, Element::bf16},
                                                        {Precision::tf32, Element::tf32}};
    for (const auto& [precision, element] : narrow) {
      if (has(precision)) make_halves(precision, element);
    }
    return std::move(result_);
  }

 private:
  Narrowed result_;
  const LayerPrecisions& precisions_;
  const std::vector<Array>& minibatches_;
  const QuantiseOptions& options_;

  /// Tells layers of a precision.
  std::function<bool(const Node&)> are(Precision precision) const {
    if (precisions_.are_all(precision)) return nullptr;
    return [this, precision](const Node& node) { return precisions_.of(node.name) == precision; };
  }

  bool has(Precision precision) const {
    auto which = are(precision);
    return std::any_of(result_.network.nodes.begin(), result_.network.nodes.end(),
                       [&](const Node& node) {
                         return is_product_node(node) && (!which || which(node));
                       }) ||
           precisions_.are_all(precision);
  }

  void make_integers() {
    QuantiseOptions how = options_;
    how.which = are(Precision::int8);
    Quantised found = quantised(result_.network, minibatches_, how);
    result_.network = std::move(found.network);
    for (const QuantisedLayer& layer : found.layers) {
      if (layer.kept.empty()) continue;
      result_.kept.push_back(fmt::format("'{}' stays f32: {}", layer.layer, layer.kept));
    }
  }

  void make_halves(Precision precision, Element half) {
    // Nothing is folded here: integers of weights stay integers.
    const Graph before = result_.network;
    auto which = are(precision);
    auto is_chosen = [&](const Node& node) {
      return is_product_node(node) && (!which || which(node));
    };
    passes::MixedPrecision how{half, too_large(before, half, is_chosen), which};
    result_.network = passes::with_mixed_precision(before, how);
    for (const Node& node : before.nodes) {
      if (!is_chosen(node)) continue;
      for (ValueId id : {node.inputs[0], node.inputs[1], node.outputs[0]}) {
        const Value& value = before.values[id];
        if (!how.wide.contains(value.name) && passes::fits(value, half)) continue;
        result_.kept.push_back(fmt::format("'{}' stays f32: '{}' has numbers beyond {:g}",
                                           node.name, value.name, passes::largest_of(half)));
        break;
      }
    }
  }

  /// Returns the names of values that were seen to be too large for halves, at some layers.
  std::set<std::string> too_large(const Graph& graph, Element half,
                                  const std::function<bool(const Node&)>& is_chosen) const {
    std::set<std::string> names;
    std::set<ValueId> values;  // that are computed or given
    for (const Node& node : graph.nodes) {
      if (!is_chosen(node)) continue;
      for (ValueId id : {node.inputs[0], node.inputs[1], node.outputs[0]}) {
        bool varies = !passes::is_known_before(graph, id);
        if (varies && graph.values[id].type.element == Element::f32) values.insert(id);
      }
    }
    if (minibatches_.empty() || values.empty()) return names;
    std::vector<std::vector<ValueId>> groups;
    for (ValueId id : values) groups.push_back({id});
    std::vector<Seen> seen = seen_values(graph, groups, minibatches_, options_.watch);
    for (size_t i = 0; i < seen.size(); ++i) {
      double largest = std::max(-seen[i].least, seen[i].greatest);
      bool fits = seen[i].finite && largest <= passes::largest_of(half);
      if (!fits) names.insert(graph.values[groups[i][0]].name);
    }
    return names;
  }
};

}  // namespace

Narrowed narrowed(const Graph& network, const LayerPrecisions& precisions,
                  const std::vector<Array>& minibatches, const QuantiseOptions& options) {
  return Narrowing(network, precisions, minibatches, options).run();
}

}  // namespace lathe
