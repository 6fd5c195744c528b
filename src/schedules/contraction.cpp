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
// so that all columns of weights meet a part before the next one comes. A column that does not fit
// the first cache comes in chunks of ci that do: all tiles of a part then meet a chunk before the
// next.
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
  long most = std::max(16L, 4 * lanes);
  for (long blocks : {1L, 2L, 3L, 4L}) {
    bool fits = block <= most && (blocks == 1 || all % (block * blocks) == 0);
    if (fits) consider(block, blocks);
  }
  for (long part = std::min(block / 2, most); part >= std::min(lanes, block / 2); --part) {
    if (block % part == 0 && part % lanes == 0) consider(part, 1);
  }
  return best;
}

/// Returns a size near "size", as a multiple of "step", that divides "extent"; "size" if there is
/// none. Parts of one size share out evenly, and need no code for the last.
long evened(long extent, long size, long step) {
  long even = size;
  while (even > step && extent % even != 0) even -= step;
  return extent % even == 0 && 2 * even >= size ? even : size;
}

/// Returns in how many parts the data stay in the second cache; 1 if all of them do, or if the
/// "columns" of weights weigh more.
long parts_that_stay(const Target& target, double data_bytes, double weight_bytes, long columns) {
  double budget = static_cast<double>(target.l2_bytes) / 2;
  if (data_bytes <= budget) return 1;
  auto parts = static_cast<long>(data_bytes / (budget / 2)) + 1;
  // Each part meets all weights: that must not cost more than it saves.
  bool weights_stay = weight_bytes <= budget;
  bool worth =
      static_cast<double>(parts) * weight_bytes <= static_cast<double>(columns) * data_bytes;
  return weights_stay || worth ? parts : 1;
}

/// Returns the size of one of so many parts of a loop, as a multiple of "step".
long part_of(long extent, long parts, long step) {
  if (parts == 1 || extent <= step) return extent;
  long size = (extent + parts - 1) / parts;
  size = std::max(step, (size + step - 1) / step * step);
  return size >= extent ? extent : evened(extent, size, step);
}

/// Work is cut into so many shares, at least, if it can: more workers than that are rare.
constexpr long least_shares = 16;

/// Returns how many products are added to a tile before it is stored, at least: it costs a few to
/// do that. The wider the vectors, the more weights a cycle wants, and the more it is worth.
long least_sums(const Target& target) { return 4096 / target.vector_bytes; }

/// Returns how many iterations of a sum over "extent" make a chunk of a column of weights that
/// stays in the first cache while so many tiles meet it: several of the layout's blocks, or an even
/// part of one; "extent" if none is worth it. An iteration reads "bytes" and adds "sums" products
/// to each element.
long chunk_of(const Target& target, double bytes, long extent, long block, long sums, long visits) {
  auto cache = static_cast<double>(target.l1_bytes);
  auto most = static_cast<long>(cache / 2 / bytes);
  if (most >= extent) return extent;
  while (block > most && block % 2 == 0) block /= 2;
  long size = evened(extent, std::max(block, most / block * block), block);
  if (size * sums < least_sums(target)) return extent;
  // The first tile waits for each chunk: reading it again must be worth that.
  bool often = static_cast<double>(visits * size) * bytes >= 5 * cache;
  return often ? size : extent;
}

/// Writes the recipe: fuses, splits, then orders and marks the loops.
class Writing {
 public:
  Writing(const Situation& situation, Roles roles, Parts parts)
      : s_(situation),
        main_(roles.statement),
        roles_(std::move(roles)),
        parts_(std::move(parts)),
        writer_(situation.nest) {
    const Statement& statement = s_.nest.statements()[main_];
    element_ = std::max(4L, size_of(s_.nest.tensors()[statement.write.tensor].element));
    lanes_ = s_.target.lanes(element_);
    near_ = neighbours(roles_, parts_);
    std::erase(parts_.sums, near_);
  }

  std::optional<Written> run() {
    fuse_groups();
    fuse_positions();
    if (!choose_sizes()) return std::nullopt;
    split_columns();
    split_positions();
    block_stays_ = blocks_stay();
    split_sums();
    put_in_order();
    writer_.pack_weights(main_);
    return writer_.written();
  }

