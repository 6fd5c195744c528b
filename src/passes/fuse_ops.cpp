// fuse_ops.cpp: takes operators on each element alone into the node whose result they read.
//
//   y = conv(x, w)
//   z = add(y, r)          =>    u = fused(x, w, r, calls=["conv(%0, %1)", "add(#0, %2)",
//   u = relu(z)                                            "relu(#1)"])
//
// A chain grows while its result has one user and keeps its shape; a node that reads the results of
// two chains joins them, if one of them is element-wise throughout. The fused node stands where the
// last member stood: there the operands of all are computed.
//
// Members may be of different types. Results in between are not stored, so they are not rounded to
// their types either: integers that might wrap around, and numbers of half the size, end a chain.
// What only makes wider numbers of narrow ones is computed again for each user, which then reads
// the narrow ones; so it does not follow what only moves these.
//
// A chain has a limit. All its calls are statements of one nest and one kernel, and what schedules,
// judges and compiles those looks at pairs of statements: work that grows with their square.
#include <algorithm>

#include "passes/pass.h"
#include "passes/pass_fused.h"
#include "passes/pass_ranges.h"
#include "passes/pass_rewrite.h"

namespace lathe::passes {
namespace {

/// Calls of a chain, at most. Those of networks have about ten; from some dozens on, passing a
/// value through memory once costs nothing beside computing it.
constexpr size_t most_calls = 32;

/// The largest integers that a chain computes with: any number can stand for them.
constexpr long most_integer_bytes = 4;

/// Does a node make a wider type of each element?
bool widens(const Graph& graph, const Node& node) {
  Call call = call_of(graph, node);
  if (!ops::is_conversion(call) || graph.values[node.outputs[0]].type.dynamic) return false;
  long from = size_of(call.element(0));
  return from > 0 && from < size_of(graph.values[node.outputs[0]].type.element);
}

/// Does a node compute nothing new, but put elements elsewhere?
bool only_moves(const Graph& graph, const Node& node) {
  Context context;
  Nest nest = nest_of(context, call_of(graph, node));
  return std::all_of(nest.statements().begin(), nest.statements().end(), [](const Statement& s) {
    bool is_element = s.value.op == Expr::Op::read || s.value.op == Expr::Op::number;
    return s.update == Update::assign && is_element;
  });
}

/// Returns the graph in which each element-wise user of a wider value has one of its own.
Graph with_own_widened(const Graph& graph) {
  Rewrite rewrite(graph);
  std::vector<std::vector<size_t>> readers = consumers(graph);
  for (const Node& node : graph.nodes) {
    if (node.outputs.size() != 1 || !widens(graph, node)) continue;
    ValueId wide = node.outputs[0];
    // The last user keeps it.
    for (size_t i = 0; i + 1 < readers[wide].size(); ++i) {
      size_t reader = readers[wide][i];
      if (reader == readers[wide][i + 1]) continue;
      if (!ops::is_elementwise(call_of(graph, graph.nodes[reader]))) continue;
      ValueId own = rewrite.call_before(reader, node.op, node.inputs, node.attributes,
                                        graph.values[wide].name + ".again");
      std::vector<ValueId>& inputs = rewrite.graph.nodes[reader].inputs;
      std::replace(inputs.begin(), inputs.end(), wide, own);
    }
  }
  return rewrite.finish();
}

class Fuser {
 public:
  explicit Fuser(const Graph& graph)
      : graph_(graph),
        readers_(consumers(graph)),
        is_output_(graph.values.size(), false),
        chain_of_(graph.values.size()),
        is_elementwise_(graph.nodes.size(), false),
        ranges_(ranges_of(graph)) {
    for (ValueId id : graph.outputs) is_output_[id] = true;
  }

