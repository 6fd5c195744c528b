// Plans the work of winograd(m) on a target: what it costs, how tiles are cut into blocks, and what
// workers share.
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
  long together = 1;  ///< groups whose input is transformed together, as it lies
  long element = 4;   ///< bytes of a factor of the products
  long direct = 4;  ///< the same where they are added up directly: dot products take narrower ones
  long terms = 0;   ///< of products in panels, where they are added up directly; 0: in vectors
};

/// Returns how many elements a transformed tile has. Each element belongs to a plane of its own.
long planes_of(const WinogradShape& shape, long outputs);

/// Returns the cycles that one core needs: with Winograd's algorithm in tiles of "outputs" by
/// "outputs" outputs, or directly.
double winograd_cycles(const Target& target, const WinogradShape& shape, long outputs);
double direct_cycles(const Target& target, const WinogradShape& shape);

/// A block of tiles.
struct TileBlock {
  long tiles;      ///< that are transformed together
  long positions;  ///< how many of them are in registers at a time
};

/// How tiles are cut into blocks, and what workers share.
struct TilePlan {
  TileBlock block;
  bool columns;  ///< do workers share the columns of filters? Otherwise they share the blocks
  bool planes;   ///< do workers share the planes, and all columns of a plane before the next?
};

/// Chooses how tiles are cut into blocks, and what workers share.
class WinogradTiles {
 public:
  /// A column has "filters" filters.
  WinogradTiles(const Target& target, const WinogradShape& shape, long outputs, long filters);

  /// Returns the number of tiles of one sample and group.
  long count() const { return tiles_; }
  /// Chooses the plan that takes the fewest cycles.
  TilePlan plan() const;
  /// Do workers share the columns, if a block has "block" tiles and nobody chose otherwise?
  bool shares_columns(long block) const;

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
