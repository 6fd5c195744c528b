// Numbers as the interpreters compute with them: read from the text form, which has doubles, and
// compared. Shared by expr.cpp, interpret.cpp and interpret_elements.cpp.
#pragma once

#include <cmath>
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

/// Return the larger or the smaller of two values; what is no number, if one of them is that.
template <class T>
T larger(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(b)) return b;
  }
  return a < b ? b : a;
}
template <class T>
T smaller(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(b)) return b;
  }
  return b < a ? b : a;
}

}  // namespace lathe
