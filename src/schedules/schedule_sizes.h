// Sizes by what the target has: register tiles of sums of products, parts of the data that stay in
// a cache, chunks of the weights that do.
#pragma once

#include "schedules/schedule.h"

namespace lathe::schedules {

/// A register tile: so many positions, and blocks of so many channels side by side.
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

/// The sizes of a tile that are wanted, where any are.
struct TileWish {
  std::optional<long> positions, block, blocks;
};

/// Chooses the tile; nothing if there is none as it is wanted.
std::optional<Tile> choose_tile(const Target& target, const TileRoom& room, const TileWish& wish);

/// Returns the sizes that a tile may have, by the names of their knobs.
std::vector<Knob> tile_knobs(const Target& target, const TileRoom& room, const Tile& own);

/// Returns a size near "size", as a multiple of "step", that divides "extent"; "size" if there is
/// none. Parts of one size share out evenly, and need no code for the last.
long evened(long extent, long size, long step);

/// Returns in how many parts the data stay in the second cache; 1 if all of them do, or if the
/// "columns" of weights weigh more.
long parts_that_stay(const Target& target, double data_bytes, double weight_bytes, long columns);

/// Returns the size of one of so many parts of a loop, as a multiple of "step".
long part_of(long extent, long parts, long step);

/// Returns in how many parts of a loop, not fewer than "parts", the target's workers share them,
/// for each of so many columns, most evenly.
long even_parts(const Target& target, long extent, long step, long parts, long columns);

/// Work is cut into so many shares, at least, if it can: more workers than that are rare.
constexpr long least_shares = 16;

/// Returns how many iterations of a sum over "extent" make a chunk of a column of weights that
/// stays in the first cache while so many tiles meet it: several of the layout's blocks, or an even
/// part of one; "extent" if none is worth it. An iteration reads "bytes" and adds "sums" products
/// to each element.
long chunk_of(const Target& target, double bytes, long extent, long block, long sums, long visits);

}  // namespace lathe::schedules
