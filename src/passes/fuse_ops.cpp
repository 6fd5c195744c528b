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
// A chain has a limit. All its calls are statements of one nest and one kernel, and what schedules,
// judges and compiles those looks at pairs of statements: work that grows with their square.
#include <algorithm>

#include "passes/pass.h"
#include "passes/pass_fused.h"

namespace lathe::passes {
namespace {

/// Calls of a chain, at most. Those of networks have about ten; from some dozens on, passing a
/// value through memory once costs nothing beside computing it.
constexpr size_t most_calls = 32;

class Fuser {
 public:
  explicit Fuser(const Graph& graph)
      : graph_(graph),
        readers_(consumers(graph)),
        is_output_(graph.values.size(), false),
        chain_of_(graph.values.size()),
        is_elementwise_(graph.nodes.size(), false) {
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

  const Type& type(ValueId id) const { return graph_.values[id].type; }

  /// May the node be part of a chain? It has a nest and one output, and all its values are reals
  /// of one type: results in between are not rounded to the range of integers.
  bool can_be_fused(const Node& node) const {
    if (node.outputs.size() != 1 || node.op == "fused" || node.op == "concat") return false;
    const Type& output = type(node.outputs[0]);
    Call call = call_of(graph_, node);
    if (call.op().graph.run != nullptr || output.dynamic || !is_float(output.element)) return false;
    for (size_t i = 0; i < call.inputs(); ++i) {
      if (call.has(i) && call.element(i) != output.element) return false;
    }
    return has_nest(call) && infer(call).size() == 1;
  }

  /// Returns the chain that a node can continue by reading "id", if there is one.
  std::optional<size_t> chain_to_continue(const Node& node, ValueId id) const {
    if (id == no_value) return std::nullopt;
    if (is_output_[id] || readers_[id].size() != 1) return std::nullopt;
    auto chain = type(id) == type(node.outputs[0]) ? chain_of_[id] : std::nullopt;
    return chain && chains_[*chain].size() < most_calls ? chain : std::nullopt;
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
  return {"FuseOps", "compute operators on each element with what they read",
          [](const Graph& graph, const PassContext&) { return Fuser(graph).fuse(); }};
}

}  // namespace lathe::passes
