// affine.cpp: isl's quasi-affine functions, built, taken apart and printed. Interface: affine.h.
#include "poly/affine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"

namespace lathe::poly {
namespace {

long to_long(isl_val* owned) {
  isl::val value = isl::manage(owned);
  return isl_val_get_num_si(value.get());
}

long coefficient(const isl::aff& a, isl_dim_type type, size_t i, long divisor) {
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
    result.floors.push_back({c, take_apart(of)});
  }
  isl_val* value = isl_aff_get_constant_val(a.get());
  result.constant = to_long(isl_val_mul_ui(value, static_cast<unsigned long>(result.divisor)));
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
