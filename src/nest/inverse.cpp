// inverse.cpp: from the iterations of loops back to instances. Interface: inverse() of nest.h.
//
// isl inverts most schedules as a whole. Where it needs several pieces (fused loops of two
// iterations), each coordinate is looked for alone: by its digits in the loops, or by isl.
#include <algorithm>
#include <set>

#include "nest/nest.h"

namespace lathe {
namespace {

/// Returns a single-valued relation as one function, if isl finds it.
std::optional<isl::multi_aff> one_piece(const isl::map& relation) {
  std::optional<isl::multi_aff> result;
  isl::pw_multi_aff pieces = relation.coalesce().as_pw_multi_aff();
  if (pieces.n_piece() != 1) return result;
  pieces.foreach_piece([&](isl::set, isl::multi_aff piece) { result = piece; });
  return result;
}

/// Inverts loops that are the coordinates, in any order.
std::optional<isl::multi_aff> permutation(const Statement& s, const std::vector<Loop>& loops) {
  if (loops.size() != s.dims.size()) return std::nullopt;
  isl::space space = poly::tuples(s.domain.ctx(), loops.size());
  std::vector<isl::aff> coordinates;
  for (size_t i = 0; i < s.dims.size(); ++i) {
    isl::aff wanted = poly::coordinate(s.domain.space(), i);
    size_t l = 0;
    while (l < loops.size() && !poly::same(loops[l].value, wanted)) ++l;
    if (l == loops.size()) return std::nullopt;
    coordinates.push_back(poly::coordinate(space, l));
  }
  return poly::tuple(space, coordinates);
}

/// What is known of an instance: a function of its coordinates as one of the loops.
struct Number {
  isl::aff value, loops;
};

size_t count_floors(const isl::aff& a) { return poly::take_apart(a).floors.size(); }

/// If the two are  v / c  and  v % c,  returns v.
std::optional<Number> whole(const Number& high, const Number& low) {
  size_t floors = count_floors(high.value) + count_floors(low.value);
  for (const poly::Affine::Floor& floor : poly::take_apart(high.value).floors) {
    long c = floor.of.divisor;
    Number both{high.value.scale(c).add(low.value), high.loops.scale(c).add(low.loops)};
    if (count_floors(both.value) + 1 < floors) return both;
  }
  return std::nullopt;
}

/// Puts together what splits took apart.
std::vector<Number> unsplit(std::vector<Number> numbers) {
  for (size_t a = 0; a < numbers.size(); ++a) {
    for (size_t b = 0; b < numbers.size(); ++b) {
      auto both = a == b ? std::nullopt : whole(numbers[a], numbers[b]);
      if (!both) continue;
      numbers[a] = *both;
      numbers.erase(numbers.begin() + static_cast<long>(b));
      return unsplit(std::move(numbers));
    }
  }
  return numbers;
}

/// coordinate / unit % extent
struct Digit {
  size_t coordinate;
  long unit, extent;
};

/// A digit in a loop's value, and what it is multiplied with there.
struct Term {
  long weight;
  size_t digit;
  bool operator<(const Term& b) const { return weight < b.weight; }
};

/// If a floor is  x / c  of one coordinate: which one?
std::optional<size_t> divided_coordinate(const poly::Affine& of) {
  std::optional<size_t> found;
  if (of.constant != 0 || !of.floors.empty()) return std::nullopt;
  for (size_t i = 0; i < of.coefficients.size(); ++i) {
    if (of.coefficients[i] == 0) continue;
    if (found || of.coefficients[i] != 1) return std::nullopt;
    found = i;
  }
  return found;
}

/// Reads numbers whose digits are those of the coordinates: k % 2 * 2 + k / 2 has the
/// digits of k, in the other order.
class Digits {
 public:
  Digits(const isl::set& domain, const std::vector<Number>& numbers)
      : numbers_(numbers), units_(poly::arity(domain)) {
    for (const Number& number : numbers) values_.push_back(poly::take_apart(number.value));
    if (!collect_units()) return;
    for (size_t i = 0; i < units_.size(); ++i) add_digits(i, poly::range(domain, i).upper);
    for (const poly::Affine& value : values_) terms_.push_back(terms_of(value));
  }

  /// Returns coordinate "i", if the numbers tell all its digits.
  std::optional<isl::aff> coordinate(size_t i, const isl::space& loops) const {
    isl::aff sum = poly::constant(loops, 0);
    for (size_t d = 0; d < digits_.size(); ++d) {
      if (digits_[d].coordinate != i) continue;
      auto value = digit(d, loops);
      if (!value) return std::nullopt;
      sum = sum.add(value->scale(digits_[d].unit));
    }
    return digits_.empty() ? std::nullopt : std::optional(sum);
  }

