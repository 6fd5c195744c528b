// count.cpp: exact counting. Interface: count(), count_image() and count_union() of relation.h.
//
// isl's own count enumerates (seconds for a layer's instances). Here coordinates that share no
// constraint are counted apart and multiplied; only what is really coupled is enumerated.
#include <algorithm>
#include <numeric>
#include <set>

#include "base/error.h"
#include "poly/product.h"
#include "poly/relation.h"

namespace lathe::poly {
namespace {

/// Coordinates joined into classes: those in one class cannot be counted apart.
class Classes {
 public:
  explicit Classes(size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }

  size_t root(size_t i) const {
    while (parent_[i] != i) i = parent_[i];
    return i;
  }
  void join_all(const std::vector<bool>& members) {
    size_t first = members.size();
    for (size_t i = 0; i < members.size(); ++i) {
      if (!members[i]) continue;
      if (first == members.size()) first = i;
      parent_[root(i)] = root(first);
    }
  }
  std::vector<std::vector<size_t>> lists() const {
    std::vector<std::vector<size_t>> by_root(parent_.size()), result;
    for (size_t i = 0; i < parent_.size(); ++i) by_root[root(i)].push_back(i);
    for (auto& list : by_root) {
      if (!list.empty()) result.push_back(std::move(list));
    }
    return result;
  }

 private:
  std::vector<size_t> parent_;
};

/// Returns "set" with only the coordinates in "keep" (ascending).
isl::set project_onto(const isl::set& set, const std::vector<size_t>& keep) {
  isl_set* result = set.copy();
  for (size_t i = arity(set); i-- > 0;) {
    if (std::binary_search(keep.begin(), keep.end(), i)) continue;
    result = isl_set_project_out(result, isl_dim_set, static_cast<unsigned>(i), 1);
  }
  return isl::manage(result);
}

long enumerate(const isl::set& set) {
  isl::val n = isl::manage(isl_set_count_val(set.get()));
  check(isl_val_is_int(n.get()) == isl_bool_true, "only bounded sets are counted");
  return isl_val_get_num_si(n.get());
}

long volume(const std::vector<Interval>& box_sides) {
  long product = 1;
  for (const Interval& side : box_sides) product *= side.size();
  return product;
}

/// Counts one convex piece: the product over its classes of coordinates.
long count_piece(const isl::set& piece) {
  if (auto box_sides = sides(piece)) return volume(*box_sides);
  if (piece.is_empty()) return 0;
  Classes classes(arity(piece));
  for (const auto& list : constraints(piece)) {
    for (const Constraint& c : list) classes.join_all(involved(c.expression));
  }
  long product = 1;
  for (const auto& coordinates : classes.lists()) {
    isl::set part = project_onto(piece, coordinates);
    auto part_sides = sides(part);
    product *= part_sides ? volume(*part_sides) : enumerate(part);
  }
  return product;
}

isl_stat add_piece(isl_basic_set* owned, void* user) {
  isl::set piece = isl::manage(isl_set_from_basic_set(owned));
  *static_cast<long*>(user) += count_piece(piece);
  return isl_stat_ok;
}

/// Stands for the extent of a coordinate that is not known: no other digit fits below it.
constexpr long unknown_extent = 1L << 40;

/// The values  sum columns[j] * x[j]  for 0 <= x[j] < extents[j]: what is left to count.
struct Generators {
  std::vector<std::vector<long>> columns;
  std::vector<long> extents;

