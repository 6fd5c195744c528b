// Smaller versions of units: the same operator and layouts on fewer channels and positions, so that
// the interpreter can say what a candidate must compute.
#pragma once

#include "compile/units.h"

namespace lathe {

/// Returns a smaller unit, of at most so many products; nothing if the call cannot be cut down.
std::optional<Unit> reduced(const Unit& unit, long products = 1500000);

/// Compares what a unit's code for a choice computes with the interpreter, on small integers.
/// Returns what is wrong; "" if nothing is, or if the unit cannot be scheduled so, or has elements
/// that are no f32.
std::string compare_with_interpreter(const Unit& unit, const Choice& choice, const Target& target);

/// Says where two tensors of floats differ by more than rounding; "" if they do not.
std::string difference(const float* is, const float* must, size_t count);

}  // namespace lathe
