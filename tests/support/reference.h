// What kernels must compute: a nest is interpreted on small integers, and what its outputs must be
// is told with how far each element may be off.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "nest/interpret.h"
#include "transforms/transform.h"

namespace lathe::test {

/// The elements of every tensor of an interpreted nest, by name; row-major, padding included.
struct Reference {
  bool exact = true;      ///< is every value an integer that its type can hold?
  bool overflow = false;  ///< is one beyond its type? Then memory holds something else.
  double slack = 0;       ///< how far reals may be off instead, where algebraic steps round
  std::map<std::string, std::vector<double>> reals;
  std::map<std::string, std::vector<long>> integers;  ///< instead, if no tensor is of reals
};

/// Are the results of these functions integers wherever their arguments are?
inline bool keeps_integers(const Expr& e) {
  using Op = Expr::Op;
  static const std::set<Op> kept = {
      Op::number, Op::read,  Op::neg,  Op::add,   Op::sub,  Op::mul,        Op::max,   Op::min,
      Op::abs,    Op::floor, Op::ceil, Op::round, Op::less, Op::less_equal, Op::equal, Op::select};
  if (e.op == Op::number && std::isfinite(e.number) && e.number != std::floor(e.number))
    return false;
  return kept.contains(e.op) && std::all_of(e.args.begin(), e.args.end(), keeps_integers);
}

/// Returns the greatest integer up to which a type holds every one.
inline double integers_up_to(Element element) {
  switch (element) {
    case Element::bf16:
      return 256;
    case Element::f16:
    case Element::tf32:
      return 2048;
    case Element::f32:
      return 1 << 24;
    case Element::f64:
      return 9e15;
    default:
      return static_cast<double>(highest_of(element));
  }
}

/// Draws small integers for inputs and weights that their type can hold.
template <class T>
void fill_small(const Nest& nest, Buffers<T>& buffers, unsigned seed) {
  fill_inputs(nest, buffers, seed, 4);
  for (size_t t = 0; t < buffers.size(); ++t) {
    Element element = nest.tensors()[t].element;
    if (!is_integral(element) || lowest_of(element) < 0) continue;
    for (T& x : buffers[t]) {
      if (x < 0 && x >= T(-4)) x = -x;
      if (element == Element::boolean) x = x > 1 ? T(1) : T(0);
    }
  }
}

template <class T>
Reference reference_of(const Nest& nest, unsigned seed) {
  Buffers<T> buffers = make_buffers<T>(nest);
  fill_small(nest, buffers, seed);
  interpret(nest, buffers);
  Reference result;
  for (const Statement& s : nest.statements())
    result.exact = result.exact && keeps_integers(s.value);
  for (size_t t = 0; t < buffers.size(); ++t) {
    const Tensor& tensor = nest.tensors()[t];
    for (T x : buffers[t]) {
      auto value = static_cast<double>(x);
      bool fits = std::abs(value) <= integers_up_to(tensor.element) || std::isinf(value);
      result.exact = result.exact && fits;
      bool lowest = value <= static_cast<double>(std::numeric_limits<long>::lowest());
      if (!is_integral(tensor.element) || lowest) continue;
      bool below = value < static_cast<double>(lowest_of(tensor.element));
      result.overflow = result.overflow || below || !fits;
    }
    if constexpr (std::is_integral_v<T>) {
      result.integers[tensor.name] = buffers[t];
    } else {
      result.reals[tensor.name] = buffers[t];
    }
  }
  return result;
}

/// Interprets a nest on small integers.
inline Reference interpreted(const Nest& nest, unsigned seed = 1) {
  bool integral = std::all_of(nest.tensors().begin(), nest.tensors().end(),
                              [](const Tensor& t) { return is_integral(t.element); });
  return integral ? reference_of<long>(nest, seed) : reference_of<double>(nest, seed);
}

/// What small integers may be off by where a step rounds: whatever is wrong is off by more.
inline constexpr double slack_of_integers = 0.01;

/// Do the steps of a recipe round? Then the integers that a case wants are not met exactly.
inline bool rounds(const std::string& recipe) {
  Recipe steps = parse_recipe(recipe);
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    return find_transform(step.name).kind == Transform::Kind::algebraic;
  });
}

/// What the elements of an output must be, row-major, and how far each may be off. One that may be
/// infinitely far off can be anything; one that is no number must be none.
struct Expected {
  std::vector<double> reals;
  std::vector<long> integers;  ///< instead, if there is a reference of integers
  std::vector<double> allowed;
};

/// Returns how far a real may be off. "largest" is the greatest of its tensor.
inline double allowed_error(double must, double largest, Element element,
                            const Reference& reference) {
  if (is_integral(element) && !std::isfinite(must)) return std::numeric_limits<double>::infinity();
  bool exact = reference.exact && reference.slack == 0;
  if (exact || !std::isfinite(must)) return 0;
  if (reference.slack > 0) return reference.slack;
  double tolerance = element == Element::bf16 ? 3e-2 : element == Element::f16 ? 1e-2 : 1e-4;
  double allowed = is_integral(element) ? 1 : tolerance * std::max(std::abs(must), 1.0);
  // Sums of large numbers of both signs are as wrong as the numbers are.
  return std::max(allowed, 1e-6 * largest);
}

/// Returns what the elements of a tensor must be after a case ran.
inline Expected expected_of(const Tensor& tensor, const Reference& reference) {
  Expected expected;
  Element element = tensor.element;
  if (auto found = reference.integers.find(tensor.name); found != reference.integers.end()) {
    expected.integers = Array::of_integers(element, tensor.shape, found->second).integers();
    for (long x : found->second) {
      // Of no elements at all there is no greatest.
      bool any = x == std::numeric_limits<long>::lowest();
      expected.allowed.push_back(any ? std::numeric_limits<double>::infinity() : 0);
    }
    return expected;
  }
  expected.reals = reference.reals.at(tensor.name);
  double largest = 0;
  for (double x : expected.reals) {
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  }
  for (double& x : expected.reals) {
    expected.allowed.push_back(allowed_error(x, largest, element, reference));
    if (is_integral(element) && expected.allowed.back() > 0) x = std::trunc(x);
  }
  return expected;
}

}  // namespace lathe::test
