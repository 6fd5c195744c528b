// expr.cpp: the functions that statements may call. Interface: expr.h.
#include "nest/expr.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace lathe {

Expr number(double value) { return {Expr::Op::number, value, 0, {}}; }
Expr read(size_t index) { return {Expr::Op::read, 0, index, {}}; }
Expr call(Expr::Op op, std::vector<Expr> args) { return {op, 0, 0, std::move(args)}; }

const std::vector<Function>& functions() {
  using Op = Expr::Op;
  static const std::vector<Function> all = {
      {Op::neg, "-", 1, true, true},       {Op::add, "+", 2, true, true},
      {Op::sub, "-", 2, true, true},       {Op::mul, "*", 2, true, true},
      {Op::div, "/", 2, true, false},      {Op::max, "max", 2, false, true},
      {Op::min, "min", 2, false, true},    {Op::abs, "abs", 1, false, true},
      {Op::sqrt, "sqrt", 1, false, false}, {Op::exp, "exp", 1, false, false},
      {Op::log, "log", 1, false, false},   {Op::tanh, "tanh", 1, false, false},
      {Op::erf, "erf", 1, false, false},
  };
  return all;
}

const Function& function_of(Expr::Op op) {
  const auto& all = functions();
  auto found = std::find_if(all.begin(), all.end(), [&](const Function& f) { return f.op == op; });
  check(found != all.end(), "every operation but a number and a read is a function");
  return *found;
}

template <class T>
T evaluate(Expr::Op op, const T* a) {
  switch (op) {
    case Expr::Op::neg:
      return -a[0];
    case Expr::Op::add:
      return a[0] + a[1];
    case Expr::Op::sub:
      return a[0] - a[1];
    case Expr::Op::mul:
      return a[0] * a[1];
    case Expr::Op::max:
      return std::max(a[0], a[1]);
    case Expr::Op::min:
      return std::min(a[0], a[1]);
    case Expr::Op::abs:
      return std::abs(a[0]);
    default:
      break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    switch (op) {
      case Expr::Op::div:
        return a[0] / a[1];
      case Expr::Op::sqrt:
        return std::sqrt(a[0]);
      case Expr::Op::exp:
        return std::exp(a[0]);
      case Expr::Op::log:
        return std::log(a[0]);
      case Expr::Op::tanh:
        return std::tanh(a[0]);
      case Expr::Op::erf:
        return std::erf(a[0]);
      default:
        break;
    }
  }
  fail("'{}' has no value on integers; interpret this nest on floats", function_of(op).name);
}

template double evaluate(Expr::Op, const double*);
template long evaluate(Expr::Op, const long*);

bool is_product(const Expr& expr) {
  if (expr.op == Expr::Op::number || expr.op == Expr::Op::read) return true;
  return expr.op == Expr::Op::mul && is_product(expr.args[0]) && is_product(expr.args[1]);
}

}  // namespace lathe
