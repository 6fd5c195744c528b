// to_mixed_precision.cpp: layers read and write numbers of half the size, and add them up as
// before.
//
//   y = conv(x, w, b)                 y = conv(x.half, w.half, b, to="f32")
//   z = relu(add(y, r))       =>      z.half = cast(relu(add(y, cast(r.half))), to="f16")
//   v = conv(z, u)                    v = conv(z.half, u.half, to="f32")
//
// Three kinds of operators: products always read halves; what loses nothing by it follows if all
// that it reads is there as halves already; all others never do. Results are rounded where they are
// stored: the one element-wise user of a value is computed along with it, on f32. f16 ends at
// 65504: larger numbers become infinite.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ops/op.h"
#include "ops/op_fused.h"
#include "passes/pass.h"
#include "passes/pass_mixed.h"
#include "passes/pass_rewrite.h"

namespace lathe::passes {
namespace {

/// Sums of products, which dominate the time and read most of the data.
const std::set<std::string> products = {"conv", "fully_connected", "matmul"};

/// What moves elements, chooses among them, or does little to each.
const std::set<std::string> follow = {
    "add",        "clip",    "concat",   "expand",  "global_pool", "hard_swish", "identity",
    "leaky_relu", "maximum", "max_pool", "minimum", "mul",         "neg",        "pad",
    "relu",       "reshape", "slice",    "take",    "transpose",   "upsample",
};

class HalfRewrite {
 public:
  HalfRewrite(const Graph& graph, const MixedPrecision& options)
      : rewrite_(graph),
        options_(options),
        readers_(consumers(graph)),
        narrow_(graph.values.size()) {
    for (const Node& node : graph.nodes) narrow_[node.outputs[0]] = is_narrow(node);
  }

  Graph run() {
    for (size_t n = 0; n < rewrite_.graph.nodes.size(); ++n) {
      const Node node = rewrite_.graph.nodes[n];
      if (node.op == "cast") {
        meet_cast(n);
      } else if (node.outputs.size() == 1 && narrow_[node.outputs[0]]) {
        narrow(n);
      }
    }
    return rewrite_.finish();
  }

 private:
  Rewrite rewrite_;
  const MixedPrecision& options_;
  std::vector<std::vector<size_t>> readers_;  // of the values of the first graph
  std::vector<bool> narrow_;                  // is it computed of halves?
  std::map<ValueId, ValueId> halves_;         // of values that are stored as halves

  const Value& value(ValueId id) const { return rewrite_.graph.values[id]; }
  const Type& type(ValueId id) const { return value(id).type; }
  bool is_single(ValueId id) const {
    return id != no_value && type(id).element == Element::f32 && !type(id).dynamic;
  }
  bool is_elementwise(const Node& node) const {
    return ops::is_elementwise(call_of(rewrite_.graph, node));
  }

  /// Can a value be stored as halves?
  bool can_be_half(ValueId id) const {
    return is_single(id) && !options_.wide.contains(value(id).name) &&
           fits(value(id), options_.half);
  }

  /// Is the node's result computed of halves?
  bool is_narrow(const Node& node) const {
    if (node.outputs.size() != 1 || !can_be_half(node.outputs[0])) return false;
    if (node.op == "cast") return type(node.inputs[0]).element == options_.half;
    if (products.contains(node.op)) {
      bool is_chosen = !options_.which || options_.which(node);
      return is_chosen && can_be_half(node.inputs[0]) && can_be_half(node.inputs[1]);
    }
    auto is_half = [&](ValueId id) { return id != no_value && narrow_[id]; };
    auto is_there = [&](ValueId id) {
      return is_half(id) ||
             (id != no_value && can_be_half(id) && is_known_before(rewrite_.graph, id));
    };
    return follow.contains(node.op) &&
           std::any_of(node.inputs.begin(), node.inputs.end(), is_half) &&
           std::all_of(node.inputs.begin(), node.inputs.end(), is_there);
  }

  /// Remembers what a cast in the graph says: its result was a half before. One that makes a half
  /// again of what was has nothing to do.
  void meet_cast(size_t n) {
    const Node node = rewrite_.graph.nodes[n];
    ValueId from = node.inputs[0], to = node.outputs[0];
    if (is_single(to) && type(from).element == options_.half) halves_[to] = from;
    if (type(to).element == options_.half && halves_.contains(from)) {
      rewrite_.become(n, "identity", {halves_.at(from)});
    }
  }

  void narrow(size_t n) {
    const Node node = rewrite_.graph.nodes[n];
    if (products.contains(node.op)) {
      multiply_halves(n);
    } else if (node.op == "global_pool") {
      average_halves(n);
    } else if (is_elementwise(node)) {
      compute(n, node.op, node.inputs, node.attributes);
    } else {
      move_halves(n);
    }
  }

