// pass_quantised.cpp: values that stand for numbers. Interface: pass_quantised.h.
#include "passes/pass_quantised.h"

#include <algorithm>
#include <cmath>

#include "base/element.h"
#include "ops/op.h"
#include "passes/pass_ranges.h"

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

std::optional<long> QuantisedGraph::zero_of(const QuantisedValue& x) const {
  if (x.zero == no_value) return 0;
  if (!is_known(x.zero)) return std::nullopt;
  std::vector<long> numbers = graph().values[x.zero].data->integers();
  bool one =
      std::adjacent_find(numbers.begin(), numbers.end(), std::not_equal_to<>()) == numbers.end();
  return one && !numbers.empty() ? std::optional(numbers[0]) : std::nullopt;
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
  if (element(bias.integers) != Element::i32 || zero_of(bias) != 0) return false;
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
  return folded(n, "reshape", {weights.scale}, {{"shape", per_channel(n, weights.scale)}});
}

Shape QuantisedGraph::per_channel(size_t n, ValueId id) const {
  Shape aligned(shape(node(n).outputs[0]).size() - 1, 1);
  aligned[0] = shape(id)[0];
  return aligned;
}

ValueId QuantisedGraph::call(size_t n, const std::string& op, const std::vector<ValueId>& inputs,
                             const Attributes& attributes) {
  return rewrite_.call_before(n, op, inputs, attributes, node(n).name + "." + op);
}

ValueId QuantisedGraph::folded(size_t n, const std::string& op, const std::vector<ValueId>& inputs,
                               const Attributes& attributes) {
  std::vector<Array> known;
  for (ValueId id : inputs) {
    if (!graph().values[id].data) return call(n, op, inputs, attributes);
    known.push_back(*graph().values[id].data);
  }
  Call made = call_of(graph(), {"", op, attributes, inputs, {}});
  return this->known(node(n).name + "." + op, evaluate(context_, made, known).front());
}

ValueId QuantisedGraph::centred(size_t n, const QuantisedValue& x) {
  Attributes to{{"to", std::string("i16")}};
  ValueId wide = call(n, "cast", {x.integers}, to);
  return x.zero == no_value ? wide : call(n, "sub", {wide, call(n, "cast", {x.zero}, to)});
}

std::optional<ValueId> QuantisedGraph::narrow(size_t n, const QuantisedValue& x) {
  if (zero_of(x) == 0) return x.integers;
  if (!is_known(x.integers) || !is_known(x.zero)) return std::nullopt;
  Attributes wide{{"to", std::string("i16")}};
  ValueId less =
      folded(n, "sub", {folded(n, "cast", {x.integers}, wide), folded(n, "cast", {x.zero}, wide)});
  Range range = range_of(*graph().values[less].data);
  bool fits = range.least >= static_cast<double>(lowest_of(Element::i8)) &&
              range.greatest <= static_cast<double>(highest_of(Element::i8));
  return fits ? folded(n, "cast", {less}, {{"to", std::string("i8")}}) : less;
}

ValueId QuantisedGraph::known(const std::string& name, const Array& data) {
  return rewrite_.add({name, Value::Kind::constant, {data.element(), data.shape()}, data});
}

/// Are all users of a value nodes that look at what it stands for?
bool QuantisedGraph::can_be_retyped(ValueId id) const {
  if (rewrite_.is_output(id)) return false;
  for (const Node& user : graph().nodes) {
    bool reads = std::find(user.inputs.begin(), user.inputs.end(), id) != user.inputs.end();
    if (!reads) continue;
    bool looks = user.op == "dequantize" && user.inputs[0] == id;
    if (!looks || (user.inputs.size() > 2 && !is_known(user.inputs[2]))) return false;
  }
  return true;
}

/// Returns the zero point of integers whose type begins elsewhere.
ValueId QuantisedGraph::moved_zero(ValueId zero, Element from, Element to) {
  Array old = zero == no_value ? Array(from, {}) : *graph().values[zero].data;
  std::vector<long> numbers = old.integers();
  for (long& number : numbers) number += lowest_of(to) - lowest_of(from);
  return known(zero == no_value ? "zero" : graph().values[zero].name,
               Array::of_integers(to, old.shape(), numbers));
}

void QuantisedGraph::retype(Element to) {
  for (size_t n = 0; n < graph().nodes.size(); ++n) {
    Node& made = rewrite_.graph.nodes[n];
    if (made.op != "quantize") continue;
    ValueId id = made.outputs[0];
    Element from = element(id);
    bool has_zero = made.inputs.size() > 2 && made.inputs[2] != no_value;
    if (size_of(from) != size_of(to) || from == to || !can_be_retyped(id)) continue;
    if (has_zero && !is_known(made.inputs[2])) continue;
    made.inputs.resize(3, no_value);
    made.inputs[2] = moved_zero(made.inputs[2], from, to);
    made.attributes["to"] = std::string(name_of(to));
    made.attributes = call_of(graph(), made).attributes();  // without defaults
    rewrite_.graph.values[id].type.element = to;
    for (Node& user : rewrite_.graph.nodes) {
      if (user.op != "dequantize" || user.inputs[0] != id) continue;
      user.inputs.resize(3, no_value);
      user.inputs[2] = moved_zero(user.inputs[2], from, to);
    }
  }
}

QuantisedValue QuantisedGraph::retyped(size_t n, const QuantisedValue& x, Element to) {
  ValueId one = known("one", Array::of_reals(Element::f32, {}, std::vector<double>{1}));
  ValueId numbers = call(n, "dequantize", {x.integers, one});
  ValueId begin = moved_zero(no_value, element(x.integers), to);
  ValueId integers = call(n, "quantize", {numbers, one, begin}, {{"to", std::string(name_of(to))}});
  return {integers, x.scale, moved_zero(x.zero, element(x.integers), to)};
}

void QuantisedGraph::become(size_t n, const QuantisedValue& x) {
  rewrite_.become(n, "dequantize", dequantize_operands(x));
}

void QuantisedGraph::become_biased(size_t n, const QuantisedValue& x, ValueId bias) {
  ValueId sums = call(n, "dequantize", dequantize_operands(x));
  ValueId aligned = folded(n, "reshape", {bias}, {{"shape", per_channel(n, bias)}});
  rewrite_.become(n, "add", {sums, aligned});
}

void QuantisedGraph::become_copy(size_t n, ValueId from) { rewrite_.become(n, "identity", {from}); }

}  // namespace lathe::passes
