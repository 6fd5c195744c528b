// Some elements of a unit's outputs, at full size: what the interpreter says that they are, and
// whether compiled code agrees.
//
//   SampledOutputs must(unit, given);           where its inputs lie; nothing is copied
//   ... the unit runs ...
//   std::string wrong = must.difference(computed, error);
//
// Corners and edges are among the elements: that is where padding and the rests of tiles are.
#pragma once

#include "compile/units.h"

namespace lathe {

/// Where the tensors of a unit's nest lie, in the nest's order; null for a tensor without a place.
using TensorAddresses = std::vector<const std::byte*>;

/// Returns the row-major numbers of "count" elements of a shape, or of all if it has no more.
/// Corners come first, then as many elements on edges as inside. The same seed gives the same
/// elements.
std::vector<long> sampled_elements(const Shape& shape, size_t count, uint64_t seed);

/// Returns the largest error that an algebraic step of a recipe states, as a multiple of the root
/// mean square of the outputs; 0 if the recipe has no such step. The recipe is that of the unit's
/// code.
double algebraic_error(const Unit& unit, const std::string& recipe);

class SampledOutputs {
 public:
  /// How many elements of each output are compared.
  static constexpr size_t elements = 96;

  /// Interprets the unit on what its inputs hold now.
  SampledOutputs(const Unit& unit, const TensorAddresses& given);

  /// Says why nothing can be compared; "" if it can.
  const std::string& unchecked() const { return unchecked_; }

  /// Says where the outputs differ by more than rounding and algebraic steps explain; "" if they do
  /// not. "error" is that of the steps, as algebraic_error() returns it.
  std::string difference(const TensorAddresses& computed, double error) const;

 private:
  /// An element, what it must be, and how far rounding may move it.
  struct Sample {
    long number;
    double value, error;
    long integer;  ///< the value, where the unit computes with integers
  };
  struct Output {
    size_t tensor;
    Tensor what;
    Layout layout;
    std::vector<Sample> samples;
  };
  std::vector<Output> outputs_;
  bool integral_ = false;
  std::string unchecked_;

  template <class T>
  void interpret(const Unit& unit, const UnitNest& nest, const TensorAddresses& given);
  std::string difference(const Output& output, const std::byte* at, double error) const;
};

}  // namespace lathe
