// contraction.cpp: sums of products in which one factor has loops of its own: convolutions, dense
// and grouped, of any window, and products of matrices.
//
//   for co.o, oh, ow.o:           parallel, as far as they go
//     start, bias                 the tile of sums is in registers from here ...
//     for ci.o, kh, kw:
//       ci.i, ow.i unrolled, co.i vector:  O[co, oh, ow] += W[co, ci, kh, kw] * I[ci, oh+kh, ow+kw]
//     relu, residual ...          ... to here
//
// The vectors run along the loop that only the weights and the result have (co); the tile's other
// side is the innermost loop that only the data and the result have (ow). Weights are packed in the
// order in which they are read.
#include <algorithm>

#include "schedules/schedule_roles.h"

namespace lathe::schedules {
namespace {

/// The statement's loops by what they move.
struct Parts {
  size_t weight, data;  // reads
  std::string vector;   // moves the weights and the result
  std::vector<std::string> both, positions, sums;
};

std::optional<Parts> parts_with(const Roles& roles, size_t weight, size_t data) {
  Parts parts{weight, data, "", {}, {}, {}};
  long widest = 0;
  for (const LoopRole& loop : roles.loops) {
    bool w = loop.reads[weight].moves, d = loop.reads[data].moves;
    if (!loop.write.moves) {
      parts.sums.push_back(loop.name);
    } else if (w && d) {
      parts.both.push_back(loop.name);
    } else if (d) {
      parts.positions.push_back(loop.name);
    } else if (w && loop.extent > widest) {
      if (!parts.vector.empty()) parts.both.push_back(parts.vector);
      parts.vector = loop.name;
      widest = loop.extent;
    } else {
      parts.both.push_back(loop.name);
    }
  }
  if (parts.vector.empty() || parts.sums.empty()) return std::nullopt;
  return parts;
}

std::optional<Parts> parts_of(const Situation& s, const Roles& roles) {
  const Statement& main = s.nest.statements()[roles.statement];
  if (main.update != Update::add || main.reads.size() != 2 || !is_product(main.value) ||
      main.value.op != Expr::Op::mul) {
    return std::nullopt;
  }
  for (size_t weight : {0, 1}) {
    if (s.nest.tensors()[main.reads[weight].tensor].role != Role::weight) continue;
    return parts_with(roles, weight, 1 - weight);
  }
  // Neither factor is a weight that could be packed: the vectors must lie side by side already.
  for (size_t weight : {1, 0}) {
    auto parts = parts_with(roles, weight, 1 - weight);
    if (parts && roles.find(parts->vector)->reads[weight].step == 1) return parts;
  }
  return parts_with(roles, 1, 0);
}

/// Can the rows be walked as one, in every tensor that they move?
bool are_flat(const Situation& s, const std::string& rows, const std::string& columns) {
  for (size_t i = 0; i < s.nest.statements().size(); ++i) {
    Roles roles = roles_of(s, i);
    const LoopRole *row = roles.find(rows), *column = roles.find(columns);
    if (row == nullptr && column == nullptr) continue;
    if (row == nullptr || column == nullptr || row + 1 != column) return false;
    auto flat = [&](const Motion& a, const Motion& b) {
      return a.evenly == 0 && b.evenly == 0 && a.step == b.step * column->extent;
    };
    if (!flat(row->write, column->write)) return false;
    for (size_t r = 0; r < row->reads.size(); ++r) {
      if (!flat(row->reads[r], column->reads[r])) return false;
    }
  }
  return true;
}

/// Returns the sum that runs along the data in memory: its factors are loaded together.
std::string neighbours(const Roles& roles, const Parts& parts) {
  std::string best;
  long extent = 1;
  for (const std::string& name : parts.sums) {
    const LoopRole& loop = *roles.find(name);
    if (loop.reads[parts.data].step == 1 && loop.extent > extent) {
      best = name;
      extent = loop.extent;
    }
  }
  return best;
}

std::optional<Recipe> recipe(const Situation& s) {
  size_t main = main_statement(s.nest);
  Roles roles = roles_of(s, main);
  auto found = parts_of(s, roles);
  if (!found) return std::nullopt;
  Parts parts = *found;
  RecipeWriter writer(s.nest);

  // Groups and the channels inside them are walked as one: that is how the result is stored.
  if (!parts.both.empty() && parts.both.back() == "g") {
    const LoopRole *g = roles.find("g"), *v = roles.find(parts.vector);
    if (g + 1 == v) {
      writer.step("fuse", {std::string("g"), parts.vector, parts.vector});
      parts.both.pop_back();
    }
  }
  size_t n = parts.positions.size();
  if (n >= 2 && are_flat(s, parts.positions[n - 2], parts.positions[n - 1])) {
    std::string rows = parts.positions[n - 2], columns = parts.positions[n - 1];
    writer.step("fuse", {rows, columns, rows + "_" + columns});
    parts.positions.pop_back();
    parts.positions.back() = rows + "_" + columns;
  }
  auto extent_now = [&](const std::string& loop) {
    const Order& order = writer.nest().order[main];
    return order.loops[*find_loop(order, loop)].extent;
  };

  // The size of the tile.
  long element = std::max(4L, size_of(s.nest.tensors()[s.nest.statements()[main].write.tensor].element));
  long lanes = s.target.lanes(element);
  const LoopRole& v = *roles.find(parts.vector);
  long per_group = v.extent;  // beyond it the data are others
  long block = v.write.evenly == 0 ? std::max(16L, 4 * lanes) : v.write.evenly;
  if (extent_now(parts.vector) != per_group) {
    while (per_group % block != 0) --block;
    if (block == 1) return std::nullopt;
  }
  long positions = parts.positions.empty() ? 1 : extent_now(parts.positions.back());
  long vectors = std::max(1L, block / lanes), side_by_side = 1;
  TileSize tile{1, vectors};
  if (positions == 1) {
    // Nothing is shared between positions: several columns hide the latency.
    while (vectors * side_by_side < 8 && block * side_by_side * 2 <= per_group) side_by_side *= 2;
  } else {
    long most = std::min(6L, std::max(1L, per_group / lanes));
    tile = choose_tile(s.target, positions, std::max(vectors, most));
    if (tile.vectors < vectors) {
      vectors = std::max(1L, tile.vectors);
      while (block % (vectors * lanes) != 0) --vectors;
      block = vectors * lanes;
      tile = choose_tile(s.target, positions, vectors);
    } else {
      side_by_side = tile.vectors / vectors;
      while (side_by_side > 1 && (per_group / block) % side_by_side != 0) --side_by_side;
      tile = choose_tile(s.target, positions, vectors * side_by_side);
    }
    while (tile.positions * vectors * side_by_side + vectors * side_by_side +
               (s.target.lane_products ? tile.positions : 1) >
           s.target.registers) {
      if (--tile.positions == 1) break;
    }
  }

  auto [vo, vi] = writer.split(parts.vector, block);
  std::string several;
  if (!vo.empty() && side_by_side > 1 && extent_now(vo) > side_by_side) {
    auto [outer, inner] = writer.split(vo, side_by_side);
    vo = outer;
    several = inner;
  }
  std::string position_outer, position_inner;
  if (!parts.positions.empty()) {
    std::string last = parts.positions.back();
    parts.positions.pop_back();
    if (tile.positions > 1) {
      std::tie(position_outer, position_inner) = writer.split(last, tile.positions);
    } else {
      position_outer = last;
    }
  }
  std::string near = neighbours(roles, parts), near_outer, near_inner;
  if (!near.empty()) {
    long together = std::max(4L, s.target.lane_products ? lanes : 1L);
    long extent = extent_now(near);
    long evenly = roles.find(near)->reads[parts.data].evenly;
    if (extent <= 8) together = extent;
    if (evenly != 0) together = std::min(together, evenly);
    std::tie(near_outer, near_inner) = writer.split(near, together);
  }

  std::vector<std::string> order = parts.both;
  order.push_back(vo);
  order.insert(order.end(), parts.positions.begin(), parts.positions.end());
  order.push_back(position_outer);
  std::vector<std::string> shared = order;
  order.push_back(near_outer);
  for (const std::string& sum : parts.sums) {
    if (sum != near) order.push_back(sum);
  }
  for (const std::string& loop : {near_inner, several, position_inner, vi}) order.push_back(loop);
  writer.reorder(order);
  writer.merge(shared);
  for (const std::string& loop : {near_inner, several, position_inner}) {
    if (!loop.empty()) writer.step("unroll", {loop});
  }
  writer.step("vectorize", {vi});
  size_t parallel = 0;
  for (const std::string& loop : shared) {
    if (loop.empty() || parallel == 2) continue;
    writer.step("parallel", {loop});
    ++parallel;
  }
  const Tensor& weights = s.nest.tensors()[s.nest.statements()[main].reads[parts.weight].tensor];
  if (weights.role == Role::weight) writer.step("pack", {weights.name});
  return writer.recipe();
}

}  // namespace

Schedule contraction() {
  return {"contraction", "register tiles of sums of products", Schedule::For::kind, recipe};
}

}  // namespace lathe::schedules
