// known.cpp: values that are known when a network is imported. Interface: site.h.
#include "onnx/site.h"
#include "ops/op_evaluate.h"

namespace lathe {
namespace {

constexpr double most_instances = 1 << 28;  // that an operator may have to be computed here
constexpr long most_elements = 1L << 20;    // of a value on the way

std::optional<Array> given_value(const ImportState& state, ValueId id) {
  auto found = state.known.find(id);
  return found != state.known.end() ? found->second : state.graph.value(id).data;
}

/// Returns the nodes to compute for a value, in order; nothing if it depends on what is not known.
std::optional<std::set<size_t>> nodes_behind(const ImportState& state, ValueId id) {
  std::set<size_t> nodes;
  std::vector<ValueId> open{id};
  while (!open.empty()) {
    ValueId next = open.back();
    open.pop_back();
    if (next == no_value || given_value(state, next)) continue;
    auto maker = state.makers.find(next);
    if (maker == state.makers.end()) return std::nullopt;
    if (!nodes.insert(maker->second).second) continue;
    const Node& node = state.graph.nodes()[maker->second];
    open.insert(open.end(), node.inputs.begin(), node.inputs.end());
  }
  return nodes;
}

/// Computes a node whose operands are known, and remembers its outputs; false if that is too much.
bool compute(ImportState& state, const Node& node) {
  Call call = call_of(state.graph.unfinished(), node);
  for (const Type& type : infer(call)) {
    if (!type.dynamic && count_of(type.shape) > most_elements) return false;
  }
  if (!is_soon_done(state.context, call)) return false;
  std::vector<Array> operands;
  for (ValueId id : node.inputs) {
    if (id != no_value) operands.push_back(*given_value(state, id));
  }
  std::vector<Array> results = evaluate(state.context, call, operands);
  for (size_t i = 0; i < results.size(); ++i) state.known.emplace(node.outputs[i], results[i]);
  return true;
}

}  // namespace

bool is_soon_done(isl::ctx ctx, const Call& call) {
  std::optional<Nest> nest = executable(ctx, call);
  if (!nest) return true;
  double instances = 0;
  for (const Order& order : nest->order) {
    double product = 1;
    for (long extent : extents(order)) product *= static_cast<double>(extent);
    instances += product;
  }
  return instances <= most_instances;
}

std::optional<Array> known_value(ImportState& state, ValueId id) {
  if (auto given = given_value(state, id)) return given;
  if (state.known.empty()) return std::nullopt;  // what follows from constants was folded
  auto nodes = nodes_behind(state, id);
  if (!nodes) return std::nullopt;
  for (size_t n : *nodes) {
    if (!compute(state, state.graph.nodes()[n])) return std::nullopt;
  }
  return given_value(state, id);
}

}  // namespace lathe
