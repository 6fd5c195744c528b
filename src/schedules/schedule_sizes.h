// Chooses sizes for a target: register tiles for sums of products, parts of the data that stay in a
// cache, and chunks of the weights that stay in one.
#pragma once

#include "schedules/schedule.h"

namespace lathe::schedules {

/// A register tile: a number of positions, by "blocks" blocks of "block" channels each.
struct Tile {
  long positions, block, blocks;
};

/// What a tile is cut from.
struct TileRoom {
  long positions;
  long block;  ///< channels that lie together ...
  long all;    ///< ... of so many
  long lanes;
  bool weights_stay = true;  ///< in the first cache, those of a tile as wide as likely
};

/// Sizes that somebody asks for; those that are missing are free.
struct TileWish {
  std::optional<long> positions, block, blocks;
};

/// Chooses a tile. Returns nothing if no tile has the sizes that are asked for.
std::optional<Tile> choose_tile(const Target& target, const TileRoom& room, const TileWish& wish);

/// Returns the sizes that a tile may have, by the names of their knobs.
std::vector<Knob> tile_knobs(const Target& target, const TileRoom& room, const Tile& own);

/// Returns a size near "size", as a multiple of "step", that divides "extent"; "size" if there is
/// none. Parts of one size share out evenly, and need no code for the last.
long evened(long extent, long size, long step);

/// Returns the number of parts into which the data are cut so that each part stays in the second
/// cache. Returns 1 if all data fit, or if reading all weights for each part costs more than it
/// saves; the weights are read in "columns" columns.
long parts_that_stay(const Target& target, double data_bytes, double weight_bytes, long columns);

/// Returns the size of one of so many parts of a loop, as a multiple of "step".
long part_of(long extent, long parts, long step);

/// Returns into how many parts a loop is cut so that the target's workers share them most evenly.
/// There are at least "parts" parts, and each is worked on once for each column.
long even_parts(const Target& target, long extent, long step, long parts, long columns);

/// Work is cut into at least so many shares where that is possible. Machines with more workers are
/// rare.
constexpr long least_shares = 16;

/// Returns how many iterations of a sum make a chunk. The weights of a chunk stay in the first
/// cache while "visits" tiles use them. A chunk is several blocks of the layout, or an even part of
/// one. Returns "extent", all iterations, if no chunk is worth it. One iteration reads "bytes" of
/// weights and adds "sums" products to each element.
long chunk_of(const Target& target, double bytes, long extent, long block, long sums, long visits);

}  // namespace lathe::schedules
