// tile.cpp: which elements make a register tile. Interface: tile.h.
#include "codegen/tile.h"

#include <algorithm>
#include <set>

#include "codegen/panels.h"

namespace lathe {
namespace {

using poly::Affine;

/// Returns the same function of the loops before "depth" alone: it depends on no other.
Affine of_outer_loops(Affine a, size_t depth) {
  a.coefficients.resize(depth, 0);
  for (auto& floor : a.floors) floor.of = of_outer_loops(floor.of, depth);
  return a;
}

bool depends_on_inner_loops(const Affine& a, size_t depth) {
  std::vector<bool> involved = poly::involved(a);
  for (size_t i = depth; i < involved.size(); ++i) {
    if (involved[i]) return true;
  }
  return false;
}

/// A product needs two registers beside those of the sums.
constexpr long most_sums = panel_registers - 2;

/// Has every element just one slot?
bool are_apart(const std::map<long, Tile::Slot>& slots) {
  std::set<long> elements;
  for (const auto& [constant, slot] : slots) {
    for (long k = 0; k < slot.lanes * std::max(slot.rows, 1L); ++k) {
      long row = k / slot.lanes, lane = k % slot.lanes;
      long element = constant + row * slot.row_stride + lane * slot.stride;
      if (!elements.insert(element).second) return false;
    }
  }
  return true;
}

}  // namespace

Affine Tile::at(long constant) const {
  Affine offset = outer;
  offset.constant = constant;
  return offset;
}

std::optional<Tile> tile_of(size_t tensor, const std::vector<Touch>& touches, size_t depth,
                            long most) {
  std::optional<Tile> tile;
  for (const Touch& touch : touches) {
    if (touch.tensor != tensor) continue;
    if (touch.guarded || depends_on_inner_loops(touch.offset, depth)) return std::nullopt;
    Affine outer = of_outer_loops(touch.offset, depth);
    outer.constant = 0;
    if (!tile) tile = Tile{{}, outer};
    if (!poly::same(tile->outer, outer)) return std::nullopt;
    Tile::Slot slot{0,     touch.lanes, touch.stride, touch.old || !touch.write,
                    false, 0,           touch.rows,   touch.row_stride};
    Tile::Slot& at = tile->slots.try_emplace(touch.offset.constant, slot).first->second;
    if (at.lanes != touch.lanes || at.stride != touch.stride || at.rows != touch.rows ||
        at.row_stride != touch.row_stride) {
      return std::nullopt;
    }
    at.store = at.store || touch.write;
    at.writes += touch.write ? 1 : 0;
  }
  if (!tile) return std::nullopt;
  long elements = 0, panels = 0;
  for (const auto& [constant, slot] : tile->slots)
    (slot.rows > 0 ? panels : elements) += slot.rows > 0 ? 1 : slot.lanes;
  if (elements > most || panels > most_sums || !are_apart(tile->slots)) return std::nullopt;
  return tile;
}

}  // namespace lathe
