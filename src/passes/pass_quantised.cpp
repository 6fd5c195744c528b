// pass_quantised.cpp: values that stand for numbers. Interface: pass_quantised.h.
#include "passes/pass_quantised.h"

#include <algorithm>
#include <cmath>

#include "base/element.h"
#include "ops/op.h"

namespace lathe::passes {
namespace {

std::vector<ValueId> dequantize_operands(const QuantisedValue& x) {
  std::vector<ValueId> operands{x.integers, x.scale};
  if (x.zero != no_value) operands.push_back(x.zero);
  return operands;
}

}  // namespace

std::optional<QuantisedValue> QuantisedGraph::quantised(ValueId id) const {
  if (id == no_value || element(id) != Element::f32 || !rewrite_.producer(id)) return std::nullopt;
  const Node& from = node(*rewrite_.producer(id));
  if (from.op != "dequantize" || graph().values[id].type.dynamic) return std::nullopt;
  return QuantisedValue{from.inputs[0], from.inputs[1],
                        from.inputs.size() > 2 ? from.inputs[2] : no_value};
}

bool QuantisedGraph::is_uniform(const QuantisedValue& x) const {
  return shape(x.scale).empty() && (x.zero == no_value || shape(x.zero).empty());
}

bool QuantisedGraph::is_by_channel(const QuantisedValue& x) const {
  size_t rank = shape(x.integers).size();
  auto is_one = [&](ValueId id) {
    if (id == no_value) return true;
    const Shape& own = shape(id);
    for (size_t i = 0; i < own.size(); ++i) {
      if (own[i] != 1 && i + rank != own.size() + 1) return false;
    }
    return true;
  };
  return is_one(x.scale) && is_one(x.zero);
}

bool QuantisedGraph::is_rising(const QuantisedValue& x) const {
  const auto& data = graph().values[x.scale].data;
  if (!data) return false;
  std::vector<double> scales = data->reals();
  return std::all_of(scales.begin(), scales.end(), [](double scale) { return scale > 0; });
}

bool QuantisedGraph::is_small(const QuantisedValue& x) const {
  return size_of(element(x.integers)) == 1;
}

bool QuantisedGraph::can_add(long count, int factors) const {
  long largest = factors == 1 ? 255 : 255L * 255;
  return count <= (1L << 30) / largest;
}

bool QuantisedGraph::is_same(ValueId a, ValueId b) const {
  if (a == b) return true;
  if (a == no_value || b == no_value || graph().values[a].type != graph().values[b].type) {
    return false;
  }
  const auto &first = graph().values[a].data, &second = graph().values[b].data;
  return first && second && first->reals() == second->reals();
}

bool QuantisedGraph::mean_the_same(const QuantisedValue& a, const QuantisedValue& b) const {
  return element(a.integers) == element(b.integers) && is_same(a.scale, b.scale) &&
         is_same(a.zero, b.zero);
}

bool QuantisedGraph::is_bias(const QuantisedValue& bias, const QuantisedValue& x,
                             const QuantisedValue& weights) const {
  if (element(bias.integers) != Element::i32 || bias.zero != no_value) return false;
  const auto &own = graph().values[bias.scale].data, &left = graph().values[x.scale].data,
             &right = graph().values[weights.scale].data;
  if (!own || !left || !right || own->count() != right->count()) return false;
  std::vector<double> scales = own->reals(), of_weights = right->reals();
  for (size_t i = 0; i < scales.size(); ++i) {
    double product = left->reals()[0] * of_weights[i];
    if (std::abs(scales[i] - product) > 1e-6 * product) return false;
  }
  return true;
}

std::optional<ValueId> QuantisedGraph::scale_of_outputs(size_t n, const QuantisedValue& weights) {
  const Shape &own = shape(weights.scale), &all = shape(weights.integers);
  if (own.empty()) return weights.scale;
  // A filter is a row of the weights; of a product, a column of the second operand.
  if (node(n).op == "matmul") {
    return own == Shape{all.back()} ? std::optional(weights.scale) : std::nullopt;
  }
  Shape filters(all.size(), 1);
  filters[0] = all[0];
  if (own != filters) return std::nullopt;
  return this->scale(n, "reshape", {weights.scale}, {{"shape", per_channel(n, weights.scale)}});
}

/// Returns the shape of a number for each channel that broadcasts to the outputs.
Shape QuantisedGraph::per_channel(size_t n, ValueId id) const {
  Shape aligned(shape(node(n).outputs[0]).size() - 1, 1);
  aligned[0] = shape(id)[0];
  return aligned;
}

ValueId QuantisedGraph::call(size_t n, const std::string& op, const std::vector<ValueId>& inputs,
                             const Attributes& attributes) {
  return rewrite_.call_before(n, op, inputs, attributes, node(n).name + "." + op);
}

ValueId QuantisedGraph::scale(size_t n, const std::string& op, const std::vector<ValueId>& inputs,
                              const Attributes& attributes) {
  std::vector<Array> known;
  for (ValueId id : inputs) {
    if (!graph().values[id].data) return call(n, op, inputs, attributes);
    known.push_back(*graph().values[id].data);
  }
  Call made = call_of(graph(), {"", op, attributes, inputs, {}});
  Array data = evaluate(context_, made, known).front();
  return rewrite_.add({node(n).name + ".scale", Value::Kind::constant, infer(made).front(), data});
}

ValueId QuantisedGraph::centred(size_t n, const QuantisedValue& x) {
  Attributes to{{"to", std::string("i32")}};
  ValueId wide = call(n, "cast", {x.integers}, to);
  return x.zero == no_value ? wide : call(n, "sub", {wide, call(n, "cast", {x.zero}, to)});
}

ValueId QuantisedGraph::real(double number) {
  std::vector<double> one{number};
  Array data = Array::of_reals(Element::f32, {}, one);
  return rewrite_.add({"number", Value::Kind::constant, {Element::f32, {}}, data});
}

void QuantisedGraph::become(size_t n, const QuantisedValue& x) {
  rewrite_.become(n, "dequantize", dequantize_operands(x));
}

void QuantisedGraph::become_biased(size_t n, const QuantisedValue& x, ValueId bias) {
  ValueId sums = call(n, "dequantize", dequantize_operands(x));
  ValueId aligned = call(n, "reshape", {bias}, {{"shape", per_channel(n, bias)}});
  rewrite_.become(n, "add", {sums, aligned});
}

void QuantisedGraph::become_copy(size_t n, ValueId from) { rewrite_.become(n, "identity", {from}); }

}  // namespace lathe::passes