 private:
  std::vector<Number> numbers_;
  std::vector<poly::Affine> values_;
  std::vector<std::set<long>> units_;     // of each coordinate
  std::vector<Digit> digits_;             // empty if the loops are no such numbers
  std::vector<std::vector<Term>> terms_;  // of each loop, ascending; none if it is no such number

  bool collect_units() {
    for (std::set<long>& units : units_) units.insert(1);
    for (const poly::Affine& value : values_) {
      for (const poly::Affine::Floor& floor : value.floors) {
        auto of = divided_coordinate(floor.of);
        if (!of) return false;
        units_[*of].insert(floor.of.divisor);
      }
    }
    return true;
  }

  void add_digits(size_t i, long most) {
    for (auto unit = units_[i].begin(); unit != units_[i].end(); ++unit) {
      auto next = std::next(unit);
      long extent = next == units_[i].end() ? most / *unit + 1 : *next / *unit;
      digits_.push_back({i, *unit, std::min(extent, most / *unit + 1)});
    }
  }

  /// Each digit must fit below the next, and each weight divide the next.
  std::vector<Term> terms_of(const poly::Affine& value) const {
    std::vector<Term> terms;
    long weight = 0;
    for (size_t d = 0; d < digits_.size(); ++d) {
      auto [i, unit, extent] = digits_[d];
      weight = unit == 1 ? value.coefficients[i] : weight * (unit / digits_[d - 1].unit);
      for (const poly::Affine::Floor& floor : value.floors) {
        bool own = unit > 1 && floor.of.divisor == unit && floor.of.coefficients[i] == 1;
        if (own) weight += floor.coefficient;
      }
      if (weight != 0 && extent > 1) terms.push_back({weight, d});
    }
    std::sort(terms.begin(), terms.end());
    bool number = value.constant == 0 && (terms.empty() || terms.front().weight > 0);
    for (size_t k = 0; k + 1 < terms.size(); ++k) {
      long end = terms[k].weight * digits_[terms[k].digit].extent;
      number = number && end <= terms[k + 1].weight && terms[k + 1].weight % terms[k].weight == 0;
    }
    return number ? terms : std::vector<Term>();
  }

  std::optional<isl::aff> digit(size_t d, const isl::space& loops) const {
    if (digits_[d].extent == 1) return poly::constant(loops, 0);
    for (size_t l = 0; l < terms_.size(); ++l) {
      for (size_t k = 0; k < terms_[l].size(); ++k) {
        if (terms_[l][k].digit != d) continue;
        isl::aff above = poly::quotient(numbers_[l].loops, terms_[l][k].weight);
        if (k + 1 == terms_[l].size()) return above;
        return poly::remainder(above, terms_[l][k + 1].weight / terms_[l][k].weight);
      }
    }
    return std::nullopt;
  }
};

/// Returns coordinate "i" of what the relation maps to, if isl finds one function for it.
std::optional<isl::aff> alone(const isl::map& relation, size_t i) {
  isl_map* one = relation.copy();
  for (auto k = static_cast<size_t>(isl_map_dim(relation.get(), isl_dim_out)); k-- > 0;) {
    if (k != i) one = isl_map_project_out(one, isl_dim_out, static_cast<unsigned>(k), 1);
  }
  auto found = one_piece(isl::manage(one));
  return found ? std::optional(found->at(0)) : std::nullopt;
}

}  // namespace

std::optional<isl::multi_aff> inverse(const Statement& s, const std::vector<Loop>& loops) {
  if (auto simple = permutation(s, loops)) return simple;
  std::vector<isl::aff> values, coordinates;
  for (const Loop& loop : loops) values.push_back(loop.value);
  isl::map times = poly::tuple(s.domain.space(), values).as_map();
  isl::map relation = times.intersect_domain(s.domain).reverse();
  if (!relation.is_single_valued()) return std::nullopt;
  if (auto whole = one_piece(relation)) return whole;
  isl::space space = poly::tuples(s.domain.ctx(), loops.size());
  std::vector<Number> numbers;
  for (const isl::aff& value : values) {
    numbers.push_back({value, poly::coordinate(space, numbers.size())});
  }
  Digits digits(s.domain, unsplit(std::move(numbers)));
  for (size_t i = 0; i < s.dims.size(); ++i) {
    auto coordinate = digits.coordinate(i, space);
    if (!coordinate) coordinate = alone(relation, i);
    if (!coordinate) return std::nullopt;
    coordinates.push_back(*coordinate);
  }
  return poly::tuple(space, coordinates);
}

}  // namespace lathe
