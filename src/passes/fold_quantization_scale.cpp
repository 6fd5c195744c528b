// fold_quantization_scale.cpp: divides by the scale of what is quantized in the factors before it.
//
//   quantize(relu(dequantize(y, s)), t, z)
// =>
//   quantize(dequantize(y, s / t), z)                  without scale; z is the least integer
//
// All factors are known, so the quotients are. A sum of numbers is divided by dividing each.
// Integers have bounds: those that come right before are left out if they are no narrower.
//
// A quotient was rounded, and the factor in its place is: that can decide between two neighbours,
// so a result may differ by one.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/op.h"
#include "passes/pass.h"
#include "passes/pass_rewrite.h"

namespace lathe::passes {
namespace {

/// Factors and summands above that could make an infinite number, whose place among integers is
/// decided otherwise.
constexpr double greatest = 1e20;

class QuotientRewrite {
 public:
  explicit QuotientRewrite(const Graph& graph) : rewrite_(graph) {}

  Graph run() {
    for (size_t n = 0; n < rewrite_.graph.nodes.size(); ++n) {
      if (rewrite_.graph.nodes[n].op == "quantize") fold(n);
    }
    return rewrite_.finish();
  }

 private:
  Rewrite rewrite_;

  const Node& node(size_t n) const { return rewrite_.graph.nodes[n]; }

  /// Returns the one number of a value that is known.
  std::optional<double> number(ValueId id) const {
    const Value& value = rewrite_.graph.values[id];
    if (!value.data || !value.type.shape.empty()) return std::nullopt;
    return value.data->reals().front();
  }

  /// Are all numbers of a value known, and none of them extreme?
  bool is_known(ValueId id) const {
    const Value& value = rewrite_.graph.values[id];
    if (!value.data || value.type.element != Element::f32) return false;
    std::vector<double> numbers = value.data->reals();
    return std::all_of(numbers.begin(), numbers.end(),
                       [](double x) { return std::abs(x) < greatest; });
  }

  /// Can a value, which "user" reads, be computed divided by a number?
  bool can_divide(size_t user, ValueId id) const {
    if (is_known(id)) return true;
    auto producer = rewrite_.producer(id);
    if (!producer || rewrite_.graph.values[id].type.element != Element::f32) return false;
    const Node& made = node(*producer);
    if (made.op == "dequantize") return is_known(made.inputs[1]);
    if (!rewrite_.only_for(user, id)) return false;
    if (made.op == "relu" || made.op == "clip") return can_divide(*producer, made.inputs[0]);
    return made.op == "add" && can_divide(*producer, made.inputs[0]) &&
           can_divide(*producer, made.inputs[1]);
  }

  ValueId call(size_t n, const std::string& op, const std::vector<ValueId>& inputs,
               const Attributes& attributes = {}) {
    return rewrite_.call_before(n, op, inputs, attributes, node(n).name + "." + op);
  }

  /// The bounds of a clip or a relu.
  struct Bounds {
    double min, max;
  };
  Bounds bounds_of(const Node& of) const {
    if (of.op == "relu") return {0, std::numeric_limits<double>::infinity()};
    Call clip = call_of(rewrite_.graph, of);
    return {clip.real("min"), clip.real("max")};
  }

  /// Returns a value divided by the one number of "scale", computed right before n.
  ValueId divided(size_t n, ValueId id, ValueId scale) {
    if (is_known(id)) return call(n, "div", {id, scale});
    const Node made = node(*rewrite_.producer(id));
    if (made.op == "dequantize") {
      std::vector<ValueId> inputs = made.inputs;
      inputs[1] = call(n, "div", {inputs[1], scale});
      return call(n, made.op, inputs);
    }
    std::vector<ValueId> inputs;
    for (ValueId input : made.inputs) inputs.push_back(divided(n, input, scale));
    Attributes attributes = made.attributes;
    if (made.op == "clip") {
      Bounds bounds = bounds_of(made);
      double by = *number(scale);
      attributes = {{"min", bounds.min / by}, {"max", bounds.max / by}};
    }
    return call(n, made.op, inputs, attributes);
  }

  void fold(size_t n) {
    const Node quantize = node(n);
    if (quantize.inputs.size() < 2 || quantize.inputs[1] == no_value) return;
    auto scale = number(quantize.inputs[1]);
    ValueId zero_point = quantize.inputs.size() > 2 ? quantize.inputs[2] : no_value;
    auto zero = zero_point == no_value ? 0 : number(zero_point);
    bool usual = scale && zero && *scale > 1 / greatest && is_known(quantize.inputs[1]);
    if (!usual || is_known(quantize.inputs[0]) || !can_divide(n, quantize.inputs[0])) return;
    Element to = rewrite_.graph.values[quantize.outputs[0]].type.element;
    const Bounds integers{static_cast<double>(lowest_of(to)) - *zero,
                          static_cast<double>(highest_of(to)) - *zero};
    ValueId x = quantize.inputs[0];
    while (auto producer = rewrite_.producer(x)) {
      const Node& by = node(*producer);
      if (by.op != "relu" && by.op != "clip") break;
      auto [min, max] = bounds_of(by);
      if (min / *scale > integers.min || max / *scale < integers.max) break;
      x = by.inputs[0];
    }
    std::vector<ValueId> inputs{divided(n, x, quantize.inputs[1])};
    if (*zero != 0) inputs.insert(inputs.end(), {no_value, zero_point});
    rewrite_.become(n, "quantize", inputs, quantize.attributes);
  }
};

Graph run_fold_quantization_scale(const Graph& graph, const PassContext& /*context*/) {
  return QuotientRewrite(graph).run();
}

}  // namespace

Pass fold_quantization_scale() {
  return {.name = "FoldQuantizationScale",
          .summary =
              "divide by a scale in the factors before it; exact but for one unit where a "
              "result is rounded",
          .run = run_fold_quantization_scale,
          .tolerance = 0.008};  // one unit of 127
}

}  // namespace lathe::passes
