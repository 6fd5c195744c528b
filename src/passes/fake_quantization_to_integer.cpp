// fake_quantization_to_integer.cpp: computes on integers what is computed on the numbers that they
// stand for.
//
//   y = conv(dequantize(a, s, z), dequantize(w, t), b)
//   r = quantize(relu(y), u)
// =>
//   y = conv(a, w, [-z * sum(w)], padding=z, to="i32")
//   r = quantize(relu(add(dequantize(y, s * t), b)), u)
//
// One rule for each operator says what it does to the integers, and what these then stand for. So
// dequantize moves behind one operator after the other, until quantize undoes it. It stays right
// behind sums, which are wide: what follows is computed on numbers, beside the sums.
//
// A product reads the narrow integers as they are. The zero point z of its data is the same in all
// summands, so it is taken out of the sum: weights are known, and so is what it adds up to. Then
// the padding holds z, which stands for 0. Data that a processor reads less well than others of 8
// bits become those, with another zero point. Convolutions get channels without weight where that
// fills instructions.
//
// Integers are added up exactly. Before, products were rounded: that can decide between two
// neighbours, so a quantised result may differ by one.
#include <algorithm>
#include <map>

#include "ops/op.h"
#include "passes/pass.h"
#include "passes/pass_quantised.h"
#include "passes/pass_rewrite.h"

namespace lathe::passes {
namespace {

/// Sums of narrow integers are wide.
const std::pair<const std::string, Attribute> to_sums{"to", std::string("i32")};

class IntegerRewrite {
 public:
  IntegerRewrite(const Graph& graph, const PassContext& context)
      : numbers_(graph), data_(context.data), terms_(context.terms) {}

  Graph run() {
    using Rule = void (IntegerRewrite::*)(size_t);
    const std::map<std::string, Rule> rules = {
        {"concat", &IntegerRewrite::join},         {"conv", &IntegerRewrite::multiply},
        {"expand", &IntegerRewrite::move},         {"fully_connected", &IntegerRewrite::multiply},
        {"global_pool", &IntegerRewrite::average}, {"identity", &IntegerRewrite::move},
        {"matmul", &IntegerRewrite::multiply},     {"max_pool", &IntegerRewrite::choose},
        {"pad", &IntegerRewrite::surround},        {"quantize", &IntegerRewrite::cancel},
        {"relu", &IntegerRewrite::bound},          {"reshape", &IntegerRewrite::move},
        {"slice", &IntegerRewrite::move},          {"take", &IntegerRewrite::move},
        {"transpose", &IntegerRewrite::turn}};
    numbers_.retype(data_);
    for (size_t n = 0; n < numbers_.graph().nodes.size(); ++n) {
      auto rule = rules.find(numbers_.graph().nodes[n].op);
      if (rule != rules.end()) (this->*rule->second)(n);
    }
    return numbers_.finish();
  }

 private:
  QuantisedGraph numbers_;
  Element data_;  // of 8 bits, that products read best
  long terms_;    // how many of them an instruction adds up

  /// Returns what a value stands for, if its integers are small.
  std::optional<QuantisedValue> small(ValueId id) const {
    auto x = numbers_.quantised(id);
    return x && numbers_.is_small(*x) ? x : std::nullopt;
  }

  /// The operator does to the integers what it does to the numbers that they stand for.
  void apply(size_t n, QuantisedValue x) {
    const Node& node = numbers_.node(n);
    x.integers = numbers_.folded(n, node.op, {x.integers}, node.attributes);
    numbers_.become(n, x);
  }

  /// Integers move as the numbers do, if it does not matter where they are.
  void move(size_t n) {
    auto x = small(numbers_.node(n).inputs[0]);
    if (x && numbers_.is_uniform(*x)) apply(n, *x);
  }

  /// What is around numbers is 0, for which the zero point stands.
  void surround(size_t n) {
    const Node node = numbers_.node(n);
    auto x = small(node.inputs[0]);
    auto zero = x ? numbers_.zero_of(*x) : std::nullopt;
    if (!zero || !numbers_.is_uniform(*x)) return;
    if (call_of(numbers_.graph(), node).real("value") != 0) return;
    Attributes attributes = node.attributes;
    attributes["value"] = static_cast<double>(*zero);
    x->integers = numbers_.call(n, "pad", {x->integers}, attributes);
    numbers_.become(n, *x);
  }

  /// The same, and scales of channels move with these.
  void turn(size_t n) {
    auto x = small(numbers_.node(n).inputs[0]);
    if (!x) return;
    if (!numbers_.is_uniform(*x)) {
      x->scale = turned(n, x->scale);
      if (x->zero != no_value) x->zero = turned(n, x->zero);
    }
    apply(n, *x);
  }

