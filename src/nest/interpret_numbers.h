// How the interpreters read the numbers of the text form, which are doubles, as what they compute
// with. Shared by interpret.cpp and interpret_elements.cpp.
#pragma once

#include <limits>
#include <type_traits>

namespace lathe {

/// Returns the number below all others: where maxima start.
template <class T>
T lowest() {
  if constexpr (std::numeric_limits<T>::has_infinity) return -std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::lowest();
}

/// Converts a number of the text form. As an integer, an infinity is the outermost number.
template <class T>
T from_double(double value) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (value == -infinity) return lowest<T>();
  if (std::is_integral_v<T> && value == infinity) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

}  // namespace lathe
