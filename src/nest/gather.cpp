// gather.cpp: overlapping sums, one element at a time. Interface: gather.h.
#include "nest/gather.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/error.h"

namespace lathe {
namespace {

long floor_divided(long a, long b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

struct Term {
  size_t coordinate;
  long coefficient;
};

class Gatherer {
 public:
  Gatherer(const std::vector<long>& shape, size_t factor, const std::vector<long>& factor_shape)
      : shape_(shape), factor_(factor), factor_shape_(factor_shape) {}

  std::vector<Statement> run(const Statement& s) {
    visit(s, 0);
    return std::move(result_);
  }

 private:
  const std::vector<long>& shape_;
  size_t factor_;
  const std::vector<long>& factor_shape_;
  std::vector<Statement> result_;

  /// Deals with dimensions "d" and following of what a statement writes.
  void visit(const Statement& s, size_t d) {
    if (d == shape_.size()) {
      result_.push_back(without_units(s));
      return;
    }
    if (!poly::is_box_from_zero(s.domain)) {
      keep_inside(s, d);
      return;
    }
    poly::Affine index = poly::take_apart(s.write.at.at(static_cast<int>(d)));
    if (!index.is_linear()) {
      split_or_keep(s, d, index);
      return;
    }
    std::vector<Term> terms;
    for (size_t i = 0; i < index.coefficients.size(); ++i) {
      if (index.coefficients[i] < 0) {
        visit(reversed(s, i), d);
        return;
      }
      if (index.coefficients[i] > 0) terms.push_back({i, index.coefficients[i]});
    }
    if (terms.empty()) {
      if (index.constant >= 0 && index.constant < shape_[d]) visit(s, d + 1);
    } else if (terms.size() == 1) {
      clip(s, d, terms[0], index.constant);
    } else if (auto windows = overlap(s, terms)) {
      turn(s, d, (*windows)[0], (*windows)[1], index.constant);
    } else {
      keep_inside(s, d);
    }
  }

  static std::vector<long> extents_of(const Statement& s) {
    std::vector<long> result;
    const auto sides = poly::sides(s.domain);
    for (const poly::Interval& side : *sides) result.push_back(side.size());
    return result;
  }

  /// Returns the statement whose coordinates are given by new ones.
  static Statement changed(const Statement& s, const std::vector<isl::aff>& old,
                           const std::vector<long>& extents, std::vector<std::string> names) {
    Statement result = s;
    result.domain = poly::box(s.domain.ctx(), extents);
    isl::space space = result.domain.space();
    isl::multi_aff function = poly::tuple(space, old);
    auto moved = [&](const isl::multi_aff& at) {
      return poly::simplified(at.pullback(function), result.domain);
    };
    result.dims = std::move(names);
    result.write.at = moved(s.write.at);
    for (Access& read : result.reads) read.at = moved(read.at);
    result.origin = {s.name, poly::identity(space)};
    return result;
  }

  static std::vector<isl::aff> coordinates(const Statement& s, size_t count) {
    isl::space space = poly::tuples(s.domain.ctx(), count);
    std::vector<isl::aff> result;
    for (size_t i = 0; i < count; ++i) result.push_back(poly::coordinate(space, i));
    return result;
  }

  static Statement reversed(const Statement& s, size_t i) {
    std::vector<long> extents = extents_of(s);
    std::vector<isl::aff> old = coordinates(s, extents.size());
    old[i] = old[i].neg().add_constant(extents[i] - 1);
    return changed(s, old, extents, s.dims);
  }

  /// Keeps the instances that write inside, whatever shape their domain gets.
  void keep_inside(Statement s, size_t d) {
    isl::aff index = s.write.at.at(static_cast<int>(d));
    isl::space space = s.domain.space();
    poly::Interval reach = poly::range(s.domain, index);
    if (reach.lower < 0 || reach.upper >= shape_[d]) {
      s.domain = poly::boxed(s.domain.intersect(index.ge_set(poly::constant(space, 0)))
                                 .intersect(index.lt_set(poly::constant(space, shape_[d]))));
    }
    if (!s.domain.is_empty()) visit(s, d + 1);
  }

  /// Takes a floor apart: of x / k with x = k*q + r only q is left.
  void split_or_keep(const Statement& s, size_t d, const poly::Affine& index) {
    for (const poly::Affine::Floor& floor : index.floors) {
      const poly::Affine& of = floor.of;
      auto used = std::find_if(of.coefficients.begin(), of.coefficients.end(),
                               [](long c) { return c != 0; });
      if (used == of.coefficients.end() || !of.floors.empty() || of.constant != 0) continue;
      auto x = static_cast<size_t>(used - of.coefficients.begin());
      bool alone = std::all_of(used + 1, of.coefficients.end(), [](long c) { return c == 0; });
      std::vector<long> extents = extents_of(s);
      if (!alone || *used != 1 || extents[x] % of.divisor != 0) continue;
      std::vector<std::string> names = s.dims;
      names.insert(names.begin() + static_cast<long>(x) + 1, s.dims[x] + ".i");
      extents[x] /= of.divisor;
      extents.insert(extents.begin() + static_cast<long>(x) + 1, of.divisor);
      std::vector<isl::aff> fresh = coordinates(s, extents.size()), old = fresh;
      old.erase(old.begin() + static_cast<long>(x) + 1);
      old[x] = fresh[x].scale(of.divisor).add(fresh[x + 1]);
      visit(changed(s, old, extents, names), d);
      return;
    }
    keep_inside(s, d);
  }

  /// Drops the instances of one coordinate that write outside.
  void clip(const Statement& s, size_t d, const Term& term, long constant) {
    std::vector<long> extents = extents_of(s);
    long& extent = extents[term.coordinate];
    long first = std::max(0L, -floor_divided(constant, term.coefficient));
    long last = std::min(extent - 1, floor_divided(shape_[d] - 1 - constant, term.coefficient));
    if (last < first) return;
    if (first == 0 && last == extent - 1) {
      visit(s, d + 1);
      return;
    }
    extent = last - first + 1;
    std::vector<isl::aff> old = coordinates(s, extents.size());
    old[term.coordinate] = old[term.coordinate].add_constant(first);
    visit(changed(s, old, extents, s.dims), d + 1);
  }

  /// Returns the position and the window's element, if two coordinates reach the same elements and
  /// the position is an index of the factor by itself.
  std::optional<std::array<Term, 2>> overlap(const Statement& s, std::vector<Term> terms) const {
    if (terms.size() != 2) return std::nullopt;
    std::vector<long> extents = extents_of(s);
    auto reach = [&](const Term& t) { return t.coefficient * (extents[t.coordinate] - 1); };
    if (terms[0].coefficient > reach(terms[1]) || terms[1].coefficient > reach(terms[0])) {
      return std::nullopt;  // each element is reached once
    }
    auto is_position = [&](const Term& t) {
      for (size_t i = 0; i < factor_shape_.size(); ++i) {
        isl::aff index = s.reads[factor_].at.at(static_cast<int>(i));
        if (!poly::same(index, poly::coordinate(s.domain.space(), t.coordinate))) continue;
        if (factor_shape_[i] == extents[t.coordinate]) return true;
      }
      return false;
    };
    if (extents[terms[0].coordinate] < extents[terms[1].coordinate]) std::swap(terms[0], terms[1]);
    if (is_position(terms[0])) return std::array{terms[0], terms[1]};
    if (is_position(terms[1])) return std::array{terms[1], terms[0]};
    return std::nullopt;
  }

  /// Turns a window around, for each remainder of what it writes by its stride: element
  /// i = stride*q + rest is written by window elements first, first + step, ..., each of another
  /// position.
  void turn(const Statement& s, size_t d, const Term& position, const Term& window, long constant) {
    long stride = position.coefficient, dilation = window.coefficient;
    long common = std::gcd(stride, dilation), step = stride / common;
    std::vector<long> extents = extents_of(s);
    long elements = extents[window.coordinate];
    for (long rest = 0; rest < std::min(stride, shape_[d]); ++rest) {
      long first = 0;
      while (first < step && (rest - constant - dilation * first) % stride != 0) ++first;
      if (first == step || first >= elements) continue;
      long count = (elements - 1 - first) / step + 1;
      std::vector<long> sizes = extents;
      sizes[position.coordinate] = (shape_[d] - rest + stride - 1) / stride;
      sizes[window.coordinate] = count;
      std::vector<isl::aff> fresh = coordinates(s, sizes.size()), old = fresh;
      const isl::aff &q = fresh[position.coordinate], &k = fresh[window.coordinate];
      // The last element comes first: positions then grow with the window's elements.
      old[window.coordinate] = k.scale(-step).add_constant(first + step * (count - 1));
      long shift = (rest - constant - dilation * first) / stride;
      long slope = dilation / common;
      old[position.coordinate] = q.add(k.scale(slope)).add_constant(shift - slope * (count - 1));
      visit(changed(s, old, sizes, s.dims), d + 1);
    }
  }
};

}  // namespace

std::vector<Statement> gathered(const Statement& s, const std::vector<long>& shape, size_t factor,
                                const std::vector<long>& factor_shape) {
  return Gatherer(shape, factor, factor_shape).run(s);
}

}  // namespace lathe
