// bindings.cpp: what loops are bound to. Interface: bindings.h.
#include "codegen/bindings.h"

#include <algorithm>

#include "codegen/dots.h"
#include "codegen/matrices.h"
#include "codegen/panels.h"

namespace lathe {
namespace {

/// Unrolled iterations beyond this stay a loop: the code would not fit the instruction cache.
constexpr long most_unrolled = 1024;

}  // namespace

Bindings::Bindings(const Nest& nest, const Target& target) : nest_(nest), target_(target) {
  size_t depth = 0;
  for (const Order& order : nest.order) depth = std::max(depth, order.loops.size());
  bound_.resize(depth);
}

Way Bindings::way_of(const LoopNode& node) const {
  bool vector = node.mark == Mark::vector;
  if (vector && !lanes_depth_ && panels_of(node, nest_, target_)) return Way::panels;
  if (node.extent() == 1) return Way::once;
  if (vector && !lanes_depth_ && matrix_of(node, nest_, target_)) return Way::matrix;
  if (vector && !lanes_depth_ && can_be_lanes(node.body, node.depth, nest_)) return Way::lanes;
  if (vector && lanes_depth_ && is_dot(node)) return Way::dot;
  bool unrolled = vector || node.mark == Mark::unrolled || node.mark == Mark::vthread;
  return unrolled && node.extent() <= most_unrolled ? Way::unrolled : Way::loop;
}

/// Is the loop a dot product, whose sums fill registers? The shortest have 16 bytes.
bool Bindings::is_dot(const LoopNode& node) const {
  long of_register = 16 / size_of(Element::i32);
  return lanes() % of_register == 0 && dot_of(node, *lanes_depth_, nest_, target_).has_value();
}

void Bindings::bind_lanes(const LoopNode& node) {
  bound_[node.depth] = {{node.from, node.to - 1}, true, 0, 0};
  lanes_depth_ = node.depth;
}

void Bindings::bind_unrolled(const LoopNode& node, long iteration) {
  bound_[node.depth] = {{iteration, iteration}, false, node.from, node.to};
}

std::vector<poly::Interval> Bindings::ranges(size_t count) const {
  std::vector<poly::Interval> result;
  for (size_t i = 0; i < count; ++i) {
    const Bound& b = bound_[i];
    result.push_back(b.lanes ? poly::Interval{b.range.lower, b.range.lower} : b.range);
  }
  return result;
}

long Bindings::lane_step(const poly::Affine& offset) const {
  return lanes_depth_ && *lanes_depth_ < offset.coefficients.size()
             ? offset.coefficients[*lanes_depth_]
             : 0;
}

std::optional<Bindings::Unrolled> Bindings::unrolled(size_t depth) const {
  const Bound& b = bound_[depth];
  if (b.unrolled_to == 0) return std::nullopt;
  return Unrolled{b.unrolled_to - b.unrolled_from, b.range.lower - b.unrolled_from};
}

}  // namespace lathe
