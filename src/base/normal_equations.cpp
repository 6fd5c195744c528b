// normal_equations.cpp: see normal_equations.h. Eigen multiplies and solves.
#include "base/normal_equations.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>

#include "base/error.h"
#include "base/parallel.h"

namespace lathe {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowsView = Eigen::Map<const Rows>;

constexpr Eigen::Index panel_columns = 192;  // what a thread works on at a time

RowsView view(const Matrix& matrix) {
  return {matrix.elements().data(), static_cast<Eigen::Index>(matrix.rows()),
          static_cast<Eigen::Index>(matrix.columns())};
}

}  // namespace

struct NormalEquations::State {
  Eigen::MatrixXd squares;   // regressors x regressors: the lower half
  Eigen::MatrixXd products;  // regressors x targets
  Eigen::VectorXd sums, sums_of_squares;  // of the targets
  double count = 0;
  int threads = 1;

  /// Returns the squares with both halves.
  Eigen::MatrixXd whole() const { return squares.selfadjointView<Eigen::Lower>(); }
};

NormalEquations::NormalEquations(size_t regressors, size_t targets, int threads)
    : state_(std::make_unique<State>()) {
  auto k = static_cast<Eigen::Index>(regressors), t = static_cast<Eigen::Index>(targets);
  state_->squares = Eigen::MatrixXd::Zero(k, k);
  state_->products = Eigen::MatrixXd::Zero(k, t);
  state_->sums = state_->sums_of_squares = Eigen::VectorXd::Zero(t);
  state_->threads = threads;
}

NormalEquations::~NormalEquations() = default;
NormalEquations::NormalEquations(NormalEquations&&) noexcept = default;

void NormalEquations::add(const Matrix& known, const Matrix& explained) {
  RowsView x = view(known), y = view(explained);
  Eigen::MatrixXd& squares = state_->squares;
  check(x.rows() == y.rows() && x.cols() == squares.cols() && y.cols() == state_->products.cols(),
        "observations have a row each, with the columns that were announced");
  Eigen::Index columns = squares.cols();
  auto panels = static_cast<size_t>((columns + panel_columns - 1) / panel_columns);
  for_each_index(panels, state_->threads, [&](size_t i) {
    Eigen::Index first = static_cast<Eigen::Index>(i) * panel_columns;
    Eigen::Index width = std::min(panel_columns, columns - first);
    squares.block(first, first, columns - first, width).noalias() +=
        x.rightCols(columns - first).transpose() * x.middleCols(first, width);
  });
  state_->products.noalias() += x.transpose() * y;
  state_->sums += y.colwise().sum().transpose();
  state_->sums_of_squares += y.colwise().squaredNorm().transpose();
  state_->count += static_cast<double>(x.rows());
}

Matrix NormalEquations::solved(const Matrix& start, double ridge) const {
  Eigen::MatrixXd squares = state_->whole();
  RowsView begin = view(start);
  check(begin.rows() == state_->products.cols() && begin.cols() == squares.cols(),
        "a start has a row for each target and a column for each regressor");
  Eigen::MatrixXd missing = state_->products - squares * begin.transpose();
  double scale = squares.cols() == 0 ? 0 : squares.trace() / static_cast<double>(squares.cols());
  squares.diagonal().array() += ridge * scale;
  Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> factors(squares);
  if (factors.info() != Eigen::Success) {
    fail("the observations do not determine the weights: more of them, or a larger ridge, may");
  }
  Eigen::MatrixXd found = begin.transpose() + factors.solve(missing);
  Matrix result(start.rows(), start.columns());
  for (size_t t = 0; t < result.rows(); ++t) {
    for (size_t k = 0; k < result.columns(); ++k) {
      result(t, k) = found(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(t));
    }
  }
  return result;
}

double NormalEquations::unexplained(const Matrix& weights) const {
  if (state_->count == 0) return 0;
  Eigen::MatrixXd w = view(weights).transpose();
  Eigen::MatrixXd said = state_->squares.selfadjointView<Eigen::Lower>() * w;
  double error = state_->sums_of_squares.sum() - 2 * w.cwiseProduct(state_->products).sum() +
                 w.cwiseProduct(said).sum();
  double variance =
      state_->sums_of_squares.sum() - state_->sums.squaredNorm() / state_->count;
  return variance <= 0 ? 0 : std::max(0.0, error / variance);
}

}  // namespace lathe
