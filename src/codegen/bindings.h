// Bindings of loops. While code is written, each loop around it is bound to a number, to the lanes
// of vectors, or to a loop of the code.
#pragma once

#include <optional>
#include <vector>

#include "codegen/loops.h"
#include "codegen/target.h"

namespace lathe {

/// What a loop becomes in the code.
enum class Way {
  once,      ///< one iteration: a number
  lanes,     ///< the lanes of vectors
  unrolled,  ///< one number after the other
  dot,       ///< the products that an instruction adds to each lane
  matrix,    ///< with the loops inside, a product of matrices that a warp computes
  panels,    ///< with the loops inside, a product of panels
  loop,      ///< a loop of the code
};

/// The loops around the code that is being written, by depth.
class Bindings {
 public:
  Bindings(const Nest& nest, const Target& target);

  /// Returns what a loop becomes inside those that are bound.
  Way way_of(const LoopNode& node) const;

  /// Binds a loop to a range. A range of one number stands for this number, any other range for a
  /// loop of the code.
  void bind(size_t depth, poly::Interval range) { bound_[depth] = {range, false, 0, 0}; }
  /// Binds a loop to lanes.
  void bind_lanes(const LoopNode& node);
  /// Ends the lanes: from here on no loop is bound to them.
  void end_lanes() { lanes_depth_.reset(); }
  /// Binds an unrolled loop to one of its iterations.
  void bind_unrolled(const LoopNode& node, long iteration);

  const Target& target() const { return target_; }
  size_t depth() const { return bound_.size(); }
  poly::Interval range(size_t depth) const { return bound_[depth].range; }
  /// Returns the ranges of the "count" outermost loops. A loop that is bound to lanes has the range
  /// of its first lane.
  std::vector<poly::Interval> ranges(size_t count) const;

  /// Returns how many lanes vectors have here; 1 outside of them.
  long lanes() const { return lanes_depth_ ? bound_[*lanes_depth_].range.size() : 1; }
  bool in_lanes() const { return lanes_depth_.has_value(); }
  std::optional<size_t> lanes_depth() const { return lanes_depth_; }
  /// Returns by how much an offset differs from one lane to the next.
  long lane_step(const poly::Affine& offset) const;

  /// Returns how many iterations the unrolled loop at "depth" has, and which one is bound. Returns
  /// nothing if the loop is not unrolled.
  struct Unrolled {
    long count, index;
  };
  std::optional<Unrolled> unrolled(size_t depth) const;

 private:
  struct Bound {
    poly::Interval range{0, 0};
    bool lanes = false;
    long unrolled_from = 0, unrolled_to = 0;  // of an unrolled loop
  };
  const Nest& nest_;
  const Target& target_;
  std::vector<Bound> bound_;
  std::optional<size_t> lanes_depth_;

  bool is_dot(const LoopNode& node) const;
};

}  // namespace lathe