  ValueId turned(size_t n, ValueId id) {
    const Node node = numbers_.node(n);
    Shape shape = numbers_.shape(id);
    if (shape.empty()) return id;
    shape.insert(shape.begin(), numbers_.shape(node.inputs[0]).size() - shape.size(), 1);
    ValueId whole = numbers_.folded(n, "reshape", {id}, {{"shape", shape}});
    return numbers_.folded(n, "transpose", {whole}, node.attributes);
  }

  /// The greatest integer of a channel stands for its greatest number.
  void choose(size_t n) {
    auto x = small(numbers_.node(n).inputs[0]);
    if (x && numbers_.is_by_channel(*x) && numbers_.is_rising(*x)) apply(n, *x);
  }

  /// What is below the zero point stands for a number below 0.
  void bound(size_t n) {
    auto x = small(numbers_.node(n).inputs[0]);
    if (!x || !numbers_.is_rising(*x)) return;
    if (x->zero == no_value) return apply(n, *x);
    x->integers = numbers_.call(n, "maximum", {x->integers, x->zero});
    numbers_.become(n, *x);
  }

  /// Operands that stand for numbers in the same way are one list of integers.
  void join(size_t n) {
    const Node& node = numbers_.node(n);
    auto first = small(node.inputs[0]);
    if (!first || !numbers_.is_uniform(*first)) return;
    std::vector<ValueId> integers;
    for (ValueId id : node.inputs) {
      auto x = numbers_.quantised(id);
      if (!x || !numbers_.mean_the_same(*x, *first)) return;
      integers.push_back(x->integers);
    }
    first->integers = numbers_.call(n, "concat", integers, node.attributes);
    numbers_.become(n, *first);
  }

  /// The mean is the sum, of a scale that is so much smaller.
  void average(size_t n) {
    const Node node = numbers_.node(n);
    auto x = small(node.inputs[0]);
    auto zero = x ? numbers_.zero_of(*x) : std::nullopt;
    if (!zero || !numbers_.is_by_channel(*x)) return;
    const Shape shape = numbers_.shape(node.inputs[0]);
    Shape axes;
    for (size_t d = 2; d < shape.size(); ++d) axes.push_back(static_cast<long>(d));
    long count = count_of(Shape(shape.begin() + 2, shape.end()));
    if (!numbers_.can_add(count, 1)) return;
    ValueId sum = numbers_.call(n, "reduce_sum", {x->integers}, {{"axes", axes}, to_sums});
    ValueId number = numbers_.known("count", single(static_cast<double>(count)));
    ValueId scale = numbers_.folded(n, "div", {x->scale, number});
    ValueId zeros = *zero == 0 ? no_value : numbers_.known("zeros", integers({}, {*zero * count}));
    numbers_.become(n, {sum, scale, zeros});
  }

  /// Sums of products have the product of both scales. So has a bias, or it is added to the
  /// numbers.
  void multiply(size_t n) {
    const Node node = numbers_.node(n);
    auto x = small(node.inputs[0]), w = small(node.inputs[1]);
    if (!x || !w || !numbers_.is_uniform(*x)) return;
    auto own = numbers_.scale_of_outputs(n, *w);
    if (!own || !numbers_.can_add(summands(node), 2)) return;
    ValueId scale = numbers_.folded(n, "mul", {x->scale, *own});
    ValueId bias = node.inputs.size() > 2 ? node.inputs[2] : no_value, summand = no_value;
    if (auto b = numbers_.quantised(bias); b && numbers_.is_bias(*b, *x, *w)) {
      summand = b->integers;
      bias = no_value;
    }
    QuantisedValue y = sums(n, *x, *w, summand);
    y.scale = scale;
    if (bias == no_value) {
      numbers_.become(n, y);
    } else {
      numbers_.become_biased(n, y, bias);
    }
  }

  /// Returns the sums of products of narrow integers, where the zero points allow it.
  QuantisedValue sums(size_t n, QuantisedValue x, const QuantisedValue& w, ValueId bias) {
    const Node node = numbers_.node(n);
    auto weights = numbers_.narrow(n, w);
    auto zero = numbers_.zero_of(x);
    if (!weights || !zero) return wide_sums(n, x, w, bias);
    bool can_take_out = is_one_matrix(n) && numbers_.is_known(*weights) &&
                        (bias == no_value || numbers_.is_known(bias));
    if (*zero != 0 && !can_take_out) return wide_sums(n, x, w, bias);
    bool is_signed = numbers_.element(*weights) == Element::i8;
    if (can_take_out && is_signed && numbers_.element(x.integers) != data_) {
      x = numbers_.retyped(n, x, data_);
      zero = numbers_.zero_of(x);
    }
    Attributes attributes = node.attributes;
    attributes.insert(to_sums);
    if (*zero != 0 && is_padded(node)) attributes["padding"] = static_cast<double>(*zero);
    std::vector<ValueId> operands{x.integers, *weights};
    ValueId out_of_sums = no_value;
    if (*zero != 0) {
      ValueId part = taken_out(n, *weights, *zero, bias);
      (node.op == "matmul" ? out_of_sums : bias) = part;
    }
    if (bias != no_value) operands.push_back(bias);
    if (can_take_out && is_signed) add_channels(n, operands);
    return {numbers_.call(n, node.op, operands, attributes), no_value, out_of_sums};
  }

