// gradient.cpp: reverse-mode differentiation of a graph. Interface: gradient.h.
//
// Nodes are visited last to first. Nodes of the operator "adjoint" compute the gradients of each
// node's operands from those of its outputs; what a value gets from several users is added up.
#include "autodiff/gradient.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/memo.h"
#include "ops/op_adjoint.h"

namespace lathe {
namespace {

/// Does the gradient only hand on the one that it is given?
bool hands_on(const ops::CallAdjoint& adjoint, const Type& from, const Type& to) {
  const Nest& nest = adjoint.nest;
  if (from != to || nest.statements().size() != 1) return false;
  const Statement& s = nest.statements().front();
  return s.update == Update::assign && s.value == read(0) && s.reads.size() == 1 &&
         s.reads[0].at.plain_is_equal(s.write.at);
}

/// What is known of the gradient of a call by one operand.
struct Known {
  bool exists = false, is_same = false;
  std::vector<bool> reads = {};
};

/// Finds it out from the gradient's nest, once for all graphs that have the call.
std::shared_ptr<const Known> knowledge(const Call& call, size_t by) {
  static Memo<Known> memo;
  return memo.of(fmt::format("{} {}", by, print(call)), [&] {
    Context context;
    auto adjoint = ops::make_adjoint(context, call, by);
    if (!adjoint) return Known{};
    std::vector<Type> types = infer(call);
    bool is_same = types.size() == 1 && hands_on(*adjoint, types[0], call.type(by));
    return Known{true, is_same, adjoint->reads};
  });
}

class Differentiation {
 public:
  Differentiation(const Graph& graph, const std::vector<ValueId>& by)
      : graph_(graph), by_(by), parts_(graph.values.size()) {}

  Gradients run(const std::vector<Counted>& of) {
    find_active();
    nodes_ = graph_.nodes.size();
    for (const Counted& each : of) {
      if (!active_[each.value]) continue;
      ValueId factor = each.factor == no_value ? constant_like(each.value, 1) : each.factor;
      parts_[each.value].push_back(factor);
    }
    for (size_t n = nodes_; n-- > 0;) visit(n);
    Gradients result{{}, {}};
    for (ValueId id : by_) result.by.push_back(total(id));
    result.graph = std::move(graph_);
    return result;
  }

 private:
  Graph graph_;
  const std::vector<ValueId>& by_;
  size_t nodes_ = 0;
  std::vector<bool> active_;                 // does the value depend on one of those?
  std::vector<std::vector<ValueId>> parts_;  // of each value's gradient, to be added up

  void find_active() {
    active_.assign(graph_.values.size(), false);
    for (ValueId id : by_) active_[id] = true;
    for (const Node& node : graph_.nodes) {
      bool any = std::any_of(node.inputs.begin(), node.inputs.end(),
                             [&](ValueId id) { return id != no_value && active_[id]; });
      if (!any) continue;
      for (ValueId id : node.outputs) active_[id] = true;
    }
  }

  ValueId add_value(const std::string& name, const Type& type) {
    Value value;
    value.name = name;
    for (int i = 2; find_taken(value.name); ++i) value.name = fmt::format("{}.{}", name, i);
    names_.insert(value.name);
    value.type = type;
    graph_.values.push_back(std::move(value));
    return graph_.values.size() - 1;
  }

  std::set<std::string> names_;
  bool find_taken(const std::string& name) {
    if (names_.empty()) {
      for (const Value& value : graph_.values) names_.insert(value.name);
      for (const Node& node : graph_.nodes) names_.insert(node.name);
    }
    return names_.contains(name);
  }

  ValueId add_node(const std::string& name, const std::string& op, Attributes attributes,
                   std::vector<ValueId> inputs, const Type& type) {
    ValueId output = add_value(name, type);
    graph_.nodes.push_back(
        {graph_.values[output].name, op, std::move(attributes), std::move(inputs), {output}});
    return output;
  }

  /// Returns a constant of the type of a value, with the same number everywhere.
  ValueId constant_like(ValueId of, double number) {
    const Type type = graph_.values[of].type;
    std::vector<double> values(static_cast<size_t>(count_of(type.shape)), number);
    const char* what = number == 0 ? ".zeros" : ".ones";
    ValueId id = add_value("d." + graph_.values[of].name + what, type);
    graph_.values[id].kind = Value::Kind::constant;
    graph_.values[id].data = Array::of_reals(type.element, type.shape, values);
    return id;
  }

  /// Returns the sum of all parts of a value's gradient.
  ValueId total(ValueId id) {
    std::vector<ValueId>& parts = parts_[id];
    if (parts.empty()) return no_value;
    Type type = graph_.values[id].type;
    while (parts.size() > 1) {
      // In the order in which they were found: the same sum on every machine.
      ValueId sum = add_node("d." + graph_.values[id].name, "add", {}, {parts[0], parts[1]}, type);
      parts.erase(parts.begin());
      parts[0] = sum;
    }
    return parts[0];
  }

  static std::shared_ptr<const Known> knowledge_of(const Node& node, const Call& call, size_t by) {
    try {
      return knowledge(call, by);
    } catch (const UserError& error) {
      fail("node '{}' has no gradient: {}", node.name, error.what());
    }
  }

  void visit(size_t n) {
    const Node node = graph_.nodes[n];
    bool wanted = false;
    for (ValueId id : node.outputs) wanted = wanted || (id != no_value && !parts_[id].empty());
    if (!wanted) return;
    Call call = call_of(graph_, node);
    std::vector<ValueId> gradients;
    for (ValueId id : node.outputs) gradients.push_back(total(id));
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      ValueId to = node.inputs[i];
      if (to == no_value || !active_[to]) continue;
      std::shared_ptr<const Known> known = knowledge_of(node, call, i);
      if (!known->exists) continue;
      if (known->is_same) {
        parts_[to].push_back(gradients[0]);
      } else {
        parts_[to].push_back(adjoint_node(node, call, i, *known, gradients));
      }
    }
  }

  ValueId adjoint_node(const Node& node, const Call& call, size_t by, const Known& known,
                       const std::vector<ValueId>& gradients) {
    std::vector<ValueId> all = node.inputs;
    all.resize(call.inputs(), no_value);
    all.insert(all.end(), node.outputs.begin(), node.outputs.end());
    all.insert(all.end(), gradients.begin(), gradients.end());
    while (!known.reads[all.size() - 1]) all.pop_back();
    for (size_t i = 0; i < all.size(); ++i) {
      if (!known.reads[i]) all[i] = no_value;
    }
    // Nothing that counts depends on an output without a gradient.
    size_t first = call.inputs() + node.outputs.size();
    for (size_t i = first; i < all.size(); ++i) {
      if (known.reads[i] && all[i] == no_value) {
        all[i] = constant_like(node.outputs[i - first], 0);
      }
    }
    ValueId to = node.inputs[by];
    Attributes attributes{{"of", print(call)}};
    if (by != 0) attributes["by"] = static_cast<long>(by);
    return add_node("d." + graph_.values[to].name, "adjoint", attributes, all,
                    graph_.values[to].type);
  }
};

}  // namespace

Gradients with_gradients(const Graph& graph, ValueId of, const std::vector<ValueId>& by) {
  return Differentiation(graph, by).run({{of, no_value}});
}

Gradients with_gradients(const Graph& graph, const std::vector<Counted>& of,
                         const std::vector<ValueId>& by) {
  for (const Counted& each : of) {
    check(
        each.factor == no_value || graph.values[each.value].type == graph.values[each.factor].type,
        "a factor counts each element of its value");
  }
  return Differentiation(graph, by).run(of);
}

}  // namespace lathe
