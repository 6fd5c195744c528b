// derivative.cpp: derivatives of expressions. Interface: derivative.h.
#include "nest/derivative.h"

#include <numbers>

#include "base/error.h"

namespace lathe {
namespace {

using Op = Expr::Op;

Expr difference_of(Expr a, Expr b) {
  if (is_number(b, 0)) return a;
  if (is_number(a, 0)) return is_number(b, 0) ? a : call(Op::neg, {std::move(b)});
  return call(Op::sub, {std::move(a), std::move(b)});
}

Expr quotient_of(Expr a, Expr b) {
  if (is_number(a, 0) || is_number(b, 1)) return a;
  return call(Op::div, {std::move(a), std::move(b)});
}

Expr negated(Expr a) { return difference_of(number(0), std::move(a)); }

Expr square_of(const Expr& a) { return product_of(a, a); }

/// Is the value 0 or 1? Any other number than 0 holds too.
bool is_truth(const Expr& value) {
  return value.op == Op::less || value.op == Op::less_equal || value.op == Op::equal;
}

/// Returns "a" where the condition holds, otherwise "b".
Expr chosen(Expr condition, Expr a, Expr b) {
  if (a == b) return a;
  if (is_number(a, 1) && is_number(b, 0) && is_truth(condition)) return condition;
  return call(Op::select, {std::move(condition), std::move(a), std::move(b)});
}

/// Derivatives of a function of one argument, by that argument.
Expr slope(const Expr& value) {
  const Expr& x = value.args[0];
  switch (value.op) {
    case Op::neg:
      return number(-1);
    case Op::abs:
      return difference_of(call(Op::less, {number(0), x}), call(Op::less, {x, number(0)}));
    case Op::single:
      return number(1);
    case Op::sqrt:
      return quotient_of(number(0.5), value);
    case Op::exp:
      return value;
    case Op::log:
      return quotient_of(number(1), x);
    case Op::tanh:
      return difference_of(number(1), square_of(value));
    case Op::erf:
      return product_of(number(2 * std::numbers::inv_sqrtpi),
                        call(Op::exp, {negated(square_of(x))}));
    case Op::sin:
      return call(Op::cos, {x});
    case Op::cos:
      return negated(call(Op::sin, {x}));
    case Op::tan:
      return sum_of(number(1), square_of(value));
    case Op::asin:
      return quotient_of(number(1), call(Op::sqrt, {difference_of(number(1), square_of(x))}));
    case Op::acos:
      return quotient_of(number(-1), call(Op::sqrt, {difference_of(number(1), square_of(x))}));
    case Op::atan:
      return quotient_of(number(1), sum_of(number(1), square_of(x)));
    default:
      return number(0);  // floor, ceil, round
  }
}

/// Derivative of a function of two arguments, whose own derivatives are "da" and "db".
Expr of_two(const Expr& value, const Expr& da, const Expr& db) {
  const Expr &a = value.args[0], &b = value.args[1];
  switch (value.op) {
    case Op::add:
      return sum_of(da, db);
    case Op::sub:
      return difference_of(da, db);
    case Op::mul:
      return sum_of(product_of(da, b), product_of(a, db));
    case Op::div:
      return difference_of(quotient_of(da, b), quotient_of(product_of(a, db), square_of(b)));
    case Op::mod:
      return difference_of(da, product_of(call(Op::floor, {quotient_of(a, b)}), db));
    case Op::rem:
      return difference_of(da, product_of(quotient_of(difference_of(a, value), b), db));
    case Op::max:
      return chosen(call(Op::less, {b, a}), da, db);
    case Op::min:
      return chosen(call(Op::less, {a, b}), da, db);
    case Op::pow: {
      Expr by_base = product_of(b, call(Op::pow, {a, difference_of(b, number(1))}));
      Expr by_exponent = product_of(value, call(Op::log, {a}));
      return sum_of(product_of(by_base, da), product_of(by_exponent, db));
    }
    default:
      return number(0);  // comparisons and bits
  }
}

}  // namespace

bool is_number(const Expr& value, double number) {
  return value.op == Op::number && value.number == number;
}

Expr sum_of(Expr a, Expr b) {
  if (is_number(a, 0)) return b;
  if (is_number(b, 0)) return a;
  if (a.op == Op::number && b.op == Op::number) return number(a.number + b.number);
  return call(Op::add, {std::move(a), std::move(b)});
}

Expr product_of(Expr a, Expr b) {
  if (is_number(a, 0) || is_number(b, 1)) return a;
  if (is_number(b, 0) || is_number(a, 1)) return b;
  if (a.op == Op::number && b.op == Op::number) return number(a.number * b.number);
  if (is_number(a, -1)) return call(Op::neg, {std::move(b)});
  if (is_number(b, -1)) return call(Op::neg, {std::move(a)});
  return call(Op::mul, {std::move(a), std::move(b)});
}

Expr with_reads(const Expr& value, const std::function<Expr(size_t read)>& of) {
  if (value.op == Op::read) return of(value.read);
  Expr result = value;
  for (Expr& arg : result.args) arg = with_reads(arg, of);
  return result;
}

Expr derivative(const Expr& value, const std::function<bool(size_t read)>& is_variable) {
  if (value.op == Op::number) return number(0);
  if (value.op == Op::read) return number(is_variable(value.read) ? 1 : 0);
  std::vector<Expr> inner;
  bool is_constant = true;
  for (const Expr& arg : value.args) {
    inner.push_back(derivative(arg, is_variable));
    is_constant = is_constant && is_number(inner.back(), 0);
  }
  if (is_constant) return number(0);
  if (value.op == Op::select) return chosen(value.args[0], inner[1], inner[2]);
  if (value.args.size() == 1) return product_of(slope(value), inner[0]);
  return of_two(value, inner[0], inner[1]);
}

}  // namespace lathe