  Attributes to_half() const { return {{"to", std::string(name_of(options_.half))}}; }

  /// Returns a value as halves.
  ValueId half_of(size_t n, ValueId id) {
    auto [found, is_new] = halves_.emplace(id, no_value);
    if (!is_new) return found->second;
    const Value whole = value(id);
    if (whole.data) {
      Array data = whole.data->with_element(options_.half);
      return found->second = rewrite_.add(
                 {whole.name + ".half", whole.kind, {options_.half, whole.type.shape}, data});
    }
    return found->second = rewrite_.call_before(n, "cast", {id}, to_half(), whole.name + ".half");
  }

  /// Is a result not stored: because one node computes on with it at once, or nobody reads it here?
  bool stays_in_kernel(ValueId id) const {
    if (rewrite_.is_output(id) || readers_[id].empty()) return readers_[id].empty();
    if (readers_[id].size() != 1) return false;
    const Node& reader = rewrite_.graph.nodes[readers_[id][0]];
    return reader.outputs.size() == 1 && narrow_[reader.outputs[0]] && is_elementwise(reader) &&
           type(reader.outputs[0]).shape == type(id).shape;
  }

  /// Makes a node compute its result of other operands, and round it if it is stored.
  void compute(size_t n, const std::string& op, const std::vector<ValueId>& inputs,
               const Attributes& attributes) {
    const Node node = rewrite_.graph.nodes[n];
    if (stays_in_kernel(node.outputs[0])) {
      rewrite_.become(n, op, inputs, attributes);
      return;
    }
    const std::string name = value(node.outputs[0]).name;
    ValueId whole = rewrite_.call_before(n, op, inputs, attributes, name + ".single");
    become_copy_of(n, rewrite_.call_before(n, "cast", {whole}, to_half(), name + ".half"));
  }

  /// Makes a node hand on a half that was computed before it.
  void become_copy_of(size_t n, ValueId half) {
    halves_[rewrite_.graph.nodes[n].outputs[0]] = half;
    rewrite_.become(n, "cast", {half});
  }

  /// Both factors are halves. The bias is one of the summands.
  void multiply_halves(size_t n) {
    const Node node = rewrite_.graph.nodes[n];
    std::vector<ValueId> inputs = node.inputs;
    for (size_t i : {0, 1}) inputs[i] = half_of(n, inputs[i]);
    Attributes attributes = node.attributes;
    attributes["to"] = std::string("f32");
    compute(n, node.op, inputs, attributes);
  }

  /// The mean is a sum of halves, which is f32, by their number.
  void average_halves(size_t n) {
    const Node node = rewrite_.graph.nodes[n];
    const Shape shape = type(node.inputs[0]).shape;
    Shape axes;
    for (size_t d = 2; d < shape.size(); ++d) axes.push_back(static_cast<long>(d));
    double count = static_cast<double>(count_of(Shape(shape.begin() + 2, shape.end())));
    Array part = Array::of_reals(Element::f32, {}, std::vector<double>{1 / count});
    ValueId factor = rewrite_.add({"part", Value::Kind::constant, {Element::f32, {}}, part});
    ValueId sums = rewrite_.call_before(n, "reduce_sum", {half_of(n, node.inputs[0])},
                                        {{"axes", axes}, {"to", std::string("f32")}},
                                        value(node.outputs[0]).name + ".sums");
    compute(n, "mul", {sums, factor}, {});
  }

  /// Elements that go elsewhere are halves there, too.
  void move_halves(size_t n) {
    const Node node = rewrite_.graph.nodes[n];
    std::vector<ValueId> inputs;
    for (ValueId id : node.inputs) inputs.push_back(half_of(n, id));
    become_copy_of(n, rewrite_.call_before(n, node.op, inputs, node.attributes,
                                           value(node.outputs[0]).name + ".half"));
  }
};

Graph run_to_mixed_precision(const Graph& graph, const PassContext& /*context*/) {
  return with_mixed_precision(graph, {});
}

}  // namespace

double largest_of(Element half) { return half == Element::f16 ? 65504 : 3.38e38; }

bool fits(const Value& value, Element half) {
  if (!value.data) return true;
  std::vector<double> numbers = value.data->reals();
  double largest = largest_of(half);
  return std::all_of(numbers.begin(), numbers.end(),
                     [&](double x) { return std::abs(x) <= largest; });
}

Graph with_mixed_precision(const Graph& graph, const MixedPrecision& options) {
  return HalfRewrite(graph, options).run();
}

Pass to_mixed_precision() {
  return {.name = "ToMixedPrecision",
          .summary = "keep what layers read and write as f16; sums stay f32",
          .run = run_to_mixed_precision,
          .tolerance = 2e-3};
}

}  // namespace lathe::passes
