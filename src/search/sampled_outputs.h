// A unit's outputs at full size, at some of their elements: what the interpreter says of them, and
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

/// Where the tensors of a unit's nest lie, in the nest's order; null for those that have no place.
using TensorAddresses = std::vector<const std::byte*>;

/// Returns the row-major numbers of so many elements of a shape, all if there are no more: corners
/// first, then as many on edges as inside. The same seed gives the same.
std::vector<long> sampled_elements(const Shape& shape, size_t count, uint64_t seed);

/// Returns the largest error that the algebraic steps of the recipe of a unit's code state, as a
/// multiple of the outputs' root mean square; 0 if it has none.
double algebraic_error(const Unit& unit, const std::string& recipe);

class SampledOutputs {
 public:
  /// Elements of each output that are compared.
  static constexpr size_t elements = 96;

  /// Interprets what the unit must compute from what is there now.
  SampledOutputs(const Unit& unit, const TensorAddresses& given);

  /// Says why nothing can be compared; "" if it can.
  const std::string& unchecked() const { return unchecked_; }

  /// Says where the outputs differ by more than rounding and the error of algebraic steps, a
  /// multiple of the outputs' root mean square; "" if they do not.
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
