// Smaller versions of units: the same operator and layouts, on fewer channels and positions. They
// are small enough for the interpreter, which says what a candidate must compute.
#pragma once

#include "compile/units.h"

namespace lathe {

/// Returns a smaller unit that computes at most so many products; nothing if the unit cannot be
/// made smaller.
std::optional<Unit> reduced(const Unit& unit, long products = 1500000);

/// What comparing a unit with the interpreter came to.
struct UnitComparison {
  std::string wrong;      ///< what is wrong; "" if nothing is
  std::string unchecked;  ///< why nothing could be compared; "" if something was
};

/// Compiles a unit as a choice says, and compares what it computes with the interpreter: all
/// elements, on small integers. This is for small units.
UnitComparison compare_with_interpreter(const Unit& unit, const Choice& choice,
                                        const Target& target);

/// Compares some elements of a unit of any size, on random data.
UnitComparison compare_some(const Unit& unit, const Choice& choice, const Target& target);

/// Compares the reduced unit with the interpreter. If there is none, it compares some elements of
/// the unit itself.
UnitComparison compare_any_size(const Unit& unit, const Choice& choice, const Target& target);

/// Says where two tensors of floats differ by more than rounding; "" if they do not.
std::string difference(const float* is, const float* must, size_t count);

}  // namespace lathe