  /// Gives data and weights of a convolution channels without weight, so that an instruction finds
  /// as many as it adds up. The first layer has three channels.
  void add_channels(size_t n, std::vector<ValueId>& operands) {
    if (numbers_.node(n).op != "conv") return;
    long channels = numbers_.shape(operands[0])[1];
    long more = (terms_ - channels % terms_) % terms_;
    if (more == 0 || numbers_.shape(operands[1])[1] != channels) return;
    auto with_more = [&](ValueId id) {
      size_t rank = numbers_.shape(id).size();
      Shape pads(2 * rank, 0);
      pads[rank + 1] = more;
      return numbers_.folded(n, "pad", {id}, {{"pads", pads}});
    };
    for (size_t i : {0, 1}) operands[i] = with_more(operands[i]);
  }

  /// Returns sums of 16-bit integers, which take more time and memory.
  QuantisedValue wide_sums(size_t n, const QuantisedValue& x, const QuantisedValue& w,
                           ValueId bias) {
    const Node node = numbers_.node(n);
    std::vector<ValueId> operands{numbers_.centred(n, x), numbers_.centred(n, w)};
    if (bias != no_value) operands.push_back(bias);
    Attributes attributes = node.attributes;
    attributes.insert(to_sums);
    return {numbers_.call(n, node.op, operands, attributes), no_value, no_value};
  }

  /// Returns the bias of each filter less what its weights make of the zero point. Of a matrix,
  /// which has no bias, only the latter.
  ValueId taken_out(size_t n, ValueId weights, long zero, ValueId bias) {
    const Array& data = *numbers_.graph().values[weights].data;
    std::vector<long> numbers = data.integers();
    if (numbers_.node(n).op == "matmul") {
      long rows = data.rank() == 2 ? -2 : -1;
      ValueId sum = numbers_.folded(n, "reduce_sum", {weights},
                                    {{"axes", Shape{rows}}, {"keep", 0L}, to_sums});
      return numbers_.folded(n, "mul", {sum, numbers_.known("zero", integers({}, {zero}))});
    }
    auto filters = static_cast<size_t>(data.shape()[0]), each = numbers.size() / filters;
    std::vector<long> result(filters, 0);
    if (bias != no_value) result = numbers_.graph().values[bias].data->integers();
    for (size_t i = 0; i < numbers.size(); ++i) result[i / each] -= zero * numbers[i];
    return numbers_.known(numbers_.node(n).name + ".bias",
                          integers({static_cast<long>(filters)}, result));
  }

  static Array single(double number) {
    return Array::of_reals(Element::f32, {}, std::vector<double>{number});
  }
  static Array integers(const Shape& shape, const std::vector<long>& numbers) {
    return Array::of_integers(Element::i32, shape, numbers);
  }

  /// Do all samples see the same weights?
  bool is_one_matrix(size_t n) const {
    const Node& node = numbers_.node(n);
    return node.op != "matmul" || numbers_.shape(node.inputs[1]).size() <= 2;
  }

  bool is_padded(const Node& node) const {
    auto pads = node.attributes.find("pads");
    if (pads == node.attributes.end()) return false;
    const Shape& list = std::get<Shape>(pads->second);
    return std::any_of(list.begin(), list.end(), [](long pad) { return pad != 0; });
  }

  /// Returns how many products each output is the sum of.
  long summands(const Node& node) const {
    const Shape& weights = numbers_.shape(node.inputs[1]);
    if (node.op == "matmul") return numbers_.shape(node.inputs[0]).back();
    return count_of(weights) / weights[0];
  }

  /// Integers that are made of integers in the same way are those.
  void cancel(size_t n) {
    const Node& node = numbers_.node(n);
    if (node.inputs.size() < 2 || node.inputs[1] == no_value) return;
    auto x = numbers_.quantised(node.inputs[0]);
    if (!x || numbers_.element(x->integers) != numbers_.element(node.outputs[0])) return;
    ValueId zero = node.inputs.size() > 2 ? node.inputs[2] : no_value;
    if (numbers_.mean_the_same(*x, {x->integers, node.inputs[1], zero})) {
      numbers_.become_copy(n, x->integers);
    }
  }
};

Graph run_fake_quantization_to_integer(const Graph& graph, const PassContext& context) {
  return IntegerRewrite(graph, context).run();
}

}  // namespace

Pass fake_quantization_to_integer() {
  return {.name = "FakeQuantizationToInteger",
          .summary =
              "compute on integers, not on the numbers that they stand for; exact but for "
              "one unit where a result is rounded",
          .run = run_fake_quantization_to_integer,
          .tolerance = 0.008};  // one unit of 127
}

}  // namespace lathe::passes
