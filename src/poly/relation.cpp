// relation.cpp: bounds, samples and constraints of integer sets. Interface: relation.h; counting
// is in count.cpp.
#include "poly/relation.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "poly/linear.h"

namespace lathe::poly {
namespace {

constexpr long unbounded = std::numeric_limits<long>::max();

long to_long(isl_val* owned) {
  isl::val value = isl::manage(owned);
  check(isl_val_is_int(value.get()) == isl_bool_true, "a bound of a bounded set is an integer");
  return isl_val_get_num_si(value.get());
}

long ceil_divide(long a, long b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }
long floor_divide(long a, long b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

/// Returns the constraints of a set in one piece, without floors; nothing if it is none.
std::optional<std::vector<Constraint>> linear_constraints(const isl::set& set) {
  if (isl_set_n_basic_set(set.get()) != 1) return std::nullopt;
  if (isl_set_involves_locals(set.get()) == isl_bool_true) return std::nullopt;
  return constraints(set).front();
}

/// Narrows "sides" by  c*x[i] + k >= 0  (or = 0). False if the constraint couples coordinates.
bool narrow(const Constraint& constraint, std::vector<Interval>& sides) {
  const Affine& e = constraint.expression;
  if (!e.floors.empty()) return false;
  size_t at = e.coefficients.size();
  for (size_t i = 0; i < e.coefficients.size(); ++i) {
    if (e.coefficients[i] == 0) continue;
    if (at != e.coefficients.size()) return false;
    at = i;
  }
  if (at == e.coefficients.size()) return false;
  long c = e.coefficients[at], k = e.constant;
  if (constraint.equality) {
    if (k % c != 0) return false;
    sides[at].lower = std::max(sides[at].lower, -k / c);
    sides[at].upper = std::min(sides[at].upper, -k / c);
  } else if (c > 0) {
    sides[at].lower = std::max(sides[at].lower, ceil_divide(-k, c));
  } else {
    sides[at].upper = std::min(sides[at].upper, floor_divide(k, -c));
  }
  return true;
}

/// Does the constraint, which is linear, couple several coordinates?
bool couples(const Constraint& constraint) {
  const Affine& e = constraint.expression;
  auto zeros = std::count(e.coefficients.begin(), e.coefficients.end(), 0L);
  return e.is_linear() && zeros + 1 < static_cast<long>(e.coefficients.size());
}

/// Returns the range of a linear function on a box.
Interval range_on_box(const Affine& linear, const std::vector<Interval>& box_sides) {
  Interval result{linear.constant, linear.constant};
  for (size_t i = 0; i < box_sides.size(); ++i) {
    long c = linear.coefficients[i];
    result.lower += c * (c > 0 ? box_sides[i].lower : box_sides[i].upper);
    result.upper += c * (c > 0 ? box_sides[i].upper : box_sides[i].lower);
  }
  return result;
}

/// Takes  factor * (e - d*(e / d)), the remainder of a linear function, out of "a", which has such
/// a floor. Returns its range; nothing if it is not there.
std::optional<Interval> take_remainder(Affine& a, const Affine::Floor& floor) {
  const Affine& e = floor.of;
  if (!e.floors.empty() || floor.coefficient > 0 || floor.coefficient % e.divisor != 0) {
    return std::nullopt;
  }
  long factor = -floor.coefficient / e.divisor;
  for (size_t i = 0; i < e.coefficients.size(); ++i) {
    if (e.coefficients[i] != 0 && a.coefficients[i] != factor * e.coefficients[i]) {
      return std::nullopt;
    }
  }
  for (size_t i = 0; i < e.coefficients.size(); ++i)
    a.coefficients[i] -= factor * e.coefficients[i];
  a.constant -= factor * e.constant;
  return Interval{0, factor * (e.divisor - 1)};
}

/// Returns bounds of a function on a box; those of quotients and remainders are exact.
Interval reach_on_box(const Affine& a, const std::vector<Interval>& box_sides) {
  Affine left = a;
  Interval floors{0, 0};
  for (const Affine::Floor& floor : a.floors) {
    std::optional<Interval> range = take_remainder(left, floor);
    if (!range) {
      Interval of = reach_on_box(floor.of, box_sides);
      long c = floor.coefficient;
      range = c > 0 ? Interval{c * of.lower, c * of.upper} : Interval{c * of.upper, c * of.lower};
    }
    floors = {floors.lower + range->lower, floors.upper + range->upper};
  }
  Interval linear = range_on_box(left, box_sides);
  return {floor_divide(linear.lower + floors.lower, a.divisor),
          floor_divide(linear.upper + floors.upper, a.divisor)};
}

/// A box, or what constraints leave of one such that each side is still as long.
struct CutBox {
  std::vector<Interval> sides;
  bool is_plain;  // no constraint couples coordinates
  bool is_cut;    // one that does is not met everywhere
};

/// Does the constraint hold somewhere at each end of the sides of the coordinates that it couples?
bool leaves_sides(const Affine& e, const std::vector<Interval>& sides) {
  for (size_t i = 0; i < sides.size(); ++i) {
    if (e.coefficients[i] == 0) continue;
    for (long end : {sides[i].lower, sides[i].upper}) {
      std::vector<Interval> others = sides;
      others[i] = {end, end};
      if (range_on_box(e, others).upper < 0) return false;
    }
  }
  return true;
}

/// Looks at a set as a box that is cut by inequalities of which no two have a coordinate in common,
/// as the rests of splits do: what isl would find out by solving programs. Nothing if it is none.
std::optional<CutBox> cut_box(const isl::set& set) {
  auto conditions = linear_constraints(set);
  if (!conditions) return std::nullopt;
  CutBox result{std::vector<Interval>(arity(set), {-unbounded, unbounded}), true, false};
  std::vector<Constraint> coupling;
  for (const Constraint& constraint : *conditions) {
    if (couples(constraint) && !constraint.equality) {
      coupling.push_back(constraint);
      result.is_plain = false;
    } else if (!narrow(constraint, result.sides)) {
      return std::nullopt;
    }
  }
  for (const Interval& side : result.sides) {
    if (side.lower == -unbounded || side.upper == unbounded || side.size() < 1) return std::nullopt;
  }
  std::vector<bool> taken(result.sides.size(), false);
  for (const Constraint& constraint : coupling) {
    const Affine& e = constraint.expression;
    if (range_on_box(e, result.sides).lower >= 0) continue;
    for (size_t i = 0; i < taken.size(); ++i) {
      if (e.coefficients[i] == 0) continue;
      if (taken[i]) return std::nullopt;
      taken[i] = true;
    }
    if (!leaves_sides(e, result.sides)) return std::nullopt;
    result.is_cut = true;
  }
  return result;
}

/// Puts "value" in the place of coordinate "i" of "a".
void substitute(Affine& a, size_t i, const Affine& value) {
  long times = std::exchange(a.coefficients[i], 0);
  for (size_t k = 0; times != 0 && k < a.coefficients.size(); ++k) {
    a.coefficients[k] += times * value.coefficients[k];
  }
  a.constant += times * value.constant;
  for (Affine::Floor& floor : a.floors) substitute(floor.of, i, value);
}

/// Solves an equality for a coordinate that it has once; nothing if there is none.
std::optional<std::pair<size_t, Affine>> solved(const Constraint& constraint) {
  const Affine& e = constraint.expression;
  if (!constraint.equality || !e.is_linear()) return std::nullopt;
  for (size_t i = 0; i < e.coefficients.size(); ++i) {
    if (std::abs(e.coefficients[i]) != 1) continue;
    Affine value = constant_of(e.coefficients.size(), 0);
    value = plus(value, e, -e.coefficients[i]);
    value.coefficients[i] = 0;
    return std::pair(i, value);
  }
  return std::nullopt;
}

/// A set in one piece and a function on it, in which coordinates that equal others are replaced by
/// them: in most pairs of instances that touch one element, some do.
struct Reduced {
  std::vector<Constraint> conditions;
  Affine function;
  std::vector<bool> replaced;  // coordinates that nothing depends on any more
};

std::optional<Reduced> reduced(const isl::set& set, const isl::aff& a) {
  auto conditions = linear_constraints(set);
  if (!conditions) return std::nullopt;
  Reduced result{*conditions, take_apart(a), std::vector<bool>(arity(set), false)};
  if (result.function.divisor != 1) return std::nullopt;
  for (size_t c = 0; c < result.conditions.size(); ++c) {
    auto found = solved(result.conditions[c]);
    if (!found) continue;
    auto [i, value] = *found;
    for (Constraint& other : result.conditions) substitute(other.expression, i, value);
    substitute(result.function, i, value);
    result.replaced[i] = true;
  }
  // Floors that are equal now become one.
  result.function = plus(constant_of(arity(set), 0), result.function);
  return result;
}

/// Returns the range of the function if what is left of the set is a box; nothing otherwise.
std::optional<Interval> range_on_rest(const Reduced& r) {
  std::vector<Interval> box_sides(r.replaced.size(), {-unbounded, unbounded});
  for (const Constraint& constraint : r.conditions) {
    if (constraint.expression.is_constant()) {
      long value = constraint.expression.constant;
      if (constraint.equality ? value != 0 : value < 0) return std::nullopt;
    } else if (!narrow(constraint, box_sides)) {
      return std::nullopt;
    }
  }
  for (size_t i = 0; i < box_sides.size(); ++i) {
    Interval& side = box_sides[i];
    if (r.replaced[i]) side = {0, 0};
    if (side.lower == -unbounded || side.upper == unbounded || side.size() < 1) return std::nullopt;
  }
  Interval reach = reach_on_box(r.function, box_sides);
  if (r.function.is_linear() || reach.size() == 1) return reach;
  return std::nullopt;
}

isl::aff rebuilt(const Affine& a, const isl::space& space, const std::vector<Interval>& hull);

/// Builds  floor(a)  again: multiples of the divisor leave it, and what stays inside may be
/// constant.
isl::aff rebuilt_floor(const Affine& a, const isl::space& space,
                       const std::vector<Interval>& hull) {
  Affine outside = a, inside = a;
  outside.floors.clear();
  outside.divisor = inside.divisor = 1;
  auto divide = [&](long& out, long& in) {
    out = floor_divide(in, a.divisor);
    in -= out * a.divisor;
  };
  for (size_t i = 0; i < a.coefficients.size(); ++i) {
    divide(outside.coefficients[i], inside.coefficients[i]);
  }
  divide(outside.constant, inside.constant);
  isl::aff rest = constant(space, 0);
  Interval reach = inside.is_linear() ? range_on_box(inside, hull) : Interval{0, -1};
  long low = floor_divide(reach.lower, a.divisor), high = floor_divide(reach.upper, a.divisor);
  if (reach.size() > 0 && low == high) {
    rest = constant(space, low);
  } else {
    rest = quotient(rebuilt(inside, space, hull), a.divisor);
  }
  return rebuilt(outside, space, hull).add(rest);
}

/// Builds the function again without floors that are constant on the box.
isl::aff rebuilt(const Affine& a, const isl::space& space, const std::vector<Interval>& hull) {
  isl::aff sum = constant(space, a.constant);
  for (size_t i = 0; i < a.coefficients.size(); ++i) {
    if (a.coefficients[i] != 0) sum = sum.add(coordinate(space, i).scale(a.coefficients[i]));
  }
  for (const Affine::Floor& floor : a.floors) {
    sum = sum.add(rebuilt_floor(floor.of, space, hull).scale(floor.coefficient));
  }
  return a.divisor == 1 ? sum : sum.scale_down(a.divisor);
}

/// Adds the rows of a matrix, a coefficient for each coordinate and the constant, as constraints.
void collect_rows(isl_mat* rows, bool equality, std::vector<Constraint>& list) {
  int count = isl_mat_rows(rows), columns = isl_mat_cols(rows);
  for (int row = 0; row < count; ++row) {
    Affine a;
    for (int column = 0; column < columns; ++column) {
      a.coefficients.push_back(to_long(isl_mat_get_element_val(rows, row, column)));
    }
    a.constant = a.coefficients.back();
    a.coefficients.pop_back();
    list.push_back({std::move(a), equality});
  }
}

/// Collects the constraints of a piece without floors: all at once.
void collect_linear(const isl::basic_set& piece, std::vector<Constraint>& list) {
  isl_mat* equal = isl_basic_set_equalities_matrix(piece.get(), isl_dim_set, isl_dim_div,
                                                   isl_dim_param, isl_dim_cst);
  isl_mat* bounds = isl_basic_set_inequalities_matrix(piece.get(), isl_dim_set, isl_dim_div,
                                                      isl_dim_param, isl_dim_cst);
  collect_rows(equal, true, list);
  collect_rows(bounds, false, list);
  isl_mat_free(equal);
  isl_mat_free(bounds);
}

isl_stat collect_constraint(isl_constraint* owned, void* user) {
  auto& list = *static_cast<std::vector<Constraint>*>(user);
  bool equality = isl_constraint_is_equality(owned) == isl_bool_true;
  isl::aff expression = isl::manage(isl_constraint_get_aff(owned));
  isl_constraint_free(owned);
  list.push_back({take_apart(expression), equality});
  return isl_stat_ok;
}

isl_stat collect_piece(isl_basic_set* owned, void* user) {
  auto& pieces = *static_cast<std::vector<std::vector<Constraint>>*>(user);
  isl::basic_set piece = isl::manage(owned);
  pieces.emplace_back();
  if (isl_basic_set_dim(piece.get(), isl_dim_div) == 0) {
    collect_linear(piece, pieces.back());
  } else {
    isl_basic_set_foreach_constraint(piece.get(), collect_constraint, &pieces.back());
  }
  return isl_stat_ok;
}

}  // namespace

std::optional<std::vector<Interval>> sides(const isl::set& set) {
  auto conditions = linear_constraints(set);
  if (!conditions) return std::nullopt;
  std::vector<Interval> result(arity(set), {-unbounded, unbounded});
  for (const Constraint& constraint : *conditions) {
    if (!narrow(constraint, result)) return std::nullopt;
  }
  for (const Interval& side : result) {
    if (side.lower == -unbounded || side.upper == unbounded) return std::nullopt;
  }
  return result;
}

bool is_box_from_zero(const isl::set& set) {
  auto found = sides(set);
  return found && std::all_of(found->begin(), found->end(),
                              [](const Interval& side) { return side.lower == 0; });
}

bool is_box(const isl::set& set, const std::vector<long>& extents) {
  auto found = sides(set);
  for (size_t i = 0; found && i < extents.size(); ++i) {
    if ((*found)[i].lower != 0 || (*found)[i].upper != extents[i] - 1) return false;
  }
  return found.has_value();
}

Interval range(const isl::set& set, size_t i) {
  auto at = static_cast<int>(i);
  return {to_long(isl_set_dim_min_val(set.copy(), at)),
          to_long(isl_set_dim_max_val(set.copy(), at))};
}

Interval range(const isl::set& set, const isl::aff& a) {
  // isl solves integer programs for what can mostly be read off.
  auto by_hand = reduced(set, a);
  if (by_hand && by_hand->function.is_constant()) {
    return {by_hand->function.constant, by_hand->function.constant};
  }
  auto found = by_hand ? range_on_rest(*by_hand) : std::nullopt;
  if (found) return *found;
  return {to_long(isl_set_min_val(set.get(), a.get())),
          to_long(isl_set_max_val(set.get(), a.get()))};
}

std::optional<long> constant_on(const isl::set& set, const isl::aff& a) {
  auto by_hand = reduced(set, a);
  if (!by_hand || !by_hand->function.is_constant()) return std::nullopt;
  return by_hand->function.constant;
}

bool shows_zero(const isl::set& set, const isl::aff& a) {
  return same(a, constant(set.space(), 0)) || constant_on(set, a) == 0;
}

isl::set mapped_into(const isl::set& set, const isl::multi_aff& function, const isl::set& target) {
  auto from = sides(set), to = sides(target);
  bool linear = from && to;
  isl::set result = set;
  for (size_t i = 0; linear && i < to->size(); ++i) {
    isl::aff part = function.at(static_cast<int>(i));
    Affine a = take_apart(part);
    Interval reach = reach_on_box(a, *from), side = (*to)[i];
    if (reach.lower >= side.lower && reach.upper <= side.upper) continue;
    linear = a.is_linear();
    // Of the target's conditions only those count that are not always met.
    auto at = [&](long value) { return constant(set.space(), value); };
    if (reach.lower < side.lower) result = result.intersect(part.ge_set(at(side.lower)));
    if (reach.upper > side.upper) result = result.intersect(part.le_set(at(side.upper)));
  }
  return linear ? result : target.preimage(function).intersect(set);
}

isl::set coalesced(const isl::set& set) {
  isl::set result = set.coalesce();
  bool checked = isl_set_involves_locals(set.get()) == isl_bool_true;
  return !checked || result.is_subset(set) ? result : set;
}

isl::set boxed(const isl::set& set) {
  auto cut = cut_box(set);
  if (cut && (cut->is_plain || cut->is_cut)) return set;
  if (sides(set) || set.is_empty()) return set;
  std::vector<long> extents;
  for (size_t i = 0; i < arity(set); ++i) {
    Interval side = range(set, i);
    if (side.lower != 0) return coalesced(set);
    extents.push_back(side.size());
  }
  isl::set hull = box(set.ctx(), extents);
  return hull.is_subset(set) ? hull : coalesced(set);
}

isl::multi_aff simplified(const isl::multi_aff& function, const isl::set& set) {
  auto all = parts(function);
  bool floors =
      std::any_of(all.begin(), all.end(), [](const isl::aff& a) { return a.involves_locals(); });
  if (!floors || set.is_empty()) return function;
  std::vector<Interval> hull;
  if (auto cut = cut_box(set)) {
    hull = cut->sides;
  } else {
    for (size_t i = 0; i < arity(set); ++i) hull.push_back(range(set, i));
  }
  for (isl::aff& a : all) {
    if (a.involves_locals()) a = rebuilt(take_apart(a), set.space(), hull);
  }
  return tuple(set.space(), all);
}

std::optional<std::vector<long>> sample(const isl::set& set) {
  isl::set first = isl::manage(isl_set_lexmin(set.copy()));
  if (first.is_empty()) return std::nullopt;
  isl_point* point = isl_set_sample_point(first.release());
  std::vector<long> result;
  for (size_t i = 0; i < arity(set); ++i) {
    result.push_back(
        to_long(isl_point_get_coordinate_val(point, isl_dim_set, static_cast<int>(i))));
  }
  isl_point_free(point);
  return result;
}

std::vector<std::vector<Constraint>> constraints(const isl::set& set) {
  isl::set explicit_floors = isl::manage(isl_set_compute_divs(set.copy()));
  std::vector<std::vector<Constraint>> pieces;
  isl_set_foreach_basic_set(explicit_floors.get(), collect_piece, &pieces);
  return pieces;
}

bool contains(const std::vector<std::vector<Constraint>>& pieces, std::span<const long> x) {
  auto holds = [&](const Constraint& constraint) {
    long value = evaluate(constraint.expression, x);
    return constraint.equality ? value == 0 : value >= 0;
  };
  return std::any_of(pieces.begin(), pieces.end(), [&](const std::vector<Constraint>& piece) {
    return std::all_of(piece.begin(), piece.end(), holds);
  });
}

}  // namespace lathe::poly
