// schedule_sizes.cpp: sizes of tiles, parts and chunks by what the target has. Interface:
// schedule_sizes.h.
#include "schedules/schedule_sizes.h"

#include <algorithm>
#include <limits>

#include "schedules/schedule_roles.h"

namespace lathe::schedules {
namespace {

/// The part of a cache that one kind of data may take: half. The other half is for all else that
/// the loops touch meanwhile.
constexpr double share_of_cache = 2;

/// A cost that is not lower by more than this is the same: the first choice stays.
constexpr double clearly_cheaper = 0.995;

/// Sums that are in flight at a time, so that each can wait for its last product.
constexpr long sums_in_flight = 8;

/// A chunk of weights is worth its while if it is read that many times the cache, or more.
constexpr double often_enough = 5;

/// Blocks side by side in a tile: those that are looked at, and those that a search may try.
const std::vector<long> likely_blocks = {1, 2, 3, 4}, possible_blocks = {1, 2, 3, 4, 6, 8};

/// The widest block that a search may try, in vectors: beyond it, sums no longer fit the registers.
constexpr long most_vectors_of_block = 8;

/// Parts of the data take half of their share of the cache, so that the next one can come in.
constexpr double share_of_part = 2;

/// For an even share of the work, loops are cut into at most so many parts for each worker: smaller
/// parts even out nothing more.
constexpr long most_parts_each = 4;

/// Returns how many products are added to a tile before it is stored, at least: it costs a few to
/// do that. Wider vectors want more weights in a cycle, so fewer products are worth it.
long least_sums(const Target& target) {
  constexpr long bytes = 4096;  // of vectors that the products fill
  return bytes / target.cpu.vector_bytes;
}

/// Can so many channels of a block be a side of the tile, and so many such parts lie beside it?
bool are_sides(const TileRoom& room, long channels, long blocks) {
  if (channels < 1 || blocks < 1 || room.block % channels != 0) return false;
  if (channels % room.lanes != 0 && channels != room.block) return false;
  if (blocks == 1) return true;
  if (channels < room.block) return room.block / channels % blocks == 0;
  return room.all % (channels * blocks) == 0;
}

/// Returns the sides that are worth a look. Whole blocks first: of equal choices they load least.
std::vector<std::pair<long, long>> likely_sides(const TileRoom& room) {
  std::vector<std::pair<long, long>> sides;
  long most = widest_side(room.lanes), block = room.block;
  for (long blocks : likely_blocks) {
    bool fits = block <= most && (blocks == 1 || room.all % (block * blocks) == 0);
    if (fits) sides.emplace_back(block, blocks);
  }
  for (long part = std::min(block / 2, most); part >= std::min(room.lanes, block / 2); --part) {
    if (block % part == 0 && part % room.lanes == 0) sides.emplace_back(part, 1);
  }
  return sides;
}

/// Returns the sides as they are wanted.
std::vector<std::pair<long, long>> wanted_sides(const TileRoom& room, const TileWish& wish) {
  std::vector<std::pair<long, long>> sides = likely_sides(room);
  std::erase_if(sides, [&](const auto& side) {
    return side.first != wish.block.value_or(side.first) ||
           side.second != wish.blocks.value_or(side.second);
  });
  bool wanted = wish.block || wish.blocks;
  long channels = wish.block.value_or(room.block), blocks = wish.blocks.value_or(1);
  if (sides.empty() && wanted && are_sides(room, channels, blocks)) {
    sides.emplace_back(channels, blocks);
  }
  return sides;
}

/// Returns the tile of a single position. Nothing is shared between positions: several columns hide
/// the latency.
std::optional<Tile> single_position(const TileRoom& room, const TileWish& wish) {
  Tile tile{1, wish.block.value_or(room.block), 1};
  if (wish.positions.value_or(1) != 1 || !are_sides(room, tile.block, 1)) return std::nullopt;
  long vectors = std::max(1L, tile.block / room.lanes);
  while (vectors * tile.blocks < sums_in_flight && tile.block * tile.blocks * 2 <= room.all)
    tile.blocks *= 2;
  bool wanted = wish.blocks && *wish.blocks != tile.blocks;
  if (wanted && (*wish.blocks < 1 || tile.block * *wish.blocks > room.all)) return std::nullopt;
  tile.blocks = wish.blocks.value_or(tile.blocks);
  return tile;
}

/// Returns the positions for a tile of so many vectors, as they are wanted.
std::optional<TileChoice> positions_for(const Target& target, const TileRoom& room,
                                        const TileWish& wish, long vectors) {
  if (!wish.positions) return choose_positions(target, room.positions, vectors, room.weights_stay);
  long n = *wish.positions;
  if (n < 1 || n > room.positions || !fits_registers(target, n, vectors)) return std::nullopt;
  return TileChoice{n, 1};
}

}  // namespace

long widest_side(long lanes) { return std::max(least_widest, most_vectors * lanes); }

std::optional<Tile> choose_tile(const Target& target, const TileRoom& room, const TileWish& wish) {
  if (room.positions == 1) return single_position(room, wish);
  bool free = !wish.positions && !wish.block && !wish.blocks;
  std::optional<Tile> best = free ? std::optional(Tile{1, room.block, 1}) : std::nullopt;
  double least = std::numeric_limits<double>::infinity();
  for (auto [channels, blocks] : wanted_sides(room, wish)) {
    long vectors = (channels + room.lanes - 1) / room.lanes * blocks;
    auto choice = positions_for(target, room, wish, vectors);
    if (!choice || choice->cost >= least * clearly_cheaper) continue;
    least = choice->cost;
    best = Tile{choice->positions, channels, blocks};
  }
  return best;
}

std::vector<Knob> tile_knobs(const Target& target, const TileRoom& room, const Tile& own) {
  std::vector<long> positions, block, blocks;
  for (long n = 1; n <= room.positions && fits_registers(target, n, 1); ++n) positions.push_back(n);
  for (long n = room.block; n >= 1; --n) {
    if (are_sides(room, n, 1) && n <= most_vectors_of_block * room.lanes) block.push_back(n);
  }
  for (long n : possible_blocks) {
    if (own.block * n <= room.all) blocks.push_back(n);
  }
  return {{"positions", std::move(positions)},
          {"block", std::move(block)},
          {"blocks", std::move(blocks)}};
}

long evened(long extent, long size, long step) {
  long even = size;
  while (even > step && extent % even != 0) even -= step;
  return extent % even == 0 && 2 * even >= size ? even : size;
}

long parts_that_stay(const Target& target, double data_bytes, double weight_bytes, long columns) {
  double budget = static_cast<double>(target.cpu.l2_bytes) / share_of_cache;
  if (data_bytes <= budget) return 1;
  auto parts = static_cast<long>(data_bytes / (budget / share_of_part)) + 1;
  // Each part meets all weights: that must not cost more than it saves.
  bool weights_stay = weight_bytes <= budget;
  bool worth =
      static_cast<double>(parts) * weight_bytes <= static_cast<double>(columns) * data_bytes;
  return weights_stay || worth ? parts : 1;
}

long part_of(long extent, long parts, long step) {
  if (parts == 1 || extent <= step) return extent;
  long size = (extent + parts - 1) / parts;
  size = std::max(step, (size + step - 1) / step * step);
  return size >= extent ? extent : evened(extent, size, step);
}

long even_parts(const Target& target, long extent, long step, long parts, long columns) {
  // Smaller parts have more overhead than larger ones.
  constexpr double overhead = 0.002;
  if (target.workers == 1) return parts;
  long best = parts;
  double least = std::numeric_limits<double>::infinity();
  for (long n = parts; n <= std::max(parts, most_parts_each * target.workers) && n * step <= extent;
       ++n) {
    long size = part_of(extent, n, step), shares = (extent + size - 1) / size * columns;
    auto most = static_cast<double>((shares + target.workers - 1) / target.workers * size);
    double time = most * (1 + overhead * static_cast<double>(n));
    if (time >= least) continue;
    least = time;
    best = n;
  }
  return best;
}

long chunk_of(const Target& target, double bytes, long extent, long block, long sums, long visits) {
  auto cache = static_cast<double>(target.cpu.l1_bytes);
  auto most = static_cast<long>(cache / share_of_cache / bytes);
  if (most >= extent) return extent;
  while (block > most && block % 2 == 0) block /= 2;
  long size = evened(extent, std::max(block, most / block * block), block);
  if (size * sums < least_sums(target)) return extent;
  // The first tile waits for each chunk: reading it again must be worth that.
  bool often = static_cast<double>(visits * size) * bytes >= often_enough * cache;
  return often ? size : extent;
}

}  // namespace lathe::schedules
