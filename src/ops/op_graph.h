// Builds graphs: types are inferred and checked as nodes are added. Used by the built-in networks
// and by the ONNX importer.
//
//   GraphBuilder g("net");
//   ValueId x = g.input("x", {Element::f32, {1, 3, 32, 32}});
//   ValueId w = g.weight("conv.weight", {16, 3, 3, 3}, he_fan_out({16, 3, 3, 3}));
//   g.output(g.call("conv", {x, w}, {{"pads", Shape{1, 1, 1, 1}}}, "conv"));
//   return g.build();
#pragma once

#include <unordered_map>

#include "ops/op.h"

namespace lathe {

class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name) { graph_.name = std::move(name); }
  /// Begins with an existing graph, whose values keep their ids.
  explicit GraphBuilder(Graph graph);

  ValueId input(const std::string& name, Type type);
  /// Adds a weight or a state, with data or with a way to begin.
  ValueId weight(const std::string& name, Shape shape, Initial initial,
                 Value::Kind kind = Value::Kind::weight);
  ValueId weight(const std::string& name, Array data, Value::Kind kind = Value::Kind::weight);
  ValueId constant(Array data, const std::string& name = "");

  /// Adds a node; without a name it is named after the operator. Its value has the name of the
  /// node; the i-th of several is "node.i".
  ValueId call(std::string_view op, const std::vector<ValueId>& inputs,
               const Attributes& attributes = {}, const std::string& name = "");
  std::vector<ValueId> call_all(std::string_view op, const std::vector<ValueId>& inputs,
                                const Attributes& attributes = {}, const std::string& name = "");

  void output(ValueId value) { graph_.outputs.push_back(value); }
  /// Gives a value another name, which is made unique.
  void rename(ValueId value, const std::string& name);

  /// Returns the nodes added so far.
  const std::vector<Node>& nodes() const { return graph_.nodes; }
  const Value& value(ValueId id) const { return graph_.values[id]; }
  const Type& type(ValueId id) const { return graph_.values[id].type; }
  const Shape& shape(ValueId id) const { return graph_.values[id].type.shape; }
  /// Sets the kind of a value, which the importer finds out late.
  void set_kind(ValueId id, Value::Kind kind) { graph_.values[id].kind = kind; }

  /// Returns the graph, verified, without what no output needs.
  Graph build() const;
  /// Returns the graph as it is: values keep their ids.
  const Graph& unfinished() const { return graph_; }

 private:
  Graph graph_;
  /// Names that are taken, and the first number that may tell another of that name from it.
  std::unordered_map<std::string, int> value_names_, node_names_;

  ValueId add(Value value);
};

/// Returns how a convolution's weights begin (He, fan-out): the deviation sqrt(2 / fan), where the
/// fan is filters times kernel elements, divided by the groups.
Initial he_fan_out(const Shape& shape, long groups = 1);

}  // namespace lathe
