// Register tiles: the elements of a tensor that stay in variables while loops add to them.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "codegen/bindings.h"
#include "poly/linear.h"

namespace lathe {

/// An element, or a vector of elements, that a statement touches.
struct Touch {
  size_t tensor;
  poly::Affine offset;  ///< of the loops that the code has
  long lanes, stride;
  bool write;
  bool old;  ///< its value before is needed
  bool guarded;
};

/// Returns what the statements inside these nodes touch, in the order of the code. Loops that are
/// bound are taken as bound.
std::vector<Touch> touches_of(const std::vector<LoopNode>& nodes, const Bindings& bindings,
                              const Nest& nest);

/// The elements of one tensor that are kept in variables.
struct Tile {
  struct Slot {
    size_t variable;
    long lanes, stride;
    bool load, store;
    long writes = 0;  ///< that are still to come, each place in the code once
  };
  std::map<long, Slot> slots;  ///< by the constant of their offset
  poly::Affine outer;          ///< the offset but for the constant

  /// Returns the offset of a slot.
  poly::Affine at(long constant) const;
};

/// Returns the tile of a tensor. There is one if the loops from "depth" on always touch the same
/// elements, and no more than "most" of them. Slots have no variables yet.
std::optional<Tile> tile_of(size_t tensor, const std::vector<Touch>& touches, size_t depth,
                            long most);

}  // namespace lathe
