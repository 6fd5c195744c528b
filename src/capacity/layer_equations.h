// What samples say of a layer: its outputs as functions of what it reads.
//
//   Regression regression = *regression_of(nest);
//   equations_of(regression, tensor, inputs, outputs, {})        one for each block
#pragma once

#include "base/array.h"
#include "base/normal_equations.h"
#include "program/regression.h"

namespace lathe {

struct EquationOptions {
  long observations = 6;      ///< at most so many for each regressor, drawn among all positions
  bool has_constant = false;  ///< is the number 1 the last regressor?
  int threads = 1;
};

/// Returns the equations of each block of a layer. Inputs and outputs are its own, minibatch by
/// minibatch; "input" is the tensor of the nest that reads the former.
std::vector<NormalEquations> equations_of(const Regression& regression, const Tensor& input,
                                          const std::vector<Array>& inputs,
                                          const std::vector<Array>& outputs,
                                          const EquationOptions& options);

}  // namespace lathe