 private:
  const Situation& s_;
  size_t main_;
  Roles roles_;
  Parts parts_;
  RecipeWriter writer_;
  long element_, lanes_;  // bytes of an element, elements of a vector
  Tile tile_{1, 1, 1};
  bool block_stays_ = false;
  std::string near_;     // of the sums the one along the data in memory, which is split
  long chunk_size_ = 0;  // of it; 0 where no positions are
  // Names of loops, from outside in; "" where there is no such loop.
  std::string part_, columns_, columns_inside_, chunk_, position_, sum_blocks_, sum_;
  std::string unrolled_sum_, several_, unrolled_position_, vector_;

  long extent(const std::string& loop) const {
    const Order& order = writer_.nest().order[main_];
    return order.loops[*find_loop(order, loop)].extent;
  }

  double bytes_of(size_t read) const {
    size_t tensor = s_.nest.statements()[main_].reads[read].tensor;
    return static_cast<double>(s_.layouts[tensor].size * element_);
  }

  /// Groups and the channels inside them are walked as one: that is how the result is stored.
  void fuse_groups() {
    if (parts_.both.empty() || parts_.both.back() != "g") return;
    if (roles_.find("g") + 1 != roles_.find(parts_.vector)) return;
    writer_.step("fuse", {std::string("g"), parts_.vector, parts_.vector});
    parts_.both.pop_back();
  }

  void fuse_positions() {
    size_t n = parts_.positions.size();
    if (n < 2) return;
    std::string rows = parts_.positions[n - 2], columns = parts_.positions[n - 1];
    if (!are_flat(s_, rows, columns)) return;
    std::string both = rows + "_" + columns;
    writer_.step("fuse", {rows, columns, both});
    parts_.positions.pop_back();
    parts_.positions.back() = both;
  }

  /// Chooses the tile; returns whether there is one.
  bool choose_sizes() {
    const LoopRole& v = *roles_.find(parts_.vector);
    long per_group = v.extent;  // beyond it the data are others
    long block = v.write.evenly == 0 ? std::max(16L, 4 * lanes_) : v.write.evenly;
    if (extent(parts_.vector) != per_group) {
      while (per_group % block != 0) --block;
      if (block == 1) return false;
    }
    long positions = parts_.positions.empty() ? 1 : extent(parts_.positions.back());
    tile_ = choose_tile(s_.target, positions, block, per_group, lanes_);
    return true;
  }

  void split_columns() {
    // Blocks of the layout first: inside one, channels lie together.
    long evenly = roles_.find(parts_.vector)->write.evenly;
    auto split = writer_.split(parts_.vector, evenly, tile_.block);
    columns_ = split.blocks;
    columns_inside_ = split.parts;
    vector_ = split.inside;
    std::string& outer = columns_inside_.empty() ? columns_ : columns_inside_;
    if (tile_.blocks > 1 && !outer.empty() && extent(outer) > tile_.blocks) {
      std::tie(outer, several_) = writer_.split(outer, tile_.blocks);
    }
    if (columns_.empty()) std::swap(columns_, columns_inside_);
  }

  /// Do the columns of a block of the layout stay in the first cache together? Then a tile meets
  /// them all, and what it writes lies together.
  bool blocks_stay() const {
    if (columns_inside_.empty()) return false;
    long bytes = element_ * tile_.block * tile_.blocks * extent(columns_inside_);
    for (const std::string& sum : parts_.sums) bytes *= extent(sum);
    return bytes * (near_.empty() ? 1 : extent(near_)) <= s_.target.l1_bytes / 2;
  }

  long columns() const {
    long n = 1;
    for (const std::string& loop : {columns_, columns_inside_})
      n *= loop.empty() ? 1 : extent(loop);
    return n;
  }

