// normal_equations.cpp: see normal_equations.h. Eigen multiplies and solves.
#include "base/normal_equations.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/parallel.h"

namespace lathe {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowsView = Eigen::Map<const Rows>;

constexpr Eigen::Index panel_columns = 192;  // what a thread works on at a time
constexpr const char* undetermined =
    "the observations do not determine the weights: more of them, or a larger ridge, may";

std::vector<size_t> counted_to(size_t count) {
  std::vector<size_t> result(count);
  std::iota(result.begin(), result.end(), size_t{0});
  return result;
}

RowsView view(const Matrix& matrix) {
  return {matrix.elements().data(), static_cast<Eigen::Index>(matrix.rows()),
          static_cast<Eigen::Index>(matrix.columns())};
}

}  // namespace

struct NormalEquations::State {
  Eigen::MatrixXd squares;                // regressors x regressors: the lower half
  Eigen::MatrixXd products;               // regressors x targets
  Eigen::VectorXd sums, sums_of_squares;  // of the targets
  Eigen::VectorXd regressor_sums;
  double count = 0;
  int threads = 1;

  /// Returns the squares with both halves.
  Eigen::MatrixXd whole() const { return squares.selfadjointView<Eigen::Lower>(); }

  double variance(Eigen::Index target) const {
    if (count == 0) return 0;
    double mean = sums(target) / count;
    return std::max(0.0, sums_of_squares(target) / count - mean * mean);
  }

  /// Returns, for chosen regressors and targets, numbers whose squares add up to what the
  /// regressors explain beside a constant, one after the other.
  Eigen::MatrixXd whitened(const std::vector<size_t>& regressors,
                           const std::vector<size_t>& targets, double ridge) const {
    auto k = static_cast<Eigen::Index>(regressors.size());
    auto t = static_cast<Eigen::Index>(targets.size());
    Eigen::MatrixXd square(k, k), product(k, t);
    auto at = [](size_t i) { return static_cast<Eigen::Index>(i); };
    for (Eigen::Index j = 0; j < k; ++j) {
      Eigen::Index column = at(regressors[static_cast<size_t>(j)]);
      for (Eigen::Index i = j; i < k; ++i) {
        Eigen::Index row = at(regressors[static_cast<size_t>(i)]);
        square(i, j) = squares(std::max(row, column), std::min(row, column)) -
                       regressor_sums(row) * regressor_sums(column) / count;
      }
      for (Eigen::Index i = 0; i < t; ++i) {
        Eigen::Index target = at(targets[static_cast<size_t>(i)]);
        product(j, i) = products(column, target) - regressor_sums(column) * sums(target) / count;
      }
    }
    double scale = k == 0 ? 0 : square.diagonal().sum() / static_cast<double>(k);
    square.diagonal().array() += ridge * scale;
    Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> factors(square);
    if (factors.info() != Eigen::Success) fail("{}", undetermined);
    factors.matrixL().solveInPlace(product);
    return product;
  }
};

NormalEquations::NormalEquations(size_t regressors, size_t targets, int threads)
    : state_(std::make_unique<State>()) {
  auto k = static_cast<Eigen::Index>(regressors), t = static_cast<Eigen::Index>(targets);
  state_->squares = Eigen::MatrixXd::Zero(k, k);
  state_->products = Eigen::MatrixXd::Zero(k, t);
  state_->sums = state_->sums_of_squares = Eigen::VectorXd::Zero(t);
  state_->regressor_sums = Eigen::VectorXd::Zero(k);
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
  state_->regressor_sums += x.colwise().sum().transpose();
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
  if (factors.info() != Eigen::Success) fail("{}", undetermined);
  Eigen::MatrixXd found = begin.transpose() + factors.solve(missing);
  Matrix result(start.rows(), start.columns());
  for (size_t t = 0; t < result.rows(); ++t) {
    for (size_t k = 0; k < result.columns(); ++k) {
      result(t, k) = found(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(t));
    }
  }
  return result;
}

std::vector<double> NormalEquations::variances() const {
  std::vector<double> result;
  for (Eigen::Index t = 0; t < state_->sums.size(); ++t) result.push_back(state_->variance(t));
  return result;
}

std::vector<double> NormalEquations::unexplained(const Matrix& weights) const {
  Eigen::MatrixXd w = view(weights).transpose();
  Eigen::MatrixXd said = state_->squares.selfadjointView<Eigen::Lower>() * w;
  std::vector<double> result;
  for (Eigen::Index t = 0; t < w.cols(); ++t) {
    double error = state_->sums_of_squares(t) - 2 * w.col(t).dot(state_->products.col(t)) +
                   w.col(t).dot(said.col(t));
    double variance = state_->variance(t) * state_->count;
    result.push_back(variance <= 0 ? 0 : std::max(0.0, error / variance));
  }
  return result;
}

Matrix NormalEquations::explained_by_first(size_t step, double ridge) const {
  std::vector<size_t> all = counted_to(static_cast<size_t>(state_->squares.cols()));
  std::vector<size_t> targets = counted_to(static_cast<size_t>(state_->sums.size()));
  Eigen::MatrixXd z = state_->whitened(all, targets, ridge);
  Matrix result(targets.size(), all.size() / step + 1);
  for (size_t t = 0; t < targets.size(); ++t) {
    double variance = state_->variance(static_cast<Eigen::Index>(t)) * state_->count, sum = 0;
    for (size_t k = 0; k < all.size(); ++k) {
      double each = z(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(t));
      sum += each * each;
      if ((k + 1) % step == 0) result(t, (k + 1) / step) = variance <= 0 ? 1 : sum / variance;
    }
  }
  return result;
}

std::vector<double> NormalEquations::explained_by(const std::vector<size_t>& regressors,
                                                  const std::vector<size_t>& targets,
                                                  double ridge) const {
  Eigen::MatrixXd z = state_->whitened(regressors, targets, ridge);
  std::vector<double> result;
  for (size_t t = 0; t < targets.size(); ++t) {
    double variance = state_->variance(static_cast<Eigen::Index>(targets[t])) * state_->count;
    result.push_back(variance <= 0 ? 1
                                   : z.col(static_cast<Eigen::Index>(t)).squaredNorm() / variance);
  }
  return result;
}

}  // namespace lathe
