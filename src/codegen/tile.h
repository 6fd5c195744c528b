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
  poly::Affine offset;  ///< a function of the loops that the code has
  long lanes, stride;
  bool write;
  bool old;                       ///< does the statement need the value from before?
  bool guarded;                   ///< does a guard decide whether it happens?
  long rows = 0, row_stride = 0;  ///< of a panel (panels.h); 0: it is none
};

/// Returns what the statements inside these nodes touch, in the order of the code. Offsets hold for
/// what loops are bound to.
std::vector<Touch> touches_of(const std::vector<LoopNode>& nodes, const Bindings& bindings,
                              const Nest& nest);

/// The elements of one tensor that stay in variables. A slot is one of these variables.
struct Tile {
  struct Slot {
    size_t variable;
    long lanes, stride;
    bool load, store;
    long writes = 0;  ///< places in the code that are still to write it
    long rows = 0, row_stride = 0;
  };
  std::map<long, Slot> slots;  ///< by the constant of their offset
  poly::Affine outer;          ///< the offset of all slots, without the constant

  /// Returns the offset of a slot.
  poly::Affine at(long constant) const;
};

/// Returns the tile of a tensor, if there is one: the loops from "depth" on must always touch the
/// same elements, and at most "most" of them, or as many panels as a unit has registers for. Slots
/// have no variables yet.
std::optional<Tile> tile_of(size_t tensor, const std::vector<Touch>& touches, size_t depth,
                            long most);

}  // namespace lathe
