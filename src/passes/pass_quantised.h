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
  /// Is the value known when no input is?
  bool is_known(ValueId id) const { return graph().values[id].data.has_value(); }
  /// Returns the zero point, if it is one number that is known.
  std::optional<long> zero_of(const QuantisedValue& x) const;
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
  /// The same, which is computed at once where all is known.
  ValueId folded(size_t n, const std::string& op, const std::vector<ValueId>& inputs,
                 const Attributes& attributes = {});
  /// Returns 8-bit integers less their zero point, which take 16 bits.
  ValueId centred(size_t n, const QuantisedValue& x);
  /// Returns integers less their zero point that are no wider than they have to be, if there is
  /// none or all is known.
  std::optional<ValueId> narrow(size_t n, const QuantisedValue& x);
  /// Adds something that is known.
  ValueId known(const std::string& name, const Array& data);
  /// Makes 8-bit integers of the type "to" stand for the same numbers, everywhere where that costs
  /// nothing: those that a node "quantize" makes, and constants, if all users look at what they
  /// stand for.
  void retype(Element to);
  /// Returns what stands for the same number with integers of the type "to".
  QuantisedValue retyped(size_t n, const QuantisedValue& x, Element to);

  /// Makes the node say what integers stand for, that plus a bias of each channel, or copy.
  void become(size_t n, const QuantisedValue& x);
  void become_biased(size_t n, const QuantisedValue& x, ValueId bias);
  void become_copy(size_t n, ValueId from);

  /// Returns the shape of a number for each channel that broadcasts to the outputs of n.
  Shape per_channel(size_t n, ValueId id) const;

  Graph finish() const { return rewrite_.finish(); }

 private:
  Rewrite rewrite_;
  Context context_;

  bool can_be_retyped(ValueId id) const;
  ValueId moved_zero(ValueId zero, Element from, Element to);
};

}  // namespace lathe::passes
