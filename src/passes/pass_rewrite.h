// What passes share: values that replace others, and free names.
#pragma once

#include <set>

#include "graph/graph.h"

namespace lathe::passes {

/// Adds a value for a copy of another; the caller adds the node (copy_node()).
ValueId add_copy(Graph& graph, ValueId of, const std::string& suffix);

/// Returns the node that makes such a copy.
Node copy_node(const Graph& graph, ValueId from, ValueId to);

/// A graph while a pass changes it. Nodes keep their places until finish().
class Rewrite {
 public:
  explicit Rewrite(const Graph& graph);

  Graph graph;

  bool is_output(ValueId id) const { return outputs_.contains(id); }
  /// Returns the node that computes a value, if one does.
  std::optional<size_t> producer(ValueId id) const { return producers_[id]; }
  /// Returns the node that computes a value which only "user" reads and which is no output.
  std::optional<size_t> only_for(size_t user, ValueId id) const;

  /// Adds a value; its name is made unique.
  ValueId add(Value value);
  /// Removes a node, adds one right after another, or adds one before all.
  void remove(size_t node);
  void insert_after(size_t node, Node added);
  void insert_first(Node added);
  /// Adds a node right before another; returns what it computes, its only output.
  ValueId call_before(size_t node, const std::string& op, const std::vector<ValueId>& inputs,
                      const Attributes& attributes, const std::string& name);
  /// Makes a node compute its output in another way.
  void become(size_t node, const std::string& op, const std::vector<ValueId>& inputs,
              const Attributes& attributes = {});
  /// Says that a node computes "now" instead of "old".
  void replace_output(size_t node, ValueId old, ValueId now);
  /// Makes all nodes that read "old" read "now".
  void replace_uses(ValueId old, ValueId now);

  /// Returns the graph without what was taken out or has become dead, verified with its types.
  Graph finish() const;

 private:
  std::set<ValueId> outputs_;
  std::set<std::string> names_;  // of values
  std::vector<std::optional<size_t>> producers_;
  std::vector<bool> removed_;
  std::map<size_t, Node> inserted_;
  std::map<size_t, std::vector<Node>> before_;
  std::vector<Node> first_;
};

/// Gives the outputs of a node their types if a pass has told shapes that were not known.
void refine_types(Graph& graph, const Node& node);

/// Is a value known when no input is: a weight, a state or a constant?
bool is_known_before(const Graph& graph, ValueId id);

}  // namespace lathe::passes
