// Chooses sizes for a target: register tiles for sums of products, parts of the data that stay in a
// cache, and chunks of the weights that stay in one.
#pragma once

#include "schedules/schedule.h"

namespace lathe::schedules {

/// The widest side of a tile, in vectors: wider ones leave too few registers for positions. With
/// short vectors it is at least one block of a layout wide.
constexpr long most_vectors = 4, least_widest = 16;

/// Returns the most channels that a tile should have.
long widest_side(long lanes);

/// A register tile: a number of positions, by "blocks" blocks of "block" channels each.
struct Tile {
  long positions, block, blocks;
};

/// What a tile is cut from: positions and channels.
struct TileRoom {
  long positions;
  long block;                ///< channels that lie together
  long all;                  ///< all channels
  long lanes;                ///< elements of a vector
  bool weights_stay = true;  ///< do the weights of a wide tile stay in the first cache?
};

/// Sizes that somebody asks for. Sizes that are missing can be chosen freely.
struct TileWish {
  std::optional<long> positions, block, blocks;
};

/// Chooses a tile. Returns nothing if no tile has the sizes that are asked for.
std::optional<Tile> choose_tile(const Target& target, const TileRoom& room, const TileWish& wish);

/// Returns the sizes that a tile may have, by the names of their knobs.
std::vector<Knob> tile_knobs(const Target& target, const TileRoom& room, const Tile& own);

/// Returns a size near "size" that divides "extent" and is a multiple of "step". Returns "size" if
/// there is none. Parts of equal size give workers equal shares, and the last part needs no code of
/// its own.
long evened(long extent, long size, long step);

/// Returns the number of parts into which the data are cut so that each part stays in the second
/// cache. Returns 1 if all data fit, or if reading all weights for each part costs more than it
/// saves; the weights are read in "columns" columns.
long parts_that_stay(const Target& target, double data_bytes, double weight_bytes, long columns);

/// Returns the size of a part if a loop is cut into "parts" parts. It is a multiple of "step".
long part_of(long extent, long parts, long step);

/// Returns the number of parts of a loop that the target's workers can share most evenly. It is at
/// least "parts". Each part is worked on once for each column.
long even_parts(const Target& target, long extent, long step, long parts, long columns);

/// Work is cut into at least so many shares where that is possible: machines with more workers are
/// rare.
constexpr long least_shares = 16;

/// Returns how many iterations of a sum make a chunk. The weights of a chunk stay in the first
/// cache while "visits" tiles use them. A chunk is several blocks of the layout, or an even part of
/// one. Returns "extent", all iterations, if no chunk is worth it. One iteration reads "bytes" of
/// weights and adds "sums" products to each element.
long chunk_of(const Target& target, double bytes, long extent, long block, long sums, long visits);

}  // namespace lathe::schedules
