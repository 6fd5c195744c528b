// The elements that statements touch, while code is written: variables where a register tile has
// them, or memory.
//
// A tensor that is written inside a loop's body, and whose elements there do not depend on the
// loops inside, stays in variables until the body ends: that is a register tile. It goes to the
// outermost body that allows it, so the tile is loaded and stored once for all the loops that sum
// it up.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "codegen/tile.h"
#include "codegen/writer.h"

namespace lathe {

class Elements {
 public:
  /// Of one place of a tree.
  Elements(const LoopTree& tree, size_t place, const Bindings& bindings, Code& code,
           CodeWriter& writer);

  /// Writes the code of some nodes, with the tiles that they allow in variables.
  void with_tiles(const std::vector<LoopNode>& nodes, const std::function<void()>& write);

  /// Returns where an access is, for what loops are bound to.
  poly::Affine at(const poly::Affine& offset) const {
    return poly::narrowed(offset, bindings_.ranges(offset.coefficients.size()));
  }
  /// Returns the slot that has an element, if a tile has its tensor.
  std::optional<Tile::Slot> slot_of(size_t tensor, const poly::Affine& at) const;

  /// Returns what an access reads, in this type.
  size_t value(size_t tensor, const poly::Affine& offset, Number number);
  /// Returns the value that a statement adds to.
  size_t old_value(size_t tensor, const poly::Affine& at, long step, Number number);
  /// Loads the factors that all lanes of a dot product share, together with those of the next
  /// iterations of an unrolled loop if they lie side by side. Sets which of them are meant.
  size_t common_factors(size_t tensor, const poly::Affine& offset, long terms, long& group);

  void write(size_t tensor, const poly::Affine& at, long step, size_t value);
  /// Counts a write to a tile. After the last one in the tile's own body the element is stored: its
  /// register is free then.
  void count_write(size_t tensor, const poly::Affine& at);

  /// Returns which tensors other places touch.
  const std::vector<bool>& outside() const { return outside_; }

 private:
  const LoopTree& tree_;
  const std::vector<LoopNode>& root_;
  const Bindings& bindings_;
  const Target& target_;
  Code& code_;
  CodeWriter& writer_;
  std::vector<Number> tile_numbers_;  // of tensors, while they are in variables
  std::vector<bool> outside_;         // by tensor
  std::map<size_t, Tile> tiles_;
  std::map<size_t, const Block*> homes_;  // the body that a tile belongs to, by tensor

  std::vector<size_t> begin_tiles(const std::vector<LoopNode>& nodes);
  void end_tile(size_t tensor);
  /// Returns how many elements a tile may have: what does not fit the registers by far is no tile.
  long most_in_registers(size_t tensor) const;
  /// Do these nodes set all elements of the tile before they use them, and are all statements that
  /// touch the tensor among them? Then nobody else needs the tile.
  bool is_complete(size_t tensor, const std::vector<LoopNode>& nodes, const Tile& tile) const;
  void load_slot(size_t tensor, const Tile& tile, long constant, const Tile::Slot& slot);
  void store_slot(size_t tensor, const Tile& tile, long constant, Tile::Slot& slot);
  void store(size_t tensor, const poly::Affine& at, long step, size_t value);

  /// An iteration of an unrolled loop among those whose elements are loaded together.
  struct Neighbours {
    long first, index;
  };
  /// Finds an unrolled loop that moves an access by "step", and so many of its iterations, among
  /// them the one that is written.
  std::optional<Neighbours> neighbours_of(const poly::Affine& offset, long step, long count) const;
  /// Loads an element together with those that the next iterations of an unrolled loop read.
  std::optional<size_t> lane_of_neighbours(size_t tensor, const poly::Affine& offset,
                                           const poly::Affine& at, Number number);
};

}  // namespace lathe
