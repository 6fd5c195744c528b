// normalisation.cpp: statements as batch normalisations. Interface: normalisation.h.
#include "program/normalisation.h"

#include "program/convolution.h"

namespace lathe {
namespace {

bool is(const Expr& e, Expr::Op op) { return e.op == op; }

/// The reads of a batch normalisation's body, and its epsilon.
struct Body {
  size_t x, mean, variance, scale, shift;
  double epsilon;
};

/// Takes  (x - mean) / sqrt(variance + epsilon) * scale + shift  apart.
std::optional<Body> body_of(const Expr& e) {
  using Op = Expr::Op;
  if (!is(e, Op::add) || !is(e.args[0], Op::mul)) return std::nullopt;
  const Expr &shift = e.args[1], &scale = e.args[0].args[1], &ratio = e.args[0].args[0];
  if (!is(ratio, Op::div) || !is(ratio.args[0], Op::sub) || !is(ratio.args[1], Op::sqrt)) {
    return std::nullopt;
  }
  const Expr &x = ratio.args[0].args[0], &mean = ratio.args[0].args[1];
  const Expr& spread = ratio.args[1].args[0];
  if (!is(spread, Op::add) || !is(spread.args[1], Op::number)) return std::nullopt;
  const Expr& variance = spread.args[0];
  for (const Expr* leaf : {&x, &mean, &variance, &scale, &shift}) {
    if (!is(*leaf, Op::read)) return std::nullopt;
  }
  return Body{x.read, mean.read, variance.read, scale.read, shift.read, spread.args[1].number};
}

bool is_zero(const Expr& e) { return is(e, Expr::Op::number) && e.number == 0; }

/// Does the index count all of a dimension, each element once? Its coordinates are marked in
/// "used": none may count along two dimensions.
bool counts_all(const Linear& index, const Shape& sizes, long extent, std::vector<bool>& used) {
  std::vector<bool> seen(static_cast<size_t>(extent), false);
  Shape values{index.constant};
  for (size_t c = 0; c < sizes.size(); ++c) {
    if (index.coefficients[c] == 0) continue;
    if (used[c]) return false;
    used[c] = true;
    Shape longer;
    for (long value : values) {
      for (long i = 0; i < sizes[c]; ++i) longer.push_back(value + index.coefficients[c] * i);
    }
    values = std::move(longer);
  }
  for (long value : values) {
    if (value < 0 || value >= extent || seen[static_cast<size_t>(value)]) return false;
    seen[static_cast<size_t>(value)] = true;
  }
  return static_cast<long>(values.size()) == extent;
}

bool writes_all(const Nest& nest, const Statement& s) {
  Shape sizes = extents(plain_order(s, {}));
  std::vector<bool> used(sizes.size(), false);
  std::vector<Linear> write = linear_indices(nest, s.write);
  const Shape shape = inner_shape(nest.tensors()[s.write.tensor]);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!counts_all(write[d], sizes, shape[d], used)) return false;
  }
  return true;
}

bool same(const Linear& a, const Linear& b) {
  return a.coefficients == b.coefficients && a.constant == b.constant;
}

bool same(const std::vector<Linear>& a, const std::vector<Linear>& b) {
  bool all = a.size() == b.size();
  for (size_t d = 0; all && d < a.size(); ++d) all = same(a[d], b[d]);
  return all;
}

}  // namespace

std::optional<Normalisation> normalisation_of(const Nest& nest, const Statement& s) {
  bool rectified = is(s.value, Expr::Op::max) && is_zero(s.value.args[1]);
  auto body = body_of(rectified ? s.value.args[0] : s.value);
  if (!body || s.update != Update::assign) return std::nullopt;
  std::vector<Linear> write = linear_indices(nest, s.write);
  if (write.size() < 2 || !writes_all(nest, s)) return std::nullopt;
  auto tensor = [&](size_t read) { return s.reads[read].tensor; };
  const Shape shape = inner_shape(nest.tensors()[s.write.tensor]);
  bool alike = inner_shape(nest.tensors()[tensor(body->x)]) == shape &&
               same(linear_indices(nest, s.reads[body->x]), write);
  for (size_t read : {body->scale, body->shift, body->mean, body->variance}) {
    bool is_weight = nest.tensors()[tensor(read)].role == Role::weight;
    alike = alike && is_weight && same(linear_indices(nest, s.reads[read]), {write[1]});
  }
  if (!alike) return std::nullopt;
  return Normalisation{tensor(body->x),        tensor(body->scale),
                       tensor(body->shift),    tensor(body->mean),
                       tensor(body->variance), shape[1],
                       body->epsilon,          rectified};
}

}  // namespace lathe
