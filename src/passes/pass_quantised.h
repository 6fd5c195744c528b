// Values that stand for numbers:  number = (integer - zero) * scale.  What passes ask of them, and
// how they make others.
#pragma once

#include "passes/pass_rewrite.h"
#include "poly/isl.h"

namespace lathe::passes {

/// A value that a node "dequantize" makes, taken apart.
struct QuantisedValue {
  ValueId integers, scale;
  ValueId zero;  ///< no_value: 0
};

/// A graph in which nodes that compute numbers become ones that compute integers. Nodes keep their
/// places; n is always the node that is rewritten.
class QuantisedGraph {
 public:
  explicit QuantisedGraph(const Graph& graph) : rewrite_(graph) {}

  const Graph& graph() const { return rewrite_.graph; }
  const Node& node(size_t n) const { return rewrite_.graph.nodes[n]; }
  const Shape& shape(ValueId id) const { return rewrite_.graph.values[id].type.shape; }
  Element element(ValueId id) const { return rewrite_.graph.values[id].type.element; }

  /// Returns what a value stands for, if it is an f32 that was made of integers.
  std::optional<QuantisedValue> quantised(ValueId id) const;
  /// Do all elements have one scale and one zero point?
  bool is_uniform(const QuantisedValue& x) const;
  /// Do all elements of a channel have one scale and one zero point?
  bool is_by_channel(const QuantisedValue& x) const;
  /// Is the scale known to be above 0, so that larger integers stand for larger numbers?
  bool is_rising(const QuantisedValue& x) const;
  /// Are the integers of at most 8 bits, so that sums of their products are far from overflowing?
  bool is_small(const QuantisedValue& x) const;
  /// Do so many products of so many small integers fit 32 bits, and a bias besides?
  bool can_add(long count, int factors) const;
  /// Are two operands the same, or known to be equal?
  bool is_same(ValueId a, ValueId b) const;
  /// Do equal integers stand for equal numbers?
  bool mean_the_same(const QuantisedValue& a, const QuantisedValue& b) const;
  /// Is the bias of a layer made of 32-bit integers that have the scale of its products, as far as
  /// an f32 can tell?
  bool is_bias(const QuantisedValue& bias, const QuantisedValue& x,
               const QuantisedValue& weights) const;
  /// Returns the scale of a product's second operand as one of its outputs: one number, or one for
  /// each channel. None if it is another.
  std::optional<ValueId> scale_of_outputs(size_t n, const QuantisedValue& weights);

  /// Adds a node right before n.
  ValueId call(size_t n, const std::string& op, const std::vector<ValueId>& inputs,
               const Attributes& attributes = {});
  /// The same of a scale, which is computed at once where all is known.
  ValueId scale(size_t n, const std::string& op, const std::vector<ValueId>& inputs,
                const Attributes& attributes = {});
  /// Returns 32-bit integers less their zero point.
  ValueId centred(size_t n, const QuantisedValue& x);
  /// Adds a number that is known.
  ValueId real(double number);

  /// Makes the node say what integers stand for, that plus a bias of each channel, or copy.
  void become(size_t n, const QuantisedValue& x);
  void become_biased(size_t n, const QuantisedValue& x, ValueId bias);
  void become_copy(size_t n, ValueId from);

  Graph finish() const { return rewrite_.finish(); }

 private:
  Rewrite rewrite_;
  Context context_;

  Shape per_channel(size_t n, ValueId id) const;
};

}  // namespace lathe::passes
