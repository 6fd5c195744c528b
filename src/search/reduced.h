// Smaller versions of units: the same operator and layouts on fewer channels and positions, so that
// the interpreter can say what a candidate must compute.
#pragma once

#include "compile/units.h"

namespace lathe {

/// Returns a smaller unit, of at most so many products; nothing if the call cannot be cut down.
std::optional<Unit> reduced(const Unit& unit, long products = 1500000);

/// What comparing a unit with the interpreter came to.
struct UnitComparison {
  std::string wrong;      ///< what is wrong; "" if nothing is
  std::string unchecked;  ///< why nothing could be compared; "" if it was
};

/// Compares what a unit's code for a choice computes with the interpreter, on small integers and in
/// all elements: for small units.
UnitComparison compare_with_interpreter(const Unit& unit, const Choice& choice,
                                        const Target& target);

/// The same for a unit of any size: reduced where that can be, otherwise on random data and in some
/// elements.
UnitComparison compare_any_size(const Unit& unit, const Choice& choice, const Target& target);

/// Says where two tensors of floats differ by more than rounding; "" if they do not.
std::string difference(const float* is, const float* must, size_t count);

}  // namespace lathe
