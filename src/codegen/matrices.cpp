// matrices.cpp: which loops are products of matrices. Interface: matrices.h.
#include "codegen/matrices.h"

#include <algorithm>
#include <array>
#include <map>

#include "codegen/dots.h"

namespace lathe {
namespace {

using poly::Affine;

/// CUDA devices from this one on have the instructions.
constexpr long least_capability = 80;

bool depends_on(const Affine& a, std::initializer_list<size_t> depths) {
  std::vector<bool> involved = poly::involved(a);
  for (size_t depth : depths) {
    if (depth < involved.size() && involved[depth]) return true;
  }
  return false;
}

/// Returns the depth of the loop around a statement that is bound to an axis of this extent.
std::optional<size_t> depth_of(const Order& order, Mark axis, long extent) {
  for (size_t d = 0; d < order.loops.size(); ++d) {
    if (order.loops[d].mark == axis && order.loops[d].extent == extent) return d;
  }
  return std::nullopt;
}

/// Returns "a" with other functions of the coordinates in the place of some.
Affine with(const Affine& a, const std::map<size_t, Affine>& values) {
  size_t arity = a.coefficients.size();
  Affine sum = poly::constant_of(arity, a.constant);
  for (size_t d = 0; d < arity; ++d) {
    if (a.coefficients[d] == 0) continue;
    auto value = values.find(d);
    if (value == values.end()) {
      sum.coefficients[d] += a.coefficients[d];
    } else {
      sum = poly::plus(sum, value->second, a.coefficients[d]);
    }
  }
  for (const Affine::Floor& floor : a.floors) {
    Affine::Floor other = floor;
    other.of = with(floor.of, values);
    sum.floors.push_back(std::move(other));
  }
  sum.divisor = a.divisor;
  return sum;
}

Affine coordinate(size_t arity, size_t depth) {
  Affine a = poly::constant_of(arity, 0);
  a.coefficients[depth] = 1;
  return a;
}

/// Returns what coordinates stand for when a thread hands over its factors.
std::map<size_t, Affine> rows_handed_over(const MatrixProduct& matrix, long r, size_t arity) {
  return {{matrix.r, poly::constant_of(arity, r)}, {matrix.p, coordinate(arity, matrix.x)}};
}

std::map<size_t, Affine> columns_handed_over(const MatrixProduct& matrix, size_t arity) {
  std::vector<poly::Interval> ranges(arity, {0, matrix_down - 1});
  Affine y = coordinate(arity, matrix.y), half = poly::floor_of(y, matrix_own, ranges);
  return {{matrix.x, half},
          {matrix.c, poly::plus(y, half, -matrix_own)},
          {matrix.p, coordinate(arity, matrix.x)}};
}

/// Returns those conditions of the statement that are about some coordinates, for what is handed
/// over.
template <class HandedOver>
Guard guard_with(const MatrixProduct& matrix, std::initializer_list<size_t> about,
                 HandedOver handed_over) {
  if (matrix.statement->guard.empty()) return {};
  Guard guard = {{}};
  for (const poly::Constraint& c : matrix.statement->guard.front()) {
    if (!depends_on(c.expression, about)) continue;
    size_t arity = c.expression.coefficients.size();
    guard.front().push_back({with(c.expression, handed_over(arity)), c.equality});
  }
  return guard.front().empty() ? Guard{} : guard;
}

}  // namespace

long terms_of_matrix(const Target& target, Element factors) {
  if (target.architecture != Architecture::nvptx || target.gpu.capability < least_capability) {
    return 0;
  }
  constexpr long terms_of_tf32 = 2, terms_of_halves = 4;
  switch (factors) {
    case Element::tf32:
      return terms_of_tf32;
    case Element::f16:
    case Element::bf16:
      return terms_of_halves;
    default:
      return 0;
  }
}

std::optional<MatrixProduct> matrix_of(const LoopNode& loop, const Nest& nest,
                                       const Target& target) {
  std::array<const LoopNode*, 4> loops{};
  const LoopNode* node = &loop;
  for (const LoopNode*& each : loops) {
    bool fits = node->kind == LoopNode::Kind::loop && node->mark == Mark::vector &&
                node->from == 0 && node->body.size() == 1;
    if (!fits) return std::nullopt;
    each = node;
    node = &node->body.front();
  }
  if (node->kind != LoopNode::Kind::statement || node->guard.size() > 1) return std::nullopt;
  const Statement& s = nest.statements()[node->statement];
  if (!adds_product(s)) return std::nullopt;
  // Other threads of the warp load a factor than the one that wrote it, with no barrier between.
  for (const Access& read : s.reads) {
    if (nest.tensors()[read.tensor].role == Role::local) return std::nullopt;
  }
  auto element = [&](const Access& access) { return nest.tensors()[access.tensor].element; };
  long terms = terms_of_matrix(target, element(s.reads[0]));
  bool shaped = terms > 0 && loops[0]->extent() == matrix_own && loops[1]->extent() == matrix_own &&
                loops[2]->extent() == matrix_across && loops[3]->extent() % terms == 0 &&
                element(s.reads[1]) == element(s.reads[0]) && element(s.write) == Element::f32;
  const Order& order = nest.order[node->statement];
  auto y = depth_of(order, Mark::thread_y, matrix_down);
  auto x = depth_of(order, Mark::thread_x, matrix_across);
  if (!shaped || !y || !x) return std::nullopt;
  MatrixProduct found{0,
                      0,
                      loops[0]->depth,
                      loops[1]->depth,
                      loops[2]->depth,
                      loops[3]->depth,
                      *y,
                      *x,
                      loops[3]->extent(),
                      node};
  if (depends_on(node->write, {found.p, found.q})) return std::nullopt;
  // The elements of a group are loaded together.
  for (const Affine& read : node->reads) {
    Affine without = read;
    without.coefficients[found.q] = 0;
    if (depends_on(without, {found.q}) || read.divisor != 1) return std::nullopt;
  }
  for (const auto& piece : node->guard) {
    bool apart = std::all_of(piece.begin(), piece.end(), [&](const poly::Constraint& c) {
      bool of_rows = depends_on(c.expression, {found.y, found.r});
      bool of_columns = depends_on(c.expression, {found.x, found.c});
      return !c.equality && of_rows != of_columns && !depends_on(c.expression, {found.p, found.q});
    });
    if (!apart) return std::nullopt;
  }
  for (size_t rows : {0, 1}) {
    found.rows = rows;
    found.columns = 1 - rows;
    bool fits = !depends_on(node->reads[rows], {found.x, found.c}) &&
                !depends_on(node->reads[found.columns], {found.y, found.r});
    if (fits) return found;
  }
  return std::nullopt;
}

Affine offset_of_rows(const MatrixProduct& matrix, long r) {
  const Affine& offset = matrix.statement->reads[matrix.rows];
  return with(offset, rows_handed_over(matrix, r, offset.coefficients.size()));
}

Affine offset_of_columns(const MatrixProduct& matrix) {
  const Affine& offset = matrix.statement->reads[matrix.columns];
  return with(offset, columns_handed_over(matrix, offset.coefficients.size()));
}

Guard guard_of_rows(const MatrixProduct& matrix, long r) {
  return guard_with(matrix, {matrix.y, matrix.r},
                    [&](size_t arity) { return rows_handed_over(matrix, r, arity); });
}

Guard guard_of_columns(const MatrixProduct& matrix) {
  return guard_with(matrix, {matrix.x, matrix.c},
                    [&](size_t arity) { return columns_handed_over(matrix, arity); });
}

}  // namespace lathe
