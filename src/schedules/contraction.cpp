// contraction.cpp: sums of products in which one factor has loops of its own: convolutions, dense
// and grouped, of any window, and products of matrices.
//
//   for oh.o, co.o, oh.i, ow.o:   parallel, as far as they go
//     start, bias                 the tile of sums is in registers from here ...
//     for ci.o, kh, kw:
//       ci.i, ow.i unrolled, co.i vector:  O[co, oh, ow] += W[co, ci, kh, kw] * I[ci, oh+kh, ow+kw]
//     relu, residual ...          ... to here
//
// The vectors run along the loop that only the weights and the result have (co); the tile's other
// side is the innermost loop that only the data and the result have (ow). Weights are packed in the
// order in which they are read. Data that do not fit the second cache are walked in parts that do,
// so that all columns of weights meet a part before the next one comes.
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

/// A register tile: so many positions, and blocks of so many channels side by side.
struct Tile {
  long positions, block, blocks;
};

/// Chooses the tile. "block" is how many channels of "all" lie together.
Tile choose_tile(const Target& target, long positions, long block, long all, long lanes) {
  Tile best{1, block, 1};
  if (positions == 1) {
    // Nothing is shared between positions: several columns hide the latency.
    long vectors = std::max(1L, block / lanes);
    while (vectors * best.blocks < 8 && block * best.blocks * 2 <= all) best.blocks *= 2;
    return best;
  }
  double least = 1e300;
  auto consider = [&](long channels, long blocks) {
    long vectors = (channels + lanes - 1) / lanes * blocks;
    auto choice = choose_positions(target, positions, vectors);
    if (!choice || choice->cost >= least * 0.995) return;
    least = choice->cost;
    best = {choice->positions, channels, blocks};
  };
  // Whole blocks first: of equal choices they load least.
  for (long blocks : {1L, 2L, 3L, 4L}) {
    if (blocks == 1 || (all % (block * blocks) == 0)) consider(block, blocks);
  }
  for (long part = block / 2; part >= lanes && block % part == 0; part /= 2) consider(part, 1);
  return best;
}

/// Returns how many iterations of a loop over "extent" positions make a part of the data that stays
/// in the second cache, as a multiple of "step"; "extent" if all of them do, or if the "columns"
/// of weights weigh more.
long part_of(const Target& target, double data_bytes, double weight_bytes, long columns,
             long extent, long step) {
  double budget = static_cast<double>(target.l2_bytes) / 2;
  if (data_bytes <= budget || extent <= step) return extent;
  auto parts = static_cast<long>(data_bytes / (budget / 2)) + 1;
  // Each part meets all weights: that must not cost more than it saves.
  bool weights_stay = weight_bytes <= budget;
  if (!weights_stay &&
      static_cast<double>(parts) * weight_bytes > static_cast<double>(columns) * data_bytes) {
    return extent;
  }
  long size = (extent + parts - 1) / parts;
  size = std::max(step, (size + step - 1) / step * step);
  if (size >= extent) return extent;
  // Parts of one size share out evenly.
  long even = size;
  while (even > step && extent % even != 0) even -= step;
  return extent % even == 0 && 2 * even >= size ? even : size;
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
  long element =
      std::max(4L, size_of(s.nest.tensors()[s.nest.statements()[main].write.tensor].element));
  long lanes = s.target.lanes(element);
  const LoopRole& v = *roles.find(parts.vector);
  long per_group = v.extent;  // beyond it the data are others
  long block = v.write.evenly == 0 ? std::max(16L, 4 * lanes) : v.write.evenly;
  if (extent_now(parts.vector) != per_group) {
    while (per_group % block != 0) --block;
    if (block == 1) return std::nullopt;
  }
  long positions = parts.positions.empty() ? 1 : extent_now(parts.positions.back());
  Tile tile = choose_tile(s.target, positions, block, per_group, lanes);
  block = tile.block;

  auto [vo, vi] = writer.split(parts.vector, block);
  std::string several;
  if (!vo.empty() && tile.blocks > 1 && extent_now(vo) > tile.blocks) {
    auto [outer, inner] = writer.split(vo, tile.blocks);
    vo = outer;
    several = inner;
  }
  std::string position_outer, position_inner, part;
  auto bytes_of = [&](size_t read) {
    size_t tensor = s.nest.statements()[main].reads[read].tensor;
    return static_cast<double>(s.layouts[tensor].size * element);
  };
  double data_bytes = bytes_of(parts.data), weight_bytes = bytes_of(parts.weight);
  if (!parts.positions.empty()) {
    std::string last = parts.positions.back();
    parts.positions.pop_back();
    // The loop whose parts fit: the rows, or all positions where they are one loop.
    bool rows = !parts.positions.empty() && parts.positions.back() != batch_loop;
    std::string& walked = rows ? parts.positions.back() : last;
    long size = part_of(s.target, data_bytes, weight_bytes, vo.empty() ? 1 : extent_now(vo),
                        extent_now(walked), rows ? 1 : tile.positions);
    if (size > 1 && size < extent_now(walked)) {
      auto [outer, inner] = writer.split(walked, size);
      part = outer;
      walked = inner;
    }
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
  if (!parts.positions.empty() && parts.positions.front() == batch_loop) {
    order.push_back(parts.positions.front());
    parts.positions.erase(parts.positions.begin());
  }
  order.push_back(part);
  order.push_back(vo);
  order.insert(order.end(), parts.positions.begin(), parts.positions.end());
  order.push_back(position_outer);
  std::vector<std::string> shared = order;
  order.push_back(near_outer);
  for (const std::string& sum : parts.sums) {
    if (sum != near) order.push_back(sum);
  }
  // A factor that is broadcast serves all columns at once; lanes of a vector stay there anyway.
  if (s.target.lane_products) {
    order.insert(order.end(), {near_inner, several, position_inner, vi});
  } else {
    order.insert(order.end(), {near_inner, position_inner, several, vi});
  }
  writer.reorder(order);
  writer.merge(shared);
  for (const std::string& loop : {near_inner, several, position_inner}) {
    if (!loop.empty()) writer.step("unroll", {loop});
  }
  writer.step("vectorize", {vi});
  writer.share(shared);
  writer.pack_weights(main);
  return writer.recipe();
}

}  // namespace

Schedule contraction() {
  return {"contraction", "register tiles of sums of products", Schedule::For::kind, recipe};
}

}  // namespace lathe::schedules
