// Least squares with many observations. They are added part by part, and only their products stay.
//
//   NormalEquations equations(4608, 512, 2);
//   equations.add(x, y);                          again and again
//   Matrix w = equations.solved(start, 1e-3);     512 x 4608:  y = w x, nearly
//   equations.unexplained(w)[3]                   0.1: w misses a tenth of what y[3] varies
#pragma once

#include <memory>

#include "base/matrix.h"

namespace lathe {

class NormalEquations {
 public:
  /// "threads" work on one part.
  NormalEquations(size_t regressors, size_t targets, int threads = 1);
  ~NormalEquations();
  NormalEquations(NormalEquations&&) noexcept;

  /// Adds observations, one in each row: what is known, and what is to be explained by it.
  void add(const Matrix& known, const Matrix& explained);

  /// Returns the weights, a row for each target, that make the sum of squared errors least. They
  /// are drawn to "start": its distance counts, times "ridge", in units of the mean square of a
  /// regressor. The ridge must be above 0 unless the observations determine the weights. Fails
  /// where they do not.
  Matrix solved(const Matrix& start, double ridge) const;

  /// Returns the variance of each target.
  std::vector<double> variances() const;
  /// Returns which share of each target's variance these weights do not explain; 0 where nothing
  /// varies.
  std::vector<double> unexplained(const Matrix& weights) const;

  /// Returns which share of each target's variance the first regressors explain, for each number of
  /// them that is a multiple of "step" from 0 on: a row for each target. A constant is always among
  /// what explains. The ridge is as for solved().
  Matrix explained_by_first(size_t step, double ridge) const;
  /// Returns the same for chosen regressors and targets: one number for each target.
  std::vector<double> explained_by(const std::vector<size_t>& regressors,
                                   const std::vector<size_t>& targets, double ridge) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lathe
