// What winograd(m) costs on a target, how its work is cut into blocks, and how workers share it.
//
//   WinogradTiles tiles(target, shape, 4, 16);   // tiles of 4 x 4 outputs, 16 filters in a column
//   TilePlan plan = tiles.plan();
#pragma once

#include "codegen/target.h"

namespace lathe::schedules {

/// A convolution whose window slides by 1.
struct WinogradShape {
  long groups = 1, filters = 1, channels = 1;  ///< filters and channels of a group
  long rows = 1, columns = 1;                  ///< of the output
  long window_rows = 3, window_columns = 3;
  long samples = 1;
};

/// Returns how many elements a transformed tile has. Each element belongs to a plane of its own.
long planes_of(const WinogradShape& shape, long outputs);

/// Returns the cycles that one core needs: with Winograd's algorithm in tiles of "outputs" by
/// "outputs" outputs, or directly.
double winograd_cycles(const Target& target, const WinogradShape& shape, long outputs);
double direct_cycles(const Target& target, const WinogradShape& shape);

/// How many tiles are transformed together, and how many of them are in registers at a time.
struct TileBlock {
  long tiles, positions;
};

struct TilePlan {
  TileBlock block;
  bool columns;  ///< workers share the columns of filters, not the blocks
  bool planes;   ///< they share the planes, all columns of one before the next
};

/// Chooses how tiles are cut into blocks, and what workers share.
class WinogradTiles {
 public:
  /// "filters" are those of a column.
  WinogradTiles(const Target& target, const WinogradShape& shape, long outputs, long filters);

  long count() const { return tiles_; }
  TilePlan plan() const;
  /// Returns whether workers share the columns of a block of so many tiles, by default.
  bool shares_columns(long block) const { return block >= tiles_ && shape_.groups < 4; }

 private:
  const Target& target_;
  WinogradShape shape_;
  long planes_, vectors_, columns_, tiles_;
  long apart_;  // groups and samples: what shares nothing

  bool fits(long positions) const;
  TileBlock choose_block() const;
  TileBlock whole() const;
  double busiest(long shares) const;
  double passes(const TileBlock& block) const;
  double cycles(const TileBlock& block, double passes) const;
  double bytes(long rows, long columns) const;
  double cycles_of(const TileBlock& block) const;
  double cycles_by_planes() const;
};

}  // namespace lathe::schedules
