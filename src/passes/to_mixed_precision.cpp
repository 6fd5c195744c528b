// to_mixed_precision.cpp: layers read and write numbers of half the size, and add them up as
// before.
//
//   y = conv(x, w)        =>        y.sums = conv(cast(cast(x, f16), f32), cast(cast(w, f16), f32))
//   z = relu(y)                     z = cast(relu(cast(y.sums, f16)), f32)
//
// Three kinds of operators: products always read f16; what loses nothing by it follows if all that
// it reads is there as f16 already; all others never do. Where both are at hand, each takes the one
// that it wants, so no cast undoes another. f16 ends at 65504: larger numbers become infinite.
#include <algorithm>
#include <map>
#include <set>

#include "ops/op.h"
#include "passes/pass.h"
#include "passes/pass_rewrite.h"

namespace lathe::passes {
namespace {

/// Sums of products, which dominate the time and read most of the data.
const std::set<std::string> always = {"conv", "conv_transpose", "fully_connected", "matmul"};

/// What moves elements, chooses among them, or does little to each.
const std::set<std::string> follow = {
    "add",      "clip",  "concat",  "expand",    "hard_swish", "identity", "leaky_relu",
    "max_pool", "mul",   "maximum", "minimum",   "neg",        "pad",      "relu",
    "reshape",  "slice", "take",    "transpose", "upsample",
};

class MixedPrecision {
 public:
  explicit MixedPrecision(const Graph& graph) : rewrite_(graph) {}

  Graph run() {
    for (size_t n = 0; n < rewrite_.graph.nodes.size(); ++n) {
      const Node node = rewrite_.graph.nodes[n];
      if (node.op == "cast") meet_cast(n);
      if (node.outputs.size() != 1 || !is_single(node.outputs[0])) continue;
      if (always.contains(node.op)) {
        multiply_halves(n);
      } else if (follow.contains(node.op) && can_follow(node)) {
        compute_halves(n);
      }
    }
    return rewrite_.finish();
  }

 private:
  Rewrite rewrite_;
  std::map<ValueId, ValueId> halves_;  // of values that have lost nothing by becoming f16
  std::map<ValueId, ValueId> copies_;  // values as they are after they were f16

  const Type& type(ValueId id) const { return rewrite_.graph.values[id].type; }
  bool is_single(ValueId id) const {
    return id != no_value && type(id).element == Element::f32 && !type(id).dynamic;
  }
  std::string name(ValueId id) const { return rewrite_.graph.values[id].name; }

  /// Remembers what a cast in the graph says: its result was f16 before. One that makes f16 again
  /// of what was has nothing to do.
  void meet_cast(size_t n) {
    const Node node = rewrite_.graph.nodes[n];
    ValueId from = node.inputs[0], to = node.outputs[0];
    if (is_single(to) && type(from).element == Element::f16) halves_[to] = from;
    if (type(to).element == Element::f16 && halves_.contains(from)) {
      rewrite_.become(n, "identity", {halves_.at(from)});
    }
  }

  ValueId to_half(size_t n, ValueId id, const std::string& suffix) {
    return rewrite_.call_before(n, "cast", {id}, {{"to", std::string("f16")}}, name(id) + suffix);
  }

  /// Returns a value that is rounded to f16, and f32 again.
  ValueId rounded(size_t n, ValueId id) {
    if (halves_.contains(id)) return id;
    auto [found, is_new] = copies_.emplace(id, no_value);
    if (!is_new) return found->second;
    ValueId half = to_half(n, id, ".half");
    ValueId copy = rewrite_.call_before(n, "cast", {half}, {}, name(id) + ".rounded");
    halves_[copy] = half;
    return found->second = copy;
  }

  /// Makes a node hand on a half that was computed before it.
  void become_copy_of(size_t n, ValueId half) {
    halves_[rewrite_.graph.nodes[n].outputs[0]] = half;
    rewrite_.become(n, "cast", {half});
  }

  /// Rounds both factors, and the sums when they are complete. The bias is one of the summands.
  void multiply_halves(size_t n) {
    const Node node = rewrite_.graph.nodes[n];
    std::vector<ValueId> inputs = node.inputs;
    if (!is_single(inputs[0]) || !is_single(inputs[1])) return;
    if (halves_.contains(inputs[0]) && halves_.contains(inputs[1])) return;
    for (size_t i : {0, 1}) inputs[i] = rounded(n, inputs[i]);
    ValueId sums =
        rewrite_.call_before(n, node.op, inputs, node.attributes, name(node.outputs[0]) + ".sums");
    become_copy_of(n, to_half(n, sums, ".half"));
  }

  /// Is all that the node reads there as f16, or known, of which at least one is computed?
  bool can_follow(const Node& node) const {
    auto is_half = [&](ValueId id) { return id != no_value && halves_.contains(id); };
    auto fits = [&](ValueId id) {
      return is_half(id) || (is_single(id) && is_known_before(rewrite_.graph, id));
    };
    return std::any_of(node.inputs.begin(), node.inputs.end(), is_half) &&
           std::all_of(node.inputs.begin(), node.inputs.end(), fits);
  }

  void compute_halves(size_t n) {
    const Node node = rewrite_.graph.nodes[n];
    std::vector<ValueId> inputs;
    for (ValueId id : node.inputs) inputs.push_back(halves_.at(rounded(n, id)));
    become_copy_of(n, rewrite_.call_before(n, node.op, inputs, node.attributes,
                                           name(node.outputs[0]) + ".half"));
  }
};

Graph run_to_mixed_precision(const Graph& graph, const PassContext& /*context*/) {
  return MixedPrecision(graph).run();
}

}  // namespace

Pass to_mixed_precision() {
  return {.name = "ToMixedPrecision",
          .summary = "keep what layers read and write as f16; sums stay f32",
          .run = run_to_mixed_precision,
          .tolerance = 2e-3};
}

}  // namespace lathe::passes
