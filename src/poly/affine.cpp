// affine.cpp: isl's quasi-affine functions, built, taken apart and printed. Interface: affine.h.
#include "poly/affine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "base/error.h"

namespace lathe::poly {
namespace {

long to_long(isl_val* owned) {
  isl::val value = isl::manage(owned);
  return isl_val_get_num_si(value.get());
}

long coefficient(const isl::aff& a, isl_dim_type type, size_t i, long divisor) {
  // Most are 0, which is seen without a number of isl's.
  if (isl_aff_coefficient_sgn(a.get(), type, static_cast<int>(i)) == 0) return 0;
  isl_val* value = isl_aff_get_coefficient_val(a.get(), type, static_cast<int>(i));
  return to_long(isl_val_mul_ui(value, static_cast<unsigned long>(divisor)));
}

long floor_divide(long numerator, long divisor) {
  long q = numerator / divisor;
  return q * divisor > numerator ? q - 1 : q;
}

/// One signed summand of a printed sum.
struct Summand {
  long coefficient;
  std::string factor;  // empty for the constant
};

std::string join(const std::vector<Summand>& summands) {
  std::string out;
  for (const Summand& s : summands) {
    if (s.coefficient == 0) continue;
    long magnitude = std::labs(s.coefficient);
    if (out.empty()) {
      out += s.coefficient < 0 ? "-" : "";
    } else {
      out += s.coefficient < 0 ? " - " : " + ";
    }
    if (s.factor.empty()) {
      out += fmt::format("{}", magnitude);
    } else if (magnitude == 1) {
      out += s.factor;
    } else {
      out += fmt::format("{}*{}", magnitude, s.factor);
    }
  }
  return out.empty() ? "0" : out;
}

bool is_atom(const std::string& text) { return text.find(' ') == std::string::npos; }

std::string numerator_text(const Affine& a, std::span<const std::string> names);

std::string parenthesised(const std::string& text) {
  bool plain = is_atom(text) && text.find('*') == std::string::npos && text[0] != '-';
  return plain ? text : "(" + text + ")";
}

/// Is  multiple * numerator(of)  contained in "a", so that a floor and it make a remainder?
bool contains(const Affine& a, const Affine& of, long multiple) {
  if (!of.floors.empty() || of.is_constant()) return false;
  for (size_t i = 0; i < of.coefficients.size(); ++i) {
    if (of.coefficients[i] != 0 && a.coefficients[i] != multiple * of.coefficients[i]) return false;
  }
  return true;
}

std::string numerator_text(const Affine& whole, std::span<const std::string> names) {
  Affine rest = whole;
  std::vector<Summand> remainders, quotients, summands;
  for (const Affine::Floor& floor : whole.floors) {
    long divisor = floor.of.divisor;
    std::string inner = parenthesised(numerator_text(floor.of, names));
    long multiple = -floor.coefficient / divisor;
    if (floor.coefficient % divisor == 0 && contains(rest, floor.of, multiple)) {
      for (size_t i = 0; i < rest.coefficients.size(); ++i) {
        rest.coefficients[i] -= multiple * floor.of.coefficients[i];
      }
      rest.constant -= multiple * floor.of.constant;
      std::string factor = fmt::format("{} % {}", inner, divisor);
      remainders.push_back({multiple, multiple == 1 ? factor : "(" + factor + ")"});
    } else {
      std::string factor = fmt::format("{} / {}", inner, divisor);
      quotients.push_back(
          {floor.coefficient, floor.coefficient == 1 ? factor : "(" + factor + ")"});
    }
  }
  for (size_t i = 0; i < rest.coefficients.size(); ++i) {
    summands.push_back({rest.coefficients[i], names[i]});
  }
  summands.insert(summands.end(), quotients.begin(), quotients.end());
  summands.insert(summands.end(), remainders.begin(), remainders.end());
  summands.push_back({rest.constant, ""});
  return join(summands);
}

void mark_involved(const Affine& a, std::vector<bool>& marks) {
  for (size_t i = 0; i < a.coefficients.size(); ++i) {
    if (a.coefficients[i] != 0) marks[i] = true;
  }
  for (const Affine::Floor& floor : a.floors) mark_involved(floor.of, marks);
}

void normalise(Affine& a);

/// Takes "a" apart as isl has it.
Affine as_written(const isl::aff& a) {
  Affine result;
  result.divisor = to_long(isl_aff_get_denominator_val(a.get()));
  auto dims = static_cast<size_t>(isl_aff_dim(a.get(), isl_dim_in));
  for (size_t i = 0; i < dims; ++i) {
    result.coefficients.push_back(coefficient(a, isl_dim_in, i, result.divisor));
  }
  auto floors = static_cast<size_t>(isl_aff_dim(a.get(), isl_dim_div));
  for (size_t k = 0; k < floors; ++k) {
    long c = coefficient(a, isl_dim_div, k, result.divisor);
    if (c == 0) continue;
    isl::aff of = isl::manage(isl_aff_get_div(a.get(), static_cast<int>(k)));
    result.floors.push_back({c, as_written(of)});
  }
  isl_val* value = isl_aff_get_constant_val(a.get());
  result.constant = to_long(isl_val_mul_ui(value, static_cast<unsigned long>(result.divisor)));
  return result;
}

/// Describes a function by numbers: equal functions, written the same way, have equal ones.
std::vector<long> key(const Affine& a) {
  std::vector<long> result{a.divisor};
  result.insert(result.end(), a.coefficients.begin(), a.coefficients.end());
  result.push_back(a.constant);
  for (const Affine::Floor& floor : a.floors) {
    result.push_back(floor.coefficient);
    std::vector<long> inner = key(floor.of);
    result.insert(result.end(), inner.begin(), inner.end());
  }
  return result;
}

void add_floor(Affine& sum, long multiple, Affine of);

/// Adds  multiple * whole  to a sum.
void add_whole(Affine& sum, long multiple, const Affine& whole) {
  for (size_t i = 0; i < sum.coefficients.size(); ++i) {
    sum.coefficients[i] += multiple * whole.coefficients[i];
  }
  sum.constant += multiple * whole.constant;
  for (const Affine::Floor& floor : whole.floors) {
    add_floor(sum, multiple * floor.coefficient, floor.of);
  }
}

/// Splits the numerator of a floor into the divisor times what is returned, and the rest.
Affine take_whole(Affine& of) {
  Affine whole = of;
  whole.divisor = 1;
  auto divide = [&](long& out, long& in) {
    out = floor_divide(in, of.divisor);
    in -= out * of.divisor;
  };
  for (size_t i = 0; i < of.coefficients.size(); ++i) {
    divide(whole.coefficients[i], of.coefficients[i]);
  }
  divide(whole.constant, of.constant);
  for (size_t k = 0; k < of.floors.size(); ++k) {
    divide(whole.floors[k].coefficient, of.floors[k].coefficient);
  }
  std::erase_if(of.floors, [](const Affine::Floor& f) { return f.coefficient == 0; });
  std::erase_if(whole.floors, [](const Affine::Floor& f) { return f.coefficient == 0; });
  return whole;
}

/// Divides numerator and divisor of a floor by what they have in common.
void cancel(Affine& of) {
  long common = of.divisor;
  for (long c : of.coefficients) common = std::gcd(common, c);
  for (const Affine::Floor& floor : of.floors) common = std::gcd(common, floor.coefficient);
  for (long& c : of.coefficients) c /= common;
  for (Affine::Floor& floor : of.floors) floor.coefficient /= common;
  of.constant = floor_divide(of.constant, common);
  of.divisor /= common;
}

/// Makes one floor of two where possible: (a + b / 3) / 2  is  (3*a + b) / 6.
void flatten(Affine& of) {
  for (size_t k = 0; k < of.floors.size(); ++k) {
    if (of.floors[k].coefficient != 1) continue;
    Affine inner = of.floors[k].of;
    of.floors.erase(of.floors.begin() + static_cast<long>(k));
    for (long& c : of.coefficients) c *= inner.divisor;
    for (Affine::Floor& floor : of.floors) floor.coefficient *= inner.divisor;
    of.constant *= inner.divisor;
    of.divisor *= inner.divisor;
    inner.divisor = 1;
    add_whole(of, 1, inner);
    return flatten(of);
  }
}

/// Adds  multiple * floor(of)  to a sum whose floors are normal.
void add_floor(Affine& sum, long multiple, Affine of) {
  normalise(of);
  flatten(of);
  add_whole(sum, multiple, take_whole(of));
  cancel(of);
  if (of.divisor == 1) return add_whole(sum, multiple, of);
  if (of.is_constant()) return;
  auto same = std::find_if(sum.floors.begin(), sum.floors.end(),
                           [&](const Affine::Floor& f) { return key(f.of) == key(of); });
  if (same == sum.floors.end()) {
    sum.floors.push_back({multiple, std::move(of)});
  } else if ((same->coefficient += multiple) == 0) {
    sum.floors.erase(same);
  }
}

void normalise(Affine& a) {
  std::vector<Affine::Floor> floors = std::move(a.floors);
  a.floors.clear();
  for (Affine::Floor& floor : floors) add_floor(a, floor.coefficient, std::move(floor.of));
  std::sort(a.floors.begin(), a.floors.end(),
            [](const Affine::Floor& x, const Affine::Floor& y) { return key(x.of) < key(y.of); });
}

}  // namespace

isl::space tuples(isl::ctx ctx, size_t dims) {
  return isl::manage(isl_space_set_alloc(ctx.get(), 0, static_cast<unsigned>(dims)));
}

size_t arity(const isl::set& set) {
  return static_cast<size_t>(isl_set_dim(set.get(), isl_dim_set));
}

size_t arity(const isl::multi_aff& function) {
  return static_cast<size_t>(isl_multi_aff_dim(function.get(), isl_dim_in));
}

isl::aff coordinate(const isl::space& domain, size_t i) {
  isl_local_space* local = isl_local_space_from_space(domain.copy());
  return isl::manage(isl_aff_var_on_domain(local, isl_dim_set, static_cast<unsigned>(i)));
}

isl::aff constant(const isl::space& domain, long value) {
  isl_val* v = isl_val_int_from_si(domain.ctx().get(), value);
  return isl::manage(isl_aff_val_on_domain_space(domain.copy(), v));
}

isl::aff quotient(const isl::aff& a, long factor) {
  return factor == 1 ? a : a.scale_down(factor).floor();
}

isl::aff remainder(const isl::aff& a, long factor) { return a.mod(factor); }

isl::multi_aff tuple(const isl::space& domain, const std::vector<isl::aff>& parts) {
  isl_ctx* ctx = domain.ctx().get();
  isl_aff_list* list = isl_aff_list_alloc(ctx, static_cast<int>(parts.size()));
  for (const isl::aff& part : parts) list = isl_aff_list_add(list, part.copy());
  isl_space* range = isl_space_set_alloc(ctx, 0, static_cast<unsigned>(parts.size()));
  isl_space* map = isl_space_map_from_domain_and_range(domain.copy(), range);
  return isl::manage(isl_multi_aff_from_aff_list(map, list));
}

isl::multi_aff identity(const isl::space& domain) {
  return isl::manage(isl_multi_aff_identity_on_domain_space(domain.copy()));
}

std::vector<isl::aff> parts(const isl::multi_aff& function) {
  std::vector<isl::aff> result;
  for (unsigned i = 0; i < function.size(); ++i) result.push_back(function.at(static_cast<int>(i)));
  return result;
}

isl::set box(isl::ctx ctx, const std::vector<long>& extents) {
  auto dims = static_cast<unsigned>(extents.size());
  isl_mat* equalities = isl_mat_alloc(ctx.get(), 0, dims + 1);
  isl_mat* bounds = isl_mat_alloc(ctx.get(), 2 * dims, dims + 1);
  for (unsigned row = 0; row < 2 * dims; ++row) {
    for (unsigned column = 0; column <= dims; ++column) {
      bounds = isl_mat_set_element_si(bounds, static_cast<int>(row), static_cast<int>(column), 0);
    }
  }
  for (unsigned i = 0; i < dims; ++i) {
    int lower = static_cast<int>(2 * i), upper = lower + 1, column = static_cast<int>(i);
    int constant = static_cast<int>(dims);
    bounds = isl_mat_set_element_si(bounds, lower, column, 1);
    bounds = isl_mat_set_element_si(bounds, upper, column, -1);
    bounds = isl_mat_set_element_si(bounds, upper, constant, static_cast<int>(extents[i] - 1));
  }
  isl_basic_set* result =
      isl_basic_set_from_constraint_matrices(tuples(ctx, dims).release(), equalities, bounds,
                                             isl_dim_set, isl_dim_div, isl_dim_param, isl_dim_cst);
  return isl::manage(isl_set_from_basic_set(result));
}

bool same(const isl::aff& a, const isl::aff& b) {
  return isl_aff_plain_is_equal(a.get(), b.get()) == isl_bool_true;
}

bool Affine::is_constant() const {
  return floors.empty() &&
         std::all_of(coefficients.begin(), coefficients.end(), [](long c) { return c == 0; });
}

Affine take_apart(const isl::aff& a) {
  Affine result = as_written(a);
  if (!result.floors.empty()) normalise(result);
  return result;
}

long evaluate(const Affine& a, std::span<const long> x) {
  long sum = a.constant;
  for (size_t i = 0; i < a.coefficients.size(); ++i) sum += a.coefficients[i] * x[i];
  for (const Affine::Floor& floor : a.floors) sum += floor.coefficient * evaluate(floor.of, x);
  return floor_divide(sum, a.divisor);
}

std::vector<bool> involved(const Affine& a) {
  std::vector<bool> marks(a.coefficients.size(), false);
  mark_involved(a, marks);
  return marks;
}

bool involves(const isl::aff& a, size_t coordinate) {
  return isl_aff_involves_dims(a.get(), isl_dim_in, static_cast<unsigned>(coordinate), 1) ==
         isl_bool_true;
}

bool involves(const isl::multi_aff& function, size_t coordinate) {
  return isl_multi_aff_involves_dims(function.get(), isl_dim_in, static_cast<unsigned>(coordinate),
                                     1) == isl_bool_true;
}

std::string text(const Affine& a, std::span<const std::string> names) {
  std::string numerator = numerator_text(a, names);
  return a.divisor == 1 ? numerator : fmt::format("({}) / {}", numerator, a.divisor);
}

std::string text(const isl::aff& a, std::span<const std::string> names) {
  return text(take_apart(a), names);
}

}  // namespace lathe::poly