  void drop(const std::vector<size_t>& sorted) {
    for (size_t k = sorted.size(); k-- > 0;) {
      columns.erase(columns.begin() + static_cast<long>(sorted[k]));
      extents.erase(extents.begin() + static_cast<long>(sorted[k]));
    }
  }
};

/// Which coordinates does component "row" of the value determine? All those that it involves if
/// they are the digits of a mixed-radix number: 32*g + c with c < 32 gives g and c.
std::vector<size_t> digits(const Generators& g, size_t row) {
  std::vector<size_t> terms;
  for (size_t j = 0; j < g.columns.size(); ++j) {
    if (g.columns[j][row] != 0) terms.push_back(j);
  }
  std::vector<size_t> ascending = terms;
  std::sort(ascending.begin(), ascending.end(), [&](size_t a, size_t b) {
    return std::labs(g.columns[a][row]) < std::labs(g.columns[b][row]);
  });
  long reach = 0;
  for (size_t j : ascending) {
    long weight = std::labs(g.columns[j][row]);
    if (weight <= reach) return {};
    reach += weight * (g.extents[j] - 1);
  }
  return terms;
}

/// Enumerates the distinct values of generators that determine nothing.
long enumerate(const Generators& g) {
  size_t rows = g.columns.empty() ? 0 : g.columns.front().size();
  std::set<std::vector<long>> values{std::vector<long>(rows, 0)};
  for (size_t j = 0; j < g.columns.size(); ++j) {
    std::set<std::vector<long>> next;
    for (const auto& value : values) {
      std::vector<long> moved = value;
      for (long x = 0; x < g.extents[j]; ++x) {
        next.insert(moved);
        for (size_t r = 0; r < rows; ++r) moved[r] += g.columns[j][r];
      }
    }
    values = std::move(next);
  }
  return static_cast<long>(values.size());
}

/// Counts the values of one class of generators that share rows.
long count_class(Generators g) {
  long product = 1;
  size_t rows = g.columns.front().size();
  for (bool found = true; found;) {
    found = false;
    for (size_t row = 0; row < rows && !found; ++row) {
      std::vector<size_t> determined = digits(g, row);
      if (determined.empty()) continue;
      for (size_t j : determined) product *= g.extents[j];
      g.drop(determined);
      found = true;
    }
  }
  return product * enumerate(g);
}

/// Counts the values of a linear function on a box.
long count_linear(const std::vector<Interval>& box_sides, const std::vector<Affine>& rows) {
  Generators all;
  for (size_t i = 0; i < box_sides.size(); ++i) {
    if (box_sides[i].size() == 0) return 0;
    std::vector<long> column;
    for (const Affine& row : rows) column.push_back(row.coefficients[i]);
    bool used = std::any_of(column.begin(), column.end(), [](long c) { return c != 0; });
    if (!used || box_sides[i].size() == 1) continue;
    all.columns.push_back(std::move(column));
    all.extents.push_back(box_sides[i].size());
  }
  Classes classes(all.columns.size());
  for (size_t row = 0; row < rows.size(); ++row) {
    std::vector<bool> members;
    for (const auto& column : all.columns) members.push_back(column[row] != 0);
    classes.join_all(members);
  }
  long product = 1;
  for (const auto& list : classes.lists()) {
    Generators part;
    for (size_t j : list) {
      part.columns.push_back(all.columns[j]);
      part.extents.push_back(all.extents[j]);
    }
    product *= count_class(std::move(part));
  }
  return product;
}

/// Do the two images differ in the range of some component, so that they share no value?
bool apart(const Image& a, const Image& b) {
  for (unsigned i = 0; i < a.function.size(); ++i) {
    Interval x = range(a.set, a.function.at(static_cast<int>(i)));
    Interval y = range(b.set, b.function.at(static_cast<int>(i)));
    if (x.upper < y.lower || y.upper < x.lower) return true;
  }
  return false;
}

/// Returns the values of an image. What the function does not read is projected out first: the
/// rest is small, and isl's image of a small set is quick.
isl::set values(const Image& image) {
  std::vector<size_t> used;
  for (size_t i = 0; i < arity(image.set); ++i) {
    if (involves(image.function, i)) used.push_back(i);
  }
  isl::space reduced = tuples(image.set.ctx(), used.size());
  std::vector<isl::aff> embedding(arity(image.set), constant(reduced, 0));
  for (size_t k = 0; k < used.size(); ++k) embedding[used[k]] = coordinate(reduced, k);
  isl::multi_aff function = image.function.pullback(tuple(reduced, embedding));
  return project_onto(image.set, used).apply(function.as_map());
}

/// Are the two images written the same way?
bool same(const Image& a, const Image& b) {
  return arity(a.set) == arity(b.set) && a.function.plain_is_equal(b.function) &&
         a.set.is_equal(b.set);
}

}  // namespace

long count(const isl::set& set) {
  if (auto box_sides = sides(set)) return volume(*box_sides);
  isl::set disjoint = isl::manage(isl_set_make_disjoint(coalesced(set).release()));
  disjoint = isl::manage(isl_set_compute_divs(disjoint.release()));
  long total = 0;
  isl_set_foreach_basic_set(disjoint.get(), add_piece, &total);
  return total;
}

long count_image(const isl::set& set, const isl::multi_aff& function) {
  std::vector<Affine> rows;
  for (const isl::aff& part : parts(function)) rows.push_back(take_apart(part));
  bool linear =
      std::all_of(rows.begin(), rows.end(), [](const Affine& a) { return a.is_linear(); });
  if (auto box_sides = linear ? sides(set) : std::nullopt) {
    return count_linear(*box_sides, rows);
  }
  return count(values({set, function}));
}

std::vector<bool> determined(const isl::set& set, const isl::multi_aff& function) {
  std::vector<bool> result(arity(set), false);
  auto box_sides = sides(set);
  std::vector<Affine> rows;
  for (const isl::aff& part : parts(function)) rows.push_back(take_apart(part));
  Generators left;
  std::vector<size_t> coordinates;
  for (size_t i = 0; i < result.size(); ++i) {
    std::vector<long> column;
    for (const Affine& row : rows) column.push_back(row.coefficients[i]);
    left.columns.push_back(std::move(column));
    left.extents.push_back(box_sides ? (*box_sides)[i].size() : unknown_extent);
    coordinates.push_back(i);
  }
  for (bool found = true; found;) {
    found = false;
    for (size_t row = 0; row < rows.size() && !found; ++row) {
      if (!rows[row].is_linear()) continue;
      std::vector<size_t> now = digits(left, row);
      found = !now.empty();
      for (size_t k = now.size(); k-- > 0;) {
        result[coordinates[now[k]]] = true;
        coordinates.erase(coordinates.begin() + static_cast<long>(now[k]));
      }
      left.drop(now);
    }
  }
  return result;
}

long count_union(const std::vector<Image>& images) {
  std::vector<Image> distinct;
  for (const Image& image : images) {
    if (image.set.is_empty()) continue;
    bool known = std::any_of(distinct.begin(), distinct.end(),
                             [&](const Image& other) { return same(other, image); });
    if (!known) distinct.push_back(image);
  }
  bool all_apart = true;
  for (size_t i = 0; i < distinct.size(); ++i) {
    for (size_t j = 0; j < i && all_apart; ++j) all_apart = apart(distinct[i], distinct[j]);
  }
  if (all_apart) {
    long total = 0;
    for (const Image& image : distinct) total += count_image(image.set, image.function);
    return total;
  }
  if (auto counted = count_products(distinct)) return *counted;
  isl::set all = values(distinct.front());
  for (size_t i = 1; i < distinct.size(); ++i) all = all.unite(values(distinct[i]));
  return count(all);
}

}  // namespace lathe::poly
