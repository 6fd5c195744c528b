// slide.cpp: windows that slide. Interface: slide.h.
#include "nest/slide.h"

#include <algorithm>
#include <optional>

#include "base/error.h"

namespace lathe {
namespace {

using poly::Affine;

std::vector<Affine> taken_apart(const Access& access) {
  std::vector<Affine> result;
  for (const isl::aff& part : poly::parts(access.at)) result.push_back(poly::take_apart(part));
  return result;
}

/// Returns the one dimension that a coordinate moves; nothing if there are several or none.
std::optional<size_t> only_dimension(const std::vector<Affine>& access, size_t coordinate) {
  std::optional<size_t> result;
  for (size_t d = 0; d < access.size(); ++d) {
    if (!poly::involved(access[d])[coordinate]) continue;
    if (result) return std::nullopt;
    result = d;
  }
  return result;
}

bool moves(const std::vector<Affine>& access, size_t coordinate) {
  return std::any_of(access.begin(), access.end(),
                     [&](const Affine& a) -> bool { return poly::involved(a)[coordinate]; });
}

/// Is the function a multiple of this coordinate, and a constant?
bool is_of_coordinate(const Affine& a, size_t coordinate) {
  if (!a.is_linear()) return false;
  for (size_t i = 0; i < a.coefficients.size(); ++i) {
    if ((a.coefficients[i] != 0) != (i == coordinate)) return false;
  }
  return true;
}

class Finder {
 public:
  explicit Finder(const Statement& s) : s_(s) {}

  Sliding find() {
    bool product = s_.update == Update::add && s_.reads.size() == 2 &&
                   s_.value.op == Expr::Op::mul && is_product(s_.value) &&
                   s_.value.args[0].op == Expr::Op::read && s_.value.args[1].op == Expr::Op::read;
    if (!product) fail("statement '{}' does not add products of two tensors", s_.name);
    // The factor that the positions do not move has the weights.
    Sliding result = slides_with(0);
    if (result.slides.empty()) result = slides_with(1);
    if (result.slides.empty()) {
      fail("no window slides: every product of '{}' reads other elements", s_.name);
    }
    for (size_t i = 0; i < s_.dims.size(); ++i) {
      bool slides = std::any_of(result.slides.begin(), result.slides.end(),
                                [&](const Slide& x) { return x.position == i || x.window == i; });
      if (!slides) result.others.push_back(i);
    }
    require_apart(result);
    require_box(result);
    return result;
  }

 private:
  const Statement& s_;
  std::vector<Affine> data_, weight_, write_;

  /// Finds the slides if the weights are this read.
  Sliding slides_with(size_t weight) {
    Sliding result{weight, 1 - weight, {}, {}};
    data_ = taken_apart(s_.reads[result.data]);
    weight_ = taken_apart(s_.reads[result.weight]);
    write_ = taken_apart(s_.write);
    for (size_t d = 0; d < data_.size(); ++d) {
      if (auto slide = slide_along(d)) result.slides.push_back(*slide);
    }
    return result;
  }

  /// Returns how a window slides along one dimension of the data; nothing if none does.
  std::optional<Slide> slide_along(size_t d) const {
    std::vector<size_t> positions, windows;
    for (size_t i = 0; i < s_.dims.size(); ++i) {
      if (!poly::involved(data_[d])[i]) continue;
      bool written = moves(write_, i), weighs = moves(weight_, i);
      if (written && !weighs) positions.push_back(i);
      if (weighs && !written) windows.push_back(i);
    }
    if (positions.empty() || windows.empty()) return std::nullopt;
    require_one(positions);
    require_one(windows);
    size_t x = positions[0], k = windows[0];
    const Affine& at = data_[d];
    require_step(at, x, k);
    auto in_weight = only_dimension(weight_, k), in_result = only_dimension(write_, x);
    bool plain = in_weight && in_result && is_of_coordinate(weight_[*in_weight], k) &&
                 write_[*in_result].is_linear() && write_[*in_result].coefficients[x] == 1 &&
                 only_dimension(data_, x) && only_dimension(data_, k);
    if (!plain) {
      fail("'{}' and '{}' of statement '{}' index more than a window's position and its elements",
           s_.dims[x], s_.dims[k], s_.name);
    }
    poly::Interval xs = poly::range(s_.domain, x), ks = poly::range(s_.domain, k);
    const Affine& of_weight = weight_[*in_weight];
    return Slide{x,
                 k,
                 d,
                 *in_weight,
                 *in_result,
                 xs.size(),
                 ks.size(),
                 of_weight.constant,
                 of_weight.coefficients[k]};
  }

  /// Checks that a position, or an element of the window, is one coordinate.
  void require_one(const std::vector<size_t>& coordinates) const {
    if (coordinates.size() == 1) return;
    fail("'{}' and '{}' move the window together; undo the split first", s_.dims[coordinates[0]],
         s_.dims[coordinates[1]]);
  }

  /// Checks that the window moves by 1, and that its elements are neighbours.
  void require_step(const Affine& at, size_t x, size_t k) const {
    if (!at.is_linear()) fail("the window of '{}' does not slide evenly", s_.name);
    if (at.coefficients[x] != 1) {
      fail("the window moves by {} along '{}'; only windows that move by 1 share products",
           at.coefficients[x], s_.dims[x]);
    }
    if (at.coefficients[k] != 1) {
      fail("the elements of the window are {} apart along '{}'; they must be neighbours",
           at.coefficients[k], s_.dims[k]);
    }
  }

  /// Checks that no window moves another one.
  void require_apart(const Sliding& found) const {
    for (const Slide& a : found.slides) {
      for (const Slide& b : found.slides) {
        if (&a == &b || !poly::involved(write_[a.in_result])[b.position]) continue;
        fail("'{}' and '{}' of statement '{}' move the result together", s_.dims[a.position],
             s_.dims[b.position], s_.name);
      }
    }
  }

  /// Checks that every window is whole at every position, whatever the other coordinates are.
  void require_box(const Sliding& found) const {
    if (poly::sides(s_.domain)) return;
    isl_set* whole = s_.domain.copy();
    std::vector<size_t> own;
    for (const Slide& slide : found.slides) own.insert(own.end(), {slide.position, slide.window});
    for (size_t i : own) {
      whole = isl_set_eliminate(whole, isl_dim_set, static_cast<unsigned>(i), 1);
    }
    for (size_t i : own) {
      poly::Interval range = poly::range(s_.domain, i);
      auto at = static_cast<unsigned>(i);
      whole = isl_set_lower_bound_si(whole, isl_dim_set, at, static_cast<int>(range.lower));
      whole = isl_set_upper_bound_si(whole, isl_dim_set, at, static_cast<int>(range.upper));
    }
    if (isl::manage(whole).is_equal(s_.domain)) return;
    fail("the positions and windows of '{}' depend on its other coordinates", s_.name);
  }
};

}  // namespace

Sliding find_sliding(const Statement& statement) { return Finder(statement).find(); }

}  // namespace lathe
