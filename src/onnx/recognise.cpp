// recognise.cpp: makes one operator of a formula that exporters spell out. Interface: recognised()
// of site.h.
#include <cmath>

#include "onnx/site.h"

namespace lathe {
namespace {

class Recogniser {
 public:
  explicit Recogniser(Graph graph) : graph_(std::move(graph)), users_(consumers(graph_)) {
    maker_.resize(graph_.values.size(), graph_.nodes.size());
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      for (ValueId id : graph_.nodes[n].outputs) maker_[id] = n;
    }
  }

  Graph run() {
    for (Node& node : graph_.nodes) {
      auto x = gelu_of(node);
      if (!x) continue;
      node.op = "gelu";
      node.inputs = {*x};
      node.attributes = {};
    }
    return without_dead(graph_);
  }

 private:
  Graph graph_;
  std::vector<std::vector<size_t>> users_;
  std::vector<size_t> maker_;

  /// Returns the node that makes a value for one user alone, if it is this operator.
  const Node* made_by(ValueId id, const char* op) const {
    if (maker_[id] == graph_.nodes.size() || users_[id].size() != 1) return nullptr;
    const Node& node = graph_.nodes[maker_[id]];
    return node.op == op ? &node : nullptr;
  }

  bool is_number(ValueId id, double number) const {
    const auto& data = graph_.values[id].data;
    if (!data || !data->shape().empty() || !is_float(data->element())) return false;
    return std::fabs(data->real() - number) <= 1e-6 * std::fabs(number);
  }

  /// If one operand is the number, returns the other.
  std::optional<ValueId> beside(const Node& node, double number) const {
    if (is_number(node.inputs[1], number)) return node.inputs[0];
    if (is_number(node.inputs[0], number)) return node.inputs[1];
    return std::nullopt;
  }

  /// Is the value 1 + erf(x / sqrt(2))?
  bool is_bell(ValueId id, ValueId x) const {
    const Node* sum = made_by(id, "add");
    auto erf_value = sum != nullptr ? beside(*sum, 1) : std::nullopt;
    const Node* erf = erf_value ? made_by(*erf_value, "erf") : nullptr;
    if (erf == nullptr) return false;
    if (const Node* div = made_by(erf->inputs[0], "div")) {
      return div->inputs[0] == x && is_number(div->inputs[1], std::sqrt(2.0));
    }
    const Node* mul = made_by(erf->inputs[0], "mul");
    return mul != nullptr && beside(*mul, std::sqrt(0.5)) == x;
  }

  /// Is the node  x * bell / 2,  with its three factors in any order? Returns x.
  std::optional<ValueId> gelu_of(const Node& node) const {
    if (node.op != "mul") return std::nullopt;
    if (auto product = beside(node, 0.5)) {
      const Node* inner = made_by(*product, "mul");
      if (inner == nullptr) return std::nullopt;
      for (size_t i : {0, 1}) {
        if (is_bell(inner->inputs[1 - i], inner->inputs[i])) return inner->inputs[i];
      }
      return std::nullopt;
    }
    for (size_t i : {0, 1}) {
      const Node* half = made_by(node.inputs[i], "mul");
      auto x = half != nullptr ? beside(*half, 0.5) : std::nullopt;
      if (x && is_bell(node.inputs[1 - i], *x)) return x;
      const Node* bell = made_by(node.inputs[i], "mul");
      auto scaled = bell != nullptr ? beside(*bell, 0.5) : std::nullopt;
      if (scaled && is_bell(*scaled, node.inputs[1 - i])) return node.inputs[1 - i];
    }
    return std::nullopt;
  }
};

}  // namespace

Graph recognised(const Graph& graph) { return Recogniser(graph).run(); }

}  // namespace lathe
