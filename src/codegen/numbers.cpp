// numbers.cpp: the types in which statements compute. Interface: numbers.h.
#include "codegen/numbers.h"

#include <algorithm>
#include <functional>
#include <optional>

namespace lathe {
namespace {

/// Integers of so many bytes do not fit the 24 bits of an f32's mantissa.
constexpr long wide_integer = 4;

bool is_wide_integer(Element element) {
  return is_integral(element) && size_of(element) >= wide_integer;
}

/// The tensors of a statement, and what is asked of them.
class Elements {
 public:
  Elements(const Nest& nest, const Statement& statement) : nest_(nest), s_(statement) {}

  Element written() const { return element(s_.write); }
  Element read(size_t i) const { return element(s_.reads[i]); }

  bool all(const std::function<bool(Element)>& holds) const {
    return holds(written()) && std::all_of(s_.reads.begin(), s_.reads.end(),
                                           [&](const Access& a) { return holds(element(a)); });
  }

 private:
  const Nest& nest_;
  const Statement& s_;
  Element element(const Access& access) const { return nest_.tensors()[access.tensor].element; }
};

/// Does the expression call these functions only?
bool calls_only(const Expr& e, std::initializer_list<Expr::Op> functions) {
  bool leaf = e.op == Expr::Op::number || e.op == Expr::Op::read;
  if (!leaf && std::find(functions.begin(), functions.end(), e.op) == functions.end()) return false;
  return std::all_of(e.args.begin(), e.args.end(),
                     [&](const Expr& arg) { return calls_only(arg, functions); });
}

/// Counts the calls of an expression that round.
long roundings(const Expr& e) {
  using Op = Expr::Op;
  long n = e.op == Op::add || e.op == Op::sub || e.op == Op::mul ? 1 : 0;
  for (const Expr& arg : e.args) n += roundings(arg);
  return n;
}

/// Sums into a local f16 are f16 from one product to the next: that is what a step makes them for.
/// Otherwise a statement whose numbers are all f16 is computed in it if the result is the same: if
/// it rounds once.
bool suits_f16(const Nest& nest, const Statement& s, const Elements& elements) {
  using Op = Expr::Op;
  bool known = elements.all([](Element e) { return e == Element::f16; }) &&
               calls_only(s.value, {Op::add, Op::sub, Op::mul, Op::neg, Op::max, Op::min});
  if (!known) return false;
  if (s.update != Update::add) return roundings(s.value) <= 1;
  return nest.tensors()[s.write.tensor].role == Role::local && is_product(s.value);
}

/// Are the lowest 32 bits of the result those that 64 would give?
bool suits_i32(const Statement& s, const Elements& elements) {
  using Op = Expr::Op;
  bool small = elements.written() != Element::boolean && elements.all([](Element e) {
    return is_integral(e) && size_of(e) <= size_of(Number::i32);
  });
  return small && s.update != Update::maximum &&
         calls_only(s.value, {Op::add, Op::sub, Op::mul, Op::neg});
}

/// Is the read a factor wherever it stands? It may be rounded before, then: the product is, too.
bool is_factor(const Expr& e, size_t read, bool factor = true) {
  if (e.op == Expr::Op::read) return e.read != read || factor;
  return std::all_of(e.args.begin(), e.args.end(), [&](const Expr& arg) {
    return is_factor(arg, read, factor && e.op == Expr::Op::mul);
  });
}

/// Do floats of 32 bits hold all that the statement reads, or may they round it?
bool suits_f32(const Statement& s, const Elements& elements) {
  if (elements.written() == Element::f64 || is_wide_integer(elements.written())) return false;
  for (size_t i = 0; i < s.reads.size(); ++i) {
    if (elements.read(i) == Element::f64) return false;
    bool exact = !is_wide_integer(elements.read(i));
    bool rounds = elements.read(i) == Element::i32 && s.update == Update::assign &&
                  is_float(elements.written()) && is_factor(s.value, i);
    if (!exact && !rounds) return false;
  }
  return true;
}

/// Returns the narrowest type that holds all values of both.
Number wider(Number a, Number b) {
  if (a == b) return a;
  if (is_float(a) != is_float(b)) return Number::f64;
  if (size_of(a) == size_of(b)) return a;
  return size_of(a) > size_of(b) ? a : b;
}

/// Is the value between two numbers that an i32 holds, as where it is made for a narrow integer?
bool fits_i32(const Expr& value) {
  constexpr double beyond = 0x1p31;
  auto is_bound = [&](const Expr& e) {
    return e.op == Expr::Op::number && e.number > -beyond && e.number < beyond;
  };
  bool below = false, above = false;
  for (const Expr* e = &value; e->op == Expr::Op::max || e->op == Expr::Op::min;) {
    bool second = is_bound(e->args[1]);
    if (!second && !is_bound(e->args[0])) break;
    (e->op == Expr::Op::max ? below : above) = true;
    e = &e->args[second ? 0 : 1];
  }
  return below && above;
}

}  // namespace

Number number_of(const Nest& nest) {
  bool integral = true, wide = false;
  for (const Tensor& tensor : nest.tensors()) {
    integral = integral && !is_float(tensor.element);
    wide = wide || tensor.element == Element::f64 || is_wide_integer(tensor.element);
  }
  if (integral) return Number::i64;
  return wide ? Number::f64 : Number::f32;
}

Number number_of(const Nest& nest, const Statement& statement, const Target& target) {
  Elements elements(nest, statement);
  if (target.has(Extra::f16) && suits_f16(nest, statement, elements)) return Number::f16;
  if (suits_i32(statement, elements)) return Number::i32;
  if (elements.all([](Element e) { return !is_float(e); })) return Number::i64;
  return suits_f32(statement, elements) ? Number::f32 : Number::f64;
}

Number written_number(const Nest& nest, const Statement& statement, const Target& target) {
  Number number = number_of(nest, statement, target);
  bool bounded = is_integral(nest.tensors()[statement.write.tensor].element) && is_float(number) &&
                 statement.update == Update::assign && fits_i32(statement.value);
  return bounded ? Number::i32 : number;
}

std::vector<Number> numbers_of_tensors(const Nest& nest, const Target& target) {
  std::vector<std::optional<Number>> found(nest.tensors().size());
  for (const Statement& s : nest.statements()) {
    Number number = written_number(nest, s, target);
    std::optional<Number>& own = found[s.write.tensor];
    own = own ? wider(*own, number) : number;
  }
  std::vector<Number> numbers;
  for (const auto& number : found) numbers.push_back(number.value_or(number_of(nest)));
  return numbers;
}

}  // namespace lathe
