// schedule_winograd.cpp: blocks of tiles by what the target has. Interface: schedule_winograd.h.
#include "schedules/schedule_winograd.h"

#include <algorithm>
#include <limits>

#include "codegen/panels.h"
#include "schedules/schedule_roles.h"

namespace lathe::schedules {
namespace {

/// Returns how many parts of a size hold all.
long parts_of(long all, long size) { return (all + size - 1) / size; }

long tiles_of(const WinogradShape& shape, long outputs) {
  return parts_of(shape.rows, outputs) * parts_of(shape.columns, outputs);
}

/// Returns how many register tiles hold so many tiles.
long register_tiles(const TileBlock& block, long tiles) { return parts_of(tiles, block.positions); }

/// Bytes that a core reads in a cycle of what other workers wrote, or of what is in memory.
constexpr double far_bytes_per_cycle = 8;

/// Parts of the peak that products reach: in planes, which are many small matrices, and in a direct
/// convolution. Measured on layers of ResNets.
constexpr double share_of_peak_in_planes = 0.85, share_of_peak_direct = 0.88;

/// The same of a matrix unit, whose factors take about as long to load as to multiply.
constexpr double share_of_peak_in_panels = 0.5;

/// Loads and stores of an element of a plane, each as good as so many sums: of the transformations
/// of the input and of the output.
constexpr double moves_of_input = 2.5, moves_of_output = 2.0;

/// Sharing planes must promise that much of the time of sharing tiles, or less: the products that
/// it writes and reads again cost more than the model knows.
constexpr double clearly_less = 0.6;

/// The part of the second cache that a block of transformed tiles may take: 5/8. The rest is for
/// the weights, which stream through it.
constexpr long block_share = 5, block_share_of = 8;

/// Tiles of a block: fewer do not fill a register tile, more gain nothing.
constexpr long least_tiles = 4, most_tiles = 32;

/// What a rest of tiles costs, as it is code of its own.
constexpr double cost_of_rest = 1.01;

/// Times that differ by less are equal: then the larger block is better.
constexpr double equal = 0.001;

/// Cycles in which a pass over the channels does no products: it begins and ends.
constexpr double around_pass = 0.6;

/// Products, or sums of a transformation, that a core does in a cycle.
constexpr long per_cycle = 2;

/// From so many groups on, these are enough for workers to share.
constexpr long many_groups = 4;

/// Returns the cycles that it takes to read what other workers wrote, or what is in memory.
double reading(double bytes) { return bytes / far_bytes_per_cycle; }

}  // namespace

long planes_of(const WinogradShape& shape, long outputs) {
  return (outputs + shape.window_rows - 1) * (outputs + shape.window_columns - 1);
}

double winograd_cycles(const Target& target, const WinogradShape& shape, long outputs) {
  auto n = static_cast<double>(planes_of(shape, outputs)), m = static_cast<double>(outputs);
  auto tiles = static_cast<double>(tiles_of(shape, outputs));
  auto filters = static_cast<double>(shape.filters), channels = static_cast<double>(shape.channels);
  // Sums of few terms in two dimensions, and the loads and stores around them.
  double input = n * (m + 1) + moves_of_input * n, output = n * m + moves_of_output * n;
  double products = n * filters * channels / share_of_peak_in_planes;
  // Inputs are transformed in the type of the factors, outputs in that of the sums.
  return static_cast<double>(shape.groups) * tiles / static_cast<double>(per_cycle) *
         ((products + channels * input) / static_cast<double>(target.lanes(shape.element)) +
          filters * output / static_cast<double>(target.lanes(real_bytes)));
}

double direct_cycles(const Target& target, const WinogradShape& shape) {
  auto windows = static_cast<double>(shape.groups * shape.rows * shape.columns * shape.window_rows *
                                     shape.window_columns);
  if (shape.terms > 0) {
    // A row of data takes a cycle for as many filters and channels as a panel of weights has.
    long weights =
        parts_of(shape.filters, panel_sums) * parts_of(shape.channels, panel_rows * shape.terms);
    return windows * static_cast<double>(weights) / share_of_peak_in_panels;
  }
  return windows * static_cast<double>(shape.filters * shape.channels) /
         (static_cast<double>(per_cycle * target.lanes(shape.direct)) * share_of_peak_direct);
}

WinogradTiles::WinogradTiles(const Target& target, const WinogradShape& shape, long outputs,
                             long filters)
    : target_(target),
      shape_(shape),
      planes_(planes_of(shape, outputs)),
      vectors_(parts_of(filters, target.lanes(shape.element))),
      columns_(parts_of(shape.filters, filters)),
      tiles_(tiles_of(shape, outputs)),
      apart_(shape.samples * shape.groups) {}

/// Where many workers share few tiles, each reads all weights, or all of the input. If they share
/// the planes they read each once, but write the products and read them again.
TilePlan WinogradTiles::plan() const {
  TileBlock own = choose_block();
  bool planes = target_.workers > 1 && cycles_by_planes() < clearly_less * cycles_of(own);
  if (planes) return {whole(), true, true};
  return {own, shares_columns(own.tiles), false};
}

bool WinogradTiles::shares_columns(long block) const {
  return block >= tiles_ && (shape_.groups < many_groups || shape_.together > 1);
}

bool WinogradTiles::fits(long positions) const {
  if (positions > target_.cpu.registers) return false;
  return positions == 1 || fits_registers(target_, positions, vectors_);
}

/// Chooses a block so that little is left over: it stays in the second cache, all channels of a
/// group transformed, is made of whole register tiles and gives all workers as much.
TileBlock WinogradTiles::choose_block() const {
  long budget = target_.cpu.l2_bytes * block_share / block_share_of;
  long most = std::clamp(budget / (shape_.element * planes_ * shape_.channels * shape_.together),
                         least_tiles, most_tiles);
  TileBlock best{1, 1};
  double least = std::numeric_limits<double>::infinity();
  for (long t = 1; fits(t); ++t) {
    for (long size = t; size < std::min(most, tiles_) + t; size += t) {
      TileBlock block{std::min(size, tiles_), t};
      double time = cycles_of(block);
      if (tiles_ % block.tiles != 0) time *= cost_of_rest;
      bool larger = time < least * (1 + equal) && block.tiles > best.tiles;
      if (time < least * (1 - equal) || larger) {
        least = std::min(time, least);
        best = block;
      }
    }
  }
  return best;
}

/// Returns the block of all tiles, with as many in registers as suits it best.
TileBlock WinogradTiles::whole() const {
  auto time = [&](const TileBlock& block) {
    return cycles(block, static_cast<double>(register_tiles(block, tiles_)));
  };
  TileBlock best{tiles_, 1};
  for (long t = 2; t <= tiles_ && fits(t); ++t) {
    TileBlock block{tiles_, t};
    if (time(block) < time(best)) best = block;
  }
  return best;
}

/// Returns the part of the work that the busiest worker has, of so many equal shares.
double WinogradTiles::busiest(long shares) const {
  long workers = target_.workers;
  return static_cast<double>((shares + workers - 1) / workers) / static_cast<double>(shares);
}

/// Returns how many register tiles the busiest worker passes through, of a plane and column.
double WinogradTiles::passes(const TileBlock& block) const {
  long full = tiles_ / block.tiles, rest = register_tiles(block, tiles_ % block.tiles);
  auto all = static_cast<double>(full * register_tiles(block, block.tiles) + rest);
  if (shares_columns(block.tiles)) return all * busiest(apart_ * columns_);
  if (target_.workers == 1) return all;
  long blocks = full + (rest > 0 ? 1 : 0);  // those of the busiest are full
  return static_cast<double>(blocks * register_tiles(block, block.tiles)) *
         busiest(blocks * apart_);
}

/// Returns the cycles of so many passes over the channels, for all planes and columns. A pass
/// begins and ends with few products.
double WinogradTiles::cycles(const TileBlock& block, double passes) const {
  double pass = static_cast<double>(block.positions * vectors_) / per_cycle + around_pass;
  return static_cast<double>(planes_ * columns_ * shape_.channels * apart_) * passes * pass;
}

/// Returns the bytes of a matrix for each plane, of all groups and samples.
double WinogradTiles::bytes(long rows, long columns) const {
  return static_cast<double>(shape_.element * apart_ * planes_ * rows * columns);
}

/// Returns the cycles of the busiest worker where they share tiles, or columns: its products, and
/// what it reads so that the others can work, too.
double WinogradTiles::cycles_of(const TileBlock& block) const {
  double products = cycles(block, passes(block));
  if (target_.workers == 1) return products;
  long blocks = (tiles_ + block.tiles - 1) / block.tiles;
  double weights = bytes(shape_.filters, shape_.channels), input = bytes(tiles_, shape_.channels);
  double read = shares_columns(block.tiles)
                    ? weights * busiest(columns_) + input
                    : static_cast<double>(blocks) * busiest(blocks * apart_) * weights;
  return products + reading(read);
}

double WinogradTiles::cycles_by_planes() const {
  TileBlock block = whole();
  double products = cycles(block, static_cast<double>(register_tiles(block, tiles_))) *
                    busiest(apart_ * planes_ * columns_);
  double once = bytes(shape_.filters, shape_.channels);
  double twice = bytes(tiles_, shape_.channels + shape_.filters);
  return products + reading((once + 2 * twice) / static_cast<double>(target_.workers));
}

}  // namespace lathe::schedules
