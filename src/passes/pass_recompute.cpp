// pass_recompute.cpp: values computed again instead of kept. Interface: pass_recompute.h.
#include "passes/pass_recompute.h"

#include <algorithm>
#include <map>
#include <set>

#include "ops/op_fused.h"

namespace lathe {
namespace {

/// A value is late for a user that comes so many nodes after its other users.
constexpr size_t far_apart = 16;
/// What is smaller than this part of a value is kept for its sake.
constexpr long small_part = 16;

long bytes_of(const Value& value) {
  return count_of(value.type.shape) * size_of(value.type.element);
}

class Recomputing {
 public:
  explicit Recomputing(const Graph& graph) : graph_(graph) {
    for (const Node& node : graph.nodes) {
      Call call = call_of(graph, node);
      cheap_.push_back(node.outputs.size() == 1 && has_nest(call) && ops::is_elementwise(call));
    }
    look();
  }

  Graph run(long budget) {
    // What costs nothing first: its operands are there.
    while (improve(false)) continue;
    while (peak_.first > budget && improve(true)) continue;
    return graph_;
  }

  long peak() const { return peak_.first; }

 private:
  /// When a value is needed: by the node that computes it, and by its users.
  struct Life {
    size_t made = 0;
    std::vector<size_t> users;
  };

  Graph graph_;
  std::vector<Life> lives_;
  std::vector<std::optional<size_t>> makers_;
  std::vector<bool> cheap_;       // of each node
  std::pair<long, size_t> peak_;  // bytes, and at which node
  std::set<ValueId> settled_;     // that were looked at and stay

  bool is_given(ValueId id) const { return graph_.values[id].kind != Value::Kind::computed; }

  void look() {
    lives_.assign(graph_.values.size(), {});
    makers_.assign(graph_.values.size(), std::nullopt);
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      for (ValueId id : node.outputs) {
        lives_[id].made = n;
        makers_[id] = n;
      }
      for (ValueId id : node.inputs) {
        if (id != no_value) lives_[id].users.push_back(n);
      }
    }
    for (ValueId id : graph_.outputs) lives_[id].users.push_back(graph_.nodes.size());
    find_peak();
  }

  void find_peak() {
    std::vector<long> change(graph_.nodes.size() + 2, 0);
    for (ValueId id = 0; id < graph_.values.size(); ++id) {
      if (is_given(id) || !makers_[id]) continue;
      size_t last = lives_[id].users.empty() ? lives_[id].made : lives_[id].users.back();
      change[lives_[id].made] += bytes_of(graph_.values[id]);
      change[std::min(last + 1, change.size() - 1)] -= bytes_of(graph_.values[id]);
    }
    peak_ = {0, 0};
    long now = 0;
    for (size_t n = 0; n < change.size(); ++n) {
      now += change[n];
      if (now > peak_.first) peak_ = {now, n};
    }
  }

  /// Is the value there when node "n" runs?
  bool is_alive(ValueId id, size_t n) const {
    return is_given(id) || (!lives_[id].users.empty() && lives_[id].users.back() >= n);
  }

  /// Returns where the users of a value fall apart into early and late ones: the first late one.
  std::optional<size_t> late_user(ValueId id) const {
    const Life& life = lives_[id];
    size_t before = life.made, widest = far_apart;
    std::optional<size_t> result;
    for (size_t user : life.users) {
      if (user == graph_.nodes.size()) return std::nullopt;  // an output
      if (user - before > widest) {
        widest = user - before;
        result = user;
      }
      before = user;
    }
    return result;
  }

  /// Collects the nodes that compute a value again at "at", in order; false if one is not cheap.
  bool collect(ValueId id, size_t at, bool deep, long bytes, std::set<size_t>& nodes) const {
    size_t n = *makers_[id];
    if (!cheap_[n]) return false;
    for (ValueId operand : graph_.nodes[n].inputs) {
      if (operand == no_value || is_alive(operand, at)) continue;
      if (bytes_of(graph_.values[operand]) * small_part <= bytes) continue;
      if (!deep || !makers_[operand] || !collect(operand, at, deep, bytes, nodes)) return false;
    }
    nodes.insert(n);
    return true;
  }

  /// Finds the largest value that can be computed again, and does so. Deep: it is alive when most
  /// is, and its operands may have to be computed again, too.
  bool improve(bool deep) {
    std::optional<ValueId> best;
    std::set<size_t> best_nodes;
    size_t best_at = 0;
    for (ValueId id = 0; id < graph_.values.size(); ++id) {
      if (is_given(id) || !makers_[id] || (!deep && settled_.contains(id))) continue;
      auto at = late_user(id);
      if (!at || (deep && (lives_[id].made > peak_.second || *at <= peak_.second))) continue;
      long bytes = bytes_of(graph_.values[id]);
      if (best && bytes <= bytes_of(graph_.values[*best])) continue;
      std::set<size_t> nodes;
      if (!collect(id, *at, deep, bytes, nodes)) continue;
      best = id;
      best_nodes = std::move(nodes);
      best_at = *at;
    }
    if (!best) return false;
    long before = peak_.first;
    clone(*best, best_nodes, best_at);
    if (!deep) settled_.insert(*best);
    return !deep || peak_.first < before;
  }

  void clone(ValueId id, const std::set<size_t>& nodes, size_t at) {
    std::map<ValueId, ValueId> again;
    std::vector<Node> added;
    for (size_t n : nodes) {
      Node node = graph_.nodes[n];
      for (ValueId& operand : node.inputs) {
        if (again.contains(operand)) operand = again[operand];
      }
      Value value = graph_.values[node.outputs[0]];
      value.name += fmt::format(".again{}", graph_.values.size());
      graph_.values.push_back(value);
      again[node.outputs[0]] = graph_.values.size() - 1;
      node.name += fmt::format(".again{}", graph_.values.size());
      node.outputs[0] = graph_.values.size() - 1;
      added.push_back(std::move(node));
    }
    for (size_t n = at; n < graph_.nodes.size(); ++n) {
      std::replace(graph_.nodes[n].inputs.begin(), graph_.nodes[n].inputs.end(), id, again[id]);
    }
    graph_.nodes.insert(graph_.nodes.begin() + static_cast<long>(at), added.begin(), added.end());
    cheap_.insert(cheap_.begin() + static_cast<long>(at), added.size(), true);
    look();
  }
};

}  // namespace

long peak_bytes(const Graph& graph) { return Recomputing(graph).peak(); }

Graph recomputed(const Graph& graph, long budget) { return Recomputing(graph).run(budget); }

}  // namespace lathe