  Graph fuse() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) place(n);
    Graph result = graph_;
    result.nodes.clear();
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      auto chain = chain_of_[node.outputs[0]];
      if (!chain || chains_[*chain].size() == 1) {
        result.nodes.push_back(node);
      } else if (chains_[*chain].back() == n) {
        result.nodes.push_back(fused_node(graph_, chains_[*chain]));
      }
    }
    result = without_dead(result);
    verify_types(result);
    return result;
  }

 private:
  using Chain = std::vector<size_t>;  // nodes, in an order in which they can run

  const Graph& graph_;
  std::vector<std::vector<size_t>> readers_;
  std::vector<bool> is_output_;
  std::vector<std::optional<size_t>> chain_of_;  // whose result the value is
  std::vector<Chain> chains_;
  std::vector<bool> is_elementwise_;  // of each node
  std::vector<Range> ranges_;         // of each value

  const Type& type(ValueId id) const { return graph_.values[id].type; }

  /// May numbers of this type be computed in a chain?
  static bool is_computed(Element element) {
    if (is_float(element)) return true;
    return is_integral(element) && element != Element::boolean &&
           size_of(element) <= most_integer_bytes;
  }

  /// May the node be part of a chain? It has a nest and one output, which is right before it is
  /// rounded to its type.
  bool can_be_fused(const Node& node) const {
    if (node.outputs.size() != 1 || node.op == "fused" || node.op == "concat") return false;
    const Type& output = type(node.outputs[0]);
    Call call = call_of(graph_, node);
    if (call.op().graph.run != nullptr || output.dynamic) return false;
    if (!is_computed(output.element)) return false;
    for (size_t i = 0; i < call.inputs(); ++i) {
      if (call.has(i) && !is_computed(call.element(i))) return false;
    }
    return has_nest(call) && infer(call).size() == 1 && fits_its_type(graph_, ranges_, node);
  }

  /// Does a value lose digits when it is stored? Then nothing may be computed from what it was.
  bool is_narrowed(ValueId id) const {
    const Node& from = graph_.nodes[chains_[*chain_of_[id]].back()];
    Element to = type(id).element;
    return is_float(to) && std::any_of(from.inputs.begin(), from.inputs.end(), [&](ValueId read) {
             return read != no_value && is_float(type(read).element) &&
                    is_wider(type(read).element, to);
           });
  }

  /// Returns the chain that a node can continue by reading "id", if there is one.
  std::optional<size_t> chain_to_continue(const Node& node, ValueId id) const {
    if (id == no_value) return std::nullopt;
    if (is_output_[id] || readers_[id].size() != 1) return std::nullopt;
    if (type(id).shape != type(node.outputs[0]).shape) return std::nullopt;
    auto chain = chain_of_[id];
    if (chain && widens(graph_, node) &&
        only_moves(graph_, graph_.nodes[chains_[*chain].front()])) {
      return std::nullopt;
    }
    return chain && !is_narrowed(id) && chains_[*chain].size() < most_calls ? chain : std::nullopt;
  }

  /// Adds a node to the best chain that it can continue, or begins one.
  void place(size_t n) {
    const Node& node = graph_.nodes[n];
    if (!can_be_fused(node)) return;
    is_elementwise_[n] = ops::is_elementwise(call_of(graph_, node));
    std::vector<size_t> open;
    for (ValueId id : node.inputs) {
      auto chain = is_elementwise_[n] ? chain_to_continue(node, id) : std::nullopt;
      bool known = chain && std::find(open.begin(), open.end(), *chain) != open.end();
      if (chain && !known) open.push_back(*chain);
    }
    std::optional<size_t> best;
    for (size_t chain : open) {
      if (!best || rank_of(chain) > rank_of(*best)) best = chain;
    }
    for (size_t chain : open) {
      bool fits = chains_[*best].size() + chains_[chain].size() < most_calls;
      if (chain != *best && fits && !rank_of(chain).first) join(*best, chain);
    }
    if (!best) {
      best = chains_.size();
      chains_.emplace_back();
    }
    chains_[*best].push_back(n);
    chain_of_[node.outputs[0]] = *best;
  }

  /// Puts an element-wise chain behind another.
  void join(size_t to, size_t chain) {
    for (size_t n : chains_[chain]) chain_of_[graph_.nodes[n].outputs[0]] = to;
    chains_[to].insert(chains_[to].end(), chains_[chain].begin(), chains_[chain].end());
    chains_[chain].clear();
  }

  /// Of two chains, one that begins with more than a value of each element gains most; then the
  /// later one, whose result waits less.
  std::pair<bool, size_t> rank_of(size_t chain) const {
    const Chain& nodes = chains_[chain];
    return {!is_elementwise_[nodes.front()], nodes.back()};
  }
};

}  // namespace

Pass fuse_ops() {
  return {
      "FuseOps", "compute operators on each element with what they read",
      [](const Graph& graph, const PassContext&) { return Fuser(with_own_widened(graph)).fuse(); }};
}

}  // namespace lathe::passes
