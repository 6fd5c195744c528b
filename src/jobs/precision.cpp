// precision.cpp: see precision.h.
#include "jobs/precision.h"

#include <array>
#include <cmath>

#include "base/error.h"
#include "base/parallel.h"
#include "passes/pass_mixed.h"
#include "passes/pass_rewrite.h"

namespace lathe {
namespace {

constexpr std::array names = {std::pair(Precision::f32, "f32"), std::pair(Precision::f16, "f16"),
                              std::pair(Precision::bf16, "bf16"),
                              std::pair(Precision::int8, "int8")};

/// Returns the values that layers read or make, which are computed or given.
std::vector<ValueId> values_at_layers(const Graph& graph) {
  std::set<ValueId> values;
  for (const Node& node : graph.nodes) {
    bool is_layer = node.op == "conv" || node.op == "fully_connected" || node.op == "matmul";
    if (!is_layer) continue;
    for (ValueId id : {node.inputs[0], node.inputs[1], node.outputs[0]}) {
      bool varies = !passes::is_known_before(graph, id);
      if (varies && graph.values[id].type.element == Element::f32) values.insert(id);
    }
  }
  return {values.begin(), values.end()};
}

/// Returns the names of values that were seen to be too large for halves.
std::set<std::string> too_large(const Graph& graph, Element half, const PrecisionOptions& options) {
  std::set<std::string> names;
  if (options.calibration.data.empty()) return names;
  std::vector<std::vector<ValueId>> groups;
  for (ValueId id : values_at_layers(graph)) groups.push_back({id});
  if (groups.empty()) return names;
  WatchOptions how{options.threads > 0 ? options.threads : processors()};
  std::vector<Seen> seen =
      seen_values(graph, groups, calibration_minibatches(graph, options.calibration), how);
  for (size_t i = 0; i < seen.size(); ++i) {
    double largest = std::max(-seen[i].least, seen[i].greatest);
    bool fits = seen[i].finite && largest <= passes::largest_of(half);
    if (!fits) names.insert(graph.values[groups[i][0]].name);
  }
  return names;
}

Narrowed with_halves(const Graph& network, Element half, const PrecisionOptions& options) {
  Graph folded = with_folded_normalisations(network);
  passes::MixedPrecision how{half, too_large(folded, half, options)};
  Narrowed result{passes::with_mixed_precision(folded, how), {}};
  for (const Node& node : folded.nodes) {
    bool is_layer = node.op == "conv" || node.op == "fully_connected" || node.op == "matmul";
    if (!is_layer) continue;
    for (ValueId id : {node.inputs[0], node.inputs[1], node.outputs[0]}) {
      const Value& value = folded.values[id];
      if (!how.wide.contains(value.name) && passes::fits(value, half)) continue;
      result.kept.push_back(fmt::format("'{}' stays f32: '{}' has numbers beyond {:g}", node.name,
                                        value.name, passes::largest_of(half)));
      break;
    }
  }
  return result;
}

}  // namespace

const char* name_of(Precision precision) {
  for (const auto& [each, name] : names) {
    if (each == precision) return name;
  }
  return "";
}

std::optional<Precision> precision_named(std::string_view name) {
  for (const auto& [each, own] : names) {
    if (own == name) return each;
  }
  return std::nullopt;
}

Narrowed with_precision(const Graph& network, const PrecisionOptions& options,
                        const JobListener& listener) {
  switch (options.precision) {
    case Precision::f32:
      return {network, {}};
    case Precision::f16:
      return with_halves(network, Element::f16, options);
    case Precision::bf16:
      return with_halves(network, Element::bf16, options);
    case Precision::int8:
      break;
  }
  Quantised found = quantize_graph(network, options.calibration, options.threads, listener);
  Narrowed result{std::move(found.network), {}};
  for (const QuantisedLayer& layer : found.layers) {
    if (layer.kept.empty()) continue;
    result.kept.push_back(fmt::format("'{}' stays f32: {}", layer.layer, layer.kept));
  }
  return result;
}

}  // namespace lathe
