// Short convolutions with few products: the matrices of Toom and Cook.
//
//   outputs = A ((G window) * (B inputs)),   element by element in the middle
//
// m outputs of a window of r elements need m + r - 1 products instead of m*r. They are the values
// of two polynomials at m + r - 2 points and their leading coefficients. (S. Winograd, "Arithmetic
// complexity of computations", 1980; A. Lavin and S. Gray, "Fast algorithms for convolutional
// neural networks", 2016.)
#pragma once

#include <cstddef>
#include <vector>

#include "base/element.h"

namespace lathe {

struct ToomMatrix {
  long rows, columns;
  std::vector<double> values;  ///< row-major

  double at(long row, long column) const {
    return values[static_cast<size_t>(row * columns + column)];
  }
};

struct Toom {
  long outputs, window;  ///< m and r
  ToomMatrix A;          ///< m x (m + r - 1)
  ToomMatrix B;          ///< (m + r - 1) x (m + r - 1), of integers and quarters
  ToomMatrix G;          ///< (m + r - 1) x r
  /// G has fractions that no double holds; times this they are integers.
  double scale_of_G;

  long products() const { return outputs + window - 1; }
};

/// Returns by how much rounding to a type changes a number at most, relatively; 0: not at all.
double unit_of(Element element);

/// Returns whether points are known for so many outputs of such a window.
bool has_toom(long outputs, long window);

/// Returns the matrices; has_toom() must hold.
Toom toom(long outputs, long window);

/// Factors of products that are narrower than all else, as are their sums over some channels.
struct NarrowFactors {
  double unit = 0;       ///< by which rounding changes them, relatively; 0: they are not narrower
  long most_in_sum = 0;  ///< channels that are added up before the sum is as wide as all else
  double inputs = 0;     ///< by which rounding changes inputs while they are transformed
};

/// Returns the largest error to expect of an output that is a sum of "channels" windows in two
/// dimensions, as a multiple of the outputs' root mean square. Rounding changes numbers by "unit",
/// relatively. Inputs, weights and roundings are taken to be independent; the error is eight
/// standard deviations.
double expected_error(const Toom& rows, const Toom& columns, long channels, double unit,
                      const NarrowFactors& narrow = {});

/// Returns the same for the sum of all products, one after the other.
double expected_error_of_sum(long products, double unit);

/// Returns the same where so many roundings change a sum of products, each by "unit" at most. Sums
/// of few products are far from their mean more often.
double expected_error_of_roundings(long roundings, long products, double unit);

/// Returns the same where both factors of products become integers of at most "largest". So many of
/// the first factors share a scale, and so many of the second: the more, the larger is the greatest
/// of them, which becomes "largest".
double expected_error_of_integers(long largest, long products, long first, long second);

}  // namespace lathe
