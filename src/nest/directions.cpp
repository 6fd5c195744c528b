// directions.cpp: canonical boxes. Interface: directions.h.
#include "nest/directions.h"

#include <algorithm>

namespace lathe {
namespace {

std::vector<long> scaled(std::vector<long> v, long factor) {
  for (long& x : v) x *= factor;
  return v;
}

/// Merges directions that are the digits of one: 16 steps of v and then 4 of 16*v are 64 of v.
void merge_digits(std::vector<BoxDirection>& directions) {
  for (bool merged = true; merged;) {
    merged = false;
    for (size_t i = 0; i < directions.size() && !merged; ++i) {
      for (size_t j = 0; j < directions.size() && !merged; ++j) {
        if (i == j) continue;
        if (directions[j].vector != scaled(directions[i].vector, directions[i].extent)) continue;
        directions[i].extent *= directions[j].extent;
        directions.erase(directions.begin() + static_cast<long>(j));
        merged = true;
      }
    }
  }
  std::sort(directions.begin(), directions.end());
}

/// Takes the direction along "vector" out and returns its extent: 1 if there is none.
long take(std::vector<BoxDirection>& directions, const std::vector<long>& vector) {
  auto found = std::find_if(directions.begin(), directions.end(),
                            [&](const BoxDirection& d) { return d.vector == vector; });
  if (found == directions.end()) return 1;
  long extent = found->extent;
  directions.erase(found);
  return extent;
}

/// If the value depends on coordinates "a" and "b" only through  c*a + b, returns c.
std::optional<long> digits_of_one(const std::vector<poly::Affine>& rows, size_t a, size_t b) {
  std::optional<long> factor;
  for (const poly::Affine& row : rows) {
    long x = row.coefficients[a], y = row.coefficients[b];
    if (x == 0 && y == 0) continue;
    if (y == 0 || x % y != 0 || x / y < 1 || (factor && *factor != x / y)) return std::nullopt;
    factor = x / y;
  }
  return factor;
}

/// Replaces coordinates "a" and "b" of the set by  c*a + b, which stands in the place of "b".
poly::Image with_one_for_two(const poly::Image& image, size_t a, size_t b, long c) {
  size_t dims = poly::arity(image.set);
  isl::space before = image.set.space(), after = poly::tuples(image.set.ctx(), dims - 1);
  std::vector<isl::aff> forward, back;
  for (size_t i = 0; i < dims; ++i) {
    if (i == a) {
      back.push_back(poly::constant(after, 0));
      continue;
    }
    isl::aff own = poly::coordinate(before, i);
    back.push_back(poly::coordinate(after, forward.size()));
    forward.push_back(i == b ? own.add(poly::coordinate(before, a).scale(c)) : own);
  }
  isl::set set = image.set.apply(poly::tuple(before, forward).as_map());
  return {poly::boxed(poly::coalesced(set)), image.function.pullback(poly::tuple(after, back))};
}

/// Puts loops together again that a split with a remainder left behind: the set is then a box, and
/// the function takes the same values on it.
poly::Image without_remainders(poly::Image image) {
  for (bool again = !poly::sides(image.set); again;) {
    again = false;
    std::vector<poly::Affine> rows;
    for (const isl::aff& part : poly::parts(image.function)) rows.push_back(poly::take_apart(part));
    bool linear = std::all_of(rows.begin(), rows.end(),
                              [](const poly::Affine& row) { return row.is_linear(); });
    if (!linear) return image;
    for (size_t a = 0; a < poly::arity(image.set) && !again; ++a) {
      for (size_t b = 0; b < poly::arity(image.set) && !again; ++b) {
        auto factor = a == b ? std::nullopt : digits_of_one(rows, a, b);
        if (!factor) continue;
        image = with_one_for_two(image, a, b, *factor);
        again = !poly::sides(image.set);
      }
    }
  }
  return image;
}

/// Joins "b" to "a" if it continues it along one direction.
std::optional<Parallelepiped> joined(const Parallelepiped& a, const Parallelepiped& b) {
  std::vector<long> shift(a.corner.size());
  for (size_t i = 0; i < shift.size(); ++i) shift[i] = b.corner[i] - a.corner[i];
  std::vector<std::vector<long>> along{shift};
  for (const BoxDirection& d : a.directions) along.push_back(d.vector);
  for (const std::vector<long>& vector : along) {
    Parallelepiped rest_a = a, rest_b = b;
    long extent_a = take(rest_a.directions, vector), extent_b = take(rest_b.directions, vector);
    if (shift != scaled(vector, extent_a) || rest_a.directions != rest_b.directions) continue;
    rest_a.directions.push_back({vector, extent_a + extent_b});
    merge_digits(rest_a.directions);
    return rest_a;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Parallelepiped> image_of_box(const isl::set& domain,
                                           const isl::multi_aff& on_domain) {
  auto [set, function] = without_remainders({domain, on_domain});
  auto box_sides = poly::sides(set);
  if (!box_sides) return std::nullopt;
  Parallelepiped result;
  std::vector<BoxDirection> directions(box_sides->size());
  for (size_t i = 0; i < box_sides->size(); ++i) directions[i].extent = (*box_sides)[i].size();
  for (const isl::aff& part : poly::parts(function)) {
    poly::Affine row = poly::take_apart(part);
    if (!row.is_linear()) return std::nullopt;
    long corner = row.constant;
    for (size_t i = 0; i < directions.size(); ++i) {
      directions[i].vector.push_back(row.coefficients[i]);
      corner += row.coefficients[i] * (*box_sides)[i].lower;
    }
    result.corner.push_back(corner);
  }
  std::erase_if(directions, [](const BoxDirection& d) { return d.extent == 1; });
  merge_digits(directions);
  result.directions = std::move(directions);
  return result;
}

void join_neighbours(std::vector<Parallelepiped>& boxes) {
  std::sort(boxes.begin(), boxes.end());
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < boxes.size() && !again; ++i) {
      for (size_t j = 0; j < boxes.size() && !again; ++j) {
        auto both = i == j ? std::nullopt : joined(boxes[i], boxes[j]);
        if (!both) continue;
        boxes[i] = *both;
        boxes.erase(boxes.begin() + static_cast<long>(j));
        again = true;
      }
    }
  }
  std::sort(boxes.begin(), boxes.end());
}

}  // namespace lathe
