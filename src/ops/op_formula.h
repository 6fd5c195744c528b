// Operators that treat each element alone: O[...] = f(A[...], B[...], ...), with broadcasting. Each
// is one line of the table in op_formula.cpp.
#pragma once

#include "ops/op.h"

namespace lathe {

/// An operator given by the value of one element.
struct Formula {
  std::string name;
  size_t operands;   ///< called x, y, z
  std::string text;  ///< "max(x, 0)"
  std::vector<std::pair<std::string, double>> settings = {};
  enum class Result { first, second, boolean } result = Result::first;  ///< element type
  enum class Operands { alike, mixed } types = Operands::alike;
  /// If not 0: in the text, t is x, but at most that far from 0, and s its square.
  double within = 0;
};

/// Returns the table.
const std::vector<Formula>& formulas();
/// Is there an operator of that name among them?
bool is_formula(std::string_view op);

/// Makes an operator of a formula.
Op op_of(const Formula& formula);

}  // namespace lathe
