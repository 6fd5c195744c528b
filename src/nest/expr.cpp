// expr.cpp: the functions that statements may call. Interface: expr.h.
#include "nest/expr.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "nest/interpret_numbers.h"

namespace lathe {

Expr number(double value) { return {Expr::Op::number, value, 0, {}}; }
Expr read(size_t index) { return {Expr::Op::read, 0, index, {}}; }
Expr call(Expr::Op op, std::vector<Expr> args) { return {op, 0, 0, std::move(args)}; }

const std::vector<Function>& functions() {
  using Op = Expr::Op;
  static const std::vector<Function> all = {
      {Op::neg, "-", 1, true},
      {Op::add, "+", 2, true},
      {Op::sub, "-", 2, true},
      {Op::mul, "*", 2, true},
      {Op::div, "/", 2, true},
      {Op::mod, "mod", 2, false},
      {Op::rem, "rem", 2, false},
      {Op::max, "max", 2, false},
      {Op::min, "min", 2, false},
      {Op::abs, "abs", 1, false},
      {Op::floor, "floor", 1, false},
      {Op::ceil, "ceil", 1, false},
      {Op::round, "round", 1, false},
      {Op::single, "single", 1, false},
      {Op::sqrt, "sqrt", 1, false},
      {Op::exp, "exp", 1, false},
      {Op::log, "log", 1, false},
      {Op::pow, "pow", 2, false},
      {Op::tanh, "tanh", 1, false},
      {Op::erf, "erf", 1, false},
      {Op::sin, "sin", 1, false},
      {Op::cos, "cos", 1, false},
      {Op::tan, "tan", 1, false},
      {Op::asin, "asin", 1, false},
      {Op::acos, "acos", 1, false},
      {Op::atan, "atan", 1, false},
      {Op::less, "less", 2, false},
      {Op::less_equal, "less_equal", 2, false},
      {Op::equal, "equal", 2, false},
      {Op::select, "select", 3, false},
      {Op::bit_and, "bit_and", 2, false},
      {Op::bit_or, "bit_or", 2, false},
      {Op::bit_xor, "bit_xor", 2, false},
      {Op::shift, "shift", 2, false},
      {Op::pick, "pick", 3, false},
  };
  return all;
}

const Function& function_of(Expr::Op op) {
  const auto& all = functions();
  auto found = std::find_if(all.begin(), all.end(), [&](const Function& f) { return f.op == op; });
  check(found != all.end(), "every operation but a number and a read is a function");
  return *found;
}

namespace {

/// Computes on integers modulo 2^64, as machines do; C++ leaves overflow undefined.
long wrapped(unsigned long value) { return static_cast<long>(value); }

long power(long base, long exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  unsigned long result = 1, square = static_cast<unsigned long>(base);
  for (; exponent > 0; exponent /= 2, square *= square) {
    if (exponent % 2 == 1) result *= square;
  }
  return wrapped(result);
}

long shifted(long value, long by) {
  if (by >= 64 || by <= -64) return 0;
  auto bits = static_cast<unsigned long>(value);
  return wrapped(by >= 0 ? bits << by : bits >> -by);
}

long evaluate_integers(Expr::Op op, const long* a) {
  using Op = Expr::Op;
  auto x = static_cast<unsigned long>(a[0]), y = static_cast<unsigned long>(a[1]);
  bool divides = op == Op::div || op == Op::mod || op == Op::rem;
  if (divides && a[1] == 0) return 0;  // no value is right, and none may trap
  if (divides && a[1] == -1) return op == Op::div ? wrapped(-x) : 0;
  switch (op) {
    case Op::neg:
      return wrapped(-x);
    case Op::add:
      return wrapped(x + y);
    case Op::sub:
      return wrapped(x - y);
    case Op::mul:
      return wrapped(x * y);
    case Op::div:
      return a[0] / a[1];
    case Op::mod:
      return (a[0] % a[1] + a[1]) % a[1];
    case Op::rem:
      return a[0] % a[1];
    case Op::abs:
      return a[0] < 0 ? wrapped(-x) : a[0];
    case Op::floor:
    case Op::ceil:
    case Op::round:
    case Op::single:
      return a[0];
    case Op::pow:
      return power(a[0], a[1]);
    case Op::bit_and:
      return a[0] & a[1];
    case Op::bit_or:
      return a[0] | a[1];
    case Op::bit_xor:
      return a[0] ^ a[1];
    case Op::shift:
      return shifted(a[0], a[1]);
    default:
      fail("'{}' has no value on integers; interpret this nest on floats", function_of(op).name);
  }
}

double evaluate_reals(Expr::Op op, const double* a) {
  using Op = Expr::Op;
  switch (op) {
    case Op::neg:
      return -a[0];
    case Op::add:
      return a[0] + a[1];
    case Op::sub:
      return a[0] - a[1];
    case Op::mul:
      return a[0] * a[1];
    case Op::div:
      return a[0] / a[1];
    case Op::mod: {
      double rest = std::fmod(a[0], a[1]);
      return rest != 0 && (rest < 0) != (a[1] < 0) ? rest + a[1] : rest;
    }
    case Op::rem:
      return std::fmod(a[0], a[1]);
    case Op::abs:
      return std::fabs(a[0]);
    case Op::floor:
      return std::floor(a[0]);
    case Op::ceil:
      return std::ceil(a[0]);
    case Op::round:
      return std::nearbyint(a[0]);
    case Op::single:
      return static_cast<float>(a[0]);
    case Op::sqrt:
      return std::sqrt(a[0]);
    case Op::exp:
      return std::exp(a[0]);
    case Op::log:
      return std::log(a[0]);
    case Op::pow:
      return std::pow(a[0], a[1]);
    case Op::tanh:
      return std::tanh(a[0]);
    case Op::erf:
      return std::erf(a[0]);
    case Op::sin:
      return std::sin(a[0]);
    case Op::cos:
      return std::cos(a[0]);
    case Op::tan:
      return std::tan(a[0]);
    case Op::asin:
      return std::asin(a[0]);
    case Op::acos:
      return std::acos(a[0]);
    case Op::atan:
      return std::atan(a[0]);
    default:
      fail("'{}' has no value on floats; interpret this nest on integers", function_of(op).name);
  }
}

}  // namespace

template <class T>
T evaluate(Expr::Op op, const T* a) {
  switch (op) {
    case Expr::Op::max:
      return larger(a[0], a[1]);
    case Expr::Op::min:
      return smaller(a[0], a[1]);
    case Expr::Op::less:
      return a[0] < a[1] ? T(1) : T(0);
    case Expr::Op::less_equal:
      return a[0] <= a[1] ? T(1) : T(0);
    case Expr::Op::equal:
      return a[0] == a[1] ? T(1) : T(0);
    case Expr::Op::select:
      return a[0] != T(0) ? a[1] : a[2];
    default:
      if constexpr (std::is_floating_point_v<T>) {
        return evaluate_reals(op, a);
      } else {
        return evaluate_integers(op, a);
      }
  }
}

template double evaluate(Expr::Op, const double*);
template long evaluate(Expr::Op, const long*);

Expr pick(Expr from, size_t dim, Expr index) {
  return call(Expr::Op::pick,
              {std::move(from), number(static_cast<double>(dim)), std::move(index)});
}

Pick pick_of(const Expr& expr) {
  Pick result;
  const Expr* from = &expr;
  for (; from->op == Expr::Op::pick; from = &from->args[0]) {
    const Expr& dim = from->args[1];
    if (dim.op != Expr::Op::number || dim.number < 0 || dim.number != std::floor(dim.number)) {
      fail("pick: its second argument is the number of a dimension");
    }
    result.along.push_back({static_cast<size_t>(dim.number), &from->args[2]});
  }
  if (from->op != Expr::Op::read) fail("pick: its first argument is an element of a tensor");
  result.read = from->read;
  return result;
}

bool picks(const Expr& expr) {
  return expr.op == Expr::Op::pick || std::any_of(expr.args.begin(), expr.args.end(), picks);
}

void each_pick(const Expr& expr, const std::function<void(const Pick&)>& visit) {
  if (expr.op != Expr::Op::pick) {
    for (const Expr& arg : expr.args) each_pick(arg, visit);
    return;
  }
  Pick found = pick_of(expr);
  visit(found);
  for (const Pick::Along& along : found.along) each_pick(*along.index, visit);
}

long picked_index(long value, long extent) {
  return std::clamp(value < 0 ? value + extent : value, 0L, extent - 1);
}

bool is_product(const Expr& expr) {
  if (expr.op == Expr::Op::number || expr.op == Expr::Op::read) return true;
  return expr.op == Expr::Op::mul && is_product(expr.args[0]) && is_product(expr.args[1]);
}

}  // namespace lathe
