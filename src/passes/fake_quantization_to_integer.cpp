// fake_quantization_to_integer.cpp: computes on integers what is computed on the numbers that they
// stand for.
//
//   y = conv(dequantize(a, s), dequantize(w, t))     =>     y = relu(conv(a, w))
//   z = quantize(relu(y), u)                                z = quantize(dequantize(y, s * t), u)
//
// One rule for each operator says what it does to the integers, and what these then stand for. So
// dequantize moves behind one operator after the other, until quantize undoes it. Integers are
// added up exactly. Before, products were rounded: that can decide between two neighbours, so a
// quantised result may differ by one.
#include <map>

#include "ops/op.h"
#include "passes/pass.h"
#include "passes/pass_quantised.h"
#include "passes/pass_rewrite.h"

namespace lathe::passes {
namespace {

class IntegerRewrite {
 public:
  explicit IntegerRewrite(const Graph& graph) : numbers_(graph) {}

  Graph run() {
    using Rule = void (IntegerRewrite::*)(size_t);
    const std::map<std::string, Rule> rules = {{"add", &IntegerRewrite::add},
                                               {"concat", &IntegerRewrite::join},
                                               {"conv", &IntegerRewrite::multiply},
                                               {"expand", &IntegerRewrite::move},
                                               {"fully_connected", &IntegerRewrite::multiply},
                                               {"global_pool", &IntegerRewrite::average},
                                               {"identity", &IntegerRewrite::move},
                                               {"matmul", &IntegerRewrite::multiply},
                                               {"max_pool", &IntegerRewrite::choose},
                                               {"quantize", &IntegerRewrite::cancel},
                                               {"relu", &IntegerRewrite::bound},
                                               {"reshape", &IntegerRewrite::move},
                                               {"slice", &IntegerRewrite::move},
                                               {"take", &IntegerRewrite::move},
                                               {"transpose", &IntegerRewrite::move}};
    for (size_t n = 0; n < numbers_.graph().nodes.size(); ++n) {
      auto rule = rules.find(numbers_.graph().nodes[n].op);
      if (rule != rules.end()) (this->*rule->second)(n);
    }
    return numbers_.finish();
  }

 private:
  QuantisedGraph numbers_;

  /// The operator does to the integers what it does to the numbers that they stand for.
  void apply(size_t n, QuantisedValue x) {
    const Node& node = numbers_.node(n);
    x.integers = numbers_.call(n, node.op, {x.integers}, node.attributes);
    numbers_.become(n, x);
  }

  /// Integers move as the numbers do, if it does not matter where they are.
  void move(size_t n) {
    auto x = numbers_.quantised(numbers_.node(n).inputs[0]);
    if (x && numbers_.is_uniform(*x)) apply(n, *x);
  }

  /// The greatest integer of a channel stands for its greatest number.
  void choose(size_t n) {
    auto x = numbers_.quantised(numbers_.node(n).inputs[0]);
    if (x && numbers_.is_by_channel(*x) && numbers_.is_rising(*x)) apply(n, *x);
  }

  /// What is below the zero point stands for a number below 0.
  void bound(size_t n) {
    auto x = numbers_.quantised(numbers_.node(n).inputs[0]);
    if (!x || !numbers_.is_rising(*x)) return;
    if (x->zero == no_value) return apply(n, *x);
    x->integers = numbers_.call(n, "maximum", {x->integers, x->zero});
    numbers_.become(n, *x);
  }

  /// Operands that stand for numbers in the same way are one list of integers.
  void join(size_t n) {
    const Node& node = numbers_.node(n);
    auto first = numbers_.quantised(node.inputs[0]);
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

  /// Numbers of one scale are added as integers.
  void add(size_t n) {
    const Node& node = numbers_.node(n);
    auto a = numbers_.quantised(node.inputs[0]), b = numbers_.quantised(node.inputs[1]);
    if (!a || !b || !numbers_.is_uniform(*a) || !numbers_.is_same(a->scale, b->scale)) return;
    if (!numbers_.is_small(*a) || !numbers_.is_small(*b)) return;
    ValueId sum = numbers_.call(n, "add", {numbers_.centred(n, *a), numbers_.centred(n, *b)});
    numbers_.become(n, {sum, a->scale, no_value});
  }

  /// The mean is the sum, of a scale that is so much smaller.
  void average(size_t n) {
    const Node& node = numbers_.node(n);
    auto x = numbers_.quantised(node.inputs[0]);
    if (!x || !numbers_.is_by_channel(*x) || !numbers_.is_small(*x)) return;
    const Shape shape = numbers_.shape(node.inputs[0]);
    Shape axes;
    for (size_t d = 2; d < shape.size(); ++d) axes.push_back(static_cast<long>(d));
    long count = count_of(Shape(shape.begin() + 2, shape.end()));
    if (!numbers_.can_add(count, 1)) return;
    ValueId sum = numbers_.call(n, "reduce_sum", {numbers_.centred(n, *x)}, {{"axes", axes}});
    ValueId number = numbers_.real(static_cast<double>(count));
    ValueId scale = numbers_.scale(n, "div", {x->scale, number});
    numbers_.become(n, {sum, scale, no_value});
  }

  /// Sums of products have the product of both scales. So has a bias, or it is added to the
  /// numbers.
  void multiply(size_t n) {
    const Node node = numbers_.node(n);
    auto x = numbers_.quantised(node.inputs[0]), w = numbers_.quantised(node.inputs[1]);
    if (!x || !w || !numbers_.is_uniform(*x)) return;
    auto own = numbers_.scale_of_outputs(n, *w);
    if (!own || !numbers_.is_small(*x) || !numbers_.is_small(*w)) return;
    if (!numbers_.can_add(summands(node), 2)) return;
    std::vector<ValueId> integers{numbers_.centred(n, *x), numbers_.centred(n, *w)};
    ValueId bias = node.inputs.size() > 2 ? node.inputs[2] : no_value;
    if (auto b = numbers_.quantised(bias); b && numbers_.is_bias(*b, *x, *w)) {
      integers.push_back(b->integers);
      bias = no_value;
    }
    QuantisedValue y{numbers_.call(n, node.op, integers, node.attributes),
                     numbers_.scale(n, "mul", {x->scale, *own}), no_value};
    if (bias == no_value) {
      numbers_.become(n, y);
    } else {
      numbers_.become_biased(n, y, bias);
    }
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
    auto x = numbers_.quantised(node.inputs[0]);
    if (!x || numbers_.element(x->integers) != numbers_.element(node.outputs[0])) return;
    ValueId zero = node.inputs.size() > 2 ? node.inputs[2] : no_value;
    if (numbers_.mean_the_same(*x, {x->integers, node.inputs[1], zero})) {
      numbers_.become_copy(n, x->integers);
    }
  }
};

Graph run_fake_quantization_to_integer(const Graph& graph, const PassContext& /*context*/) {
  return IntegerRewrite(graph).run();
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