  void split_positions() {
    if (parts_.positions.empty()) return;
    std::string last = parts_.positions.back();
    parts_.positions.pop_back();
    // The loop whose parts fit: the rows, or all positions where they are one loop.
    bool rows = !parts_.positions.empty() && parts_.positions.back() != batch_loop;
    std::string& walked = rows ? parts_.positions.back() : last;
    long parts =
        parts_that_stay(s_.target, bytes_of(parts_.data), bytes_of(parts_.weight), columns());
    // Where columns come in chunks, workers share parts and columns, but not the positions.
    long shares = std::max(parts, (least_shares + columns() - 1) / columns());
    long tiles = (extent(last) + tile_.positions - 1) / tile_.positions;
    if (!near_.empty()) {
      chunk_size_ = chunk_for((rows ? tiles * extent(walked) : tiles) / shares);
      if (chunk_size_ < extent(near_)) parts = shares;
    }
    long size = part_of(extent(walked), parts, rows ? 1 : tile_.positions);
    if (size > 1) std::tie(part_, walked) = writer_.split(walked, size);
    position_ = last;
    if (tile_.positions > 1) {
      std::tie(position_, unrolled_position_) = writer_.split(last, tile_.positions);
    }
  }

  /// Returns the size of a chunk of the sum over neighbours where so many tiles meet it.
  long chunk_for(long visits) const {
    long evenly = roles_.find(near_)->reads[parts_.data].evenly, sums = 1;
    for (const std::string& sum : parts_.sums) sums *= extent(sum);
    auto bytes = static_cast<double>(element_ * tile_.block * tile_.blocks * sums);
    return chunk_of(s_.target, bytes, extent(near_), std::max(16L, evenly), sums, visits);
  }

  void split_sums() {
    if (near_.empty()) return;
    std::string near = near_;
    long evenly = roles_.find(near_)->reads[parts_.data].evenly;
    if (chunk_size_ != 0) std::tie(chunk_, near) = writer_.split(near_, chunk_size_);
    long together = std::max(4L, s_.target.lane_products ? lanes_ : 1L);
    if (extent(near) <= 8) together = extent(near);
    if (evenly != 0) together = std::min(together, evenly);
    if (evenly > together) std::tie(sum_blocks_, near) = writer_.split(near, evenly);
    std::tie(sum_, unrolled_sum_) = writer_.split(near, together);
  }

  void put_in_order() {
    std::vector<std::string> order = parts_.both, inside = parts_.positions;
    if (!inside.empty() && inside.front() == batch_loop) {
      order.push_back(inside.front());
      inside.erase(inside.begin());
    }
    inside.push_back(position_);
    order.insert(order.end(), {part_, columns_});
    (block_stays_ ? inside : order).push_back(columns_inside_);
    std::vector<std::string> shared = order;
    order.push_back(chunk_);
    order.insert(order.end(), inside.begin(), inside.end());
    // Sums that come in chunks are set before the first and used after the last.
    if (chunk_.empty()) shared = order;
    order.insert(order.end(), {sum_blocks_, sum_});
    order.insert(order.end(), parts_.sums.begin(), parts_.sums.end());
    order.push_back(unrolled_sum_);
    // A factor that is broadcast serves all columns at once; lanes of a vector stay there anyway.
    std::vector<std::string> tile{several_, unrolled_position_};
    if (!s_.target.lane_products) std::swap(tile[0], tile[1]);
    order.insert(order.end(), tile.begin(), tile.end());
    order.push_back(vector_);
    writer_.reorder(order);
    writer_.merge(shared);
    if (!chunk_.empty()) writer_.merge_neighbours(inside);
    for (const std::string& loop : {unrolled_sum_, several_, unrolled_position_}) {
      if (!loop.empty()) writer_.step("unroll", {loop});
    }
    writer_.step("vectorize", {vector_});
    writer_.share(shared);
  }
};

std::optional<Written> recipe(const Situation& s) {
  Roles roles = roles_of(s, main_statement(s.nest));
  auto parts = parts_of(s, roles);
  if (!parts) return std::nullopt;
  return Writing(s, std::move(roles), std::move(*parts)).run();
}

}  // namespace

Schedule contraction() {
  return {"contraction", "register tiles of sums of products", Schedule::For::kind, recipe};
}

}  // namespace lathe::schedules
