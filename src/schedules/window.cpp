// window.cpp: windows that slide over each channel alone: depthwise convolutions and pooling.
//
//   for c.o, oh, c.i.o, ow.o:
//     kh, kw, ow.i unrolled, c.i.i vector:  O[c, oh, ow] += W[c, kh, kw] * I[c, oh + kh, ow + kw]
//
// The vectors run along the channels where these lie side by side, otherwise along the rows; the
// positions of a tile, columns or then rows, share the weights and most of the window. An input
// that is copied to have a padding is so channel by channel: the copy stays in the first cache.
#include <algorithm>

#include "schedules/schedule_choices.h"
#include "schedules/schedule_counting.h"
#include "schedules/schedule_product.h"
#include "schedules/schedule_roles.h"
#include "transforms/transform_neural.h"

namespace lathe::schedules {
namespace {

/// Windows larger than this stay loops. A search may try larger ones: beyond those, the code does
/// not fit the instruction cache.
constexpr long most_unrolled = 5 * 5, most_tried = 4 * most_unrolled;

/// The part of the registers that results take: a quarter. The rest is for windows and weights.
constexpr long share_of_registers = 4;

/// Vectors side by side where there are no weights, and in copies: as many as a line or two hold.
constexpr long wide_block = 4;

/// What a search may try: vectors of a block, and positions of a tile.
const std::vector<long> block_vectors = {1, 2, 4, 8};
const std::vector<long> tile_positions = {2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16};

/// The loops of the statement that slides the window.
struct Parts {
  std::string vector;
  bool along_rows = true;  ///< no other loop over the result comes after the vector's
  std::vector<std::string> outer, window;
  long window_size = 1;
  long evenly = 0;  ///< iterations of the vector's loop between jumps; 0: all
};

std::optional<Parts> parts_of(const Roles& roles) {
  Parts parts;
  auto runs_along = [](const LoopRole& loop, bool channels) {
    auto fits = [&](const Motion& read) {
      return channels ? read.moves : read.moves ? read.step > 0 : true;
    };
    return loop.extent > 1 && loop.write.step == 1 &&
           std::all_of(loop.reads.begin(), loop.reads.end(), fits);
  };
  for (bool channels : {true, false}) {
    for (const LoopRole& loop : roles.loops) {
      if (parts.vector.empty() && runs_along(loop, channels)) parts.vector = loop.name;
    }
  }
  for (const LoopRole& loop : roles.loops) {
    if (!loop.write.moves) {
      parts.window.push_back(loop.name);
      parts.window_size *= loop.extent;
    } else if (loop.name == parts.vector) {
      parts.along_rows = true;
      parts.evenly = loop.evenly();
    } else {
      parts.outer.push_back(loop.name);
      parts.along_rows = false;
    }
  }
  if (parts.vector.empty() || parts.window.empty()) return std::nullopt;
  return parts;
}

/// Returns how many of "extent" positions a tile has whose results take so many vectors each.
long positions_of(const Target& target, long extent, long vectors) {
  long most = std::max(1L, target.cpu.registers / share_of_registers / vectors);
  for (long t = std::min(most, extent); 2 * t > most; --t) {
    if (extent % t == 0) return t;
  }
  return most;
}

/// Writes vectors along the last loop of the statements that copy what the main one reads.
void vectorize_copies(RecipeWriter& writer, const Situation& s, size_t main, long block) {
  for (const Access& read : s.nest.statements()[main].reads) {
    if (s.nest.tensors()[read.tensor].role != Role::local) continue;
    for (size_t i = 0; i < s.nest.statements().size(); ++i) {
      if (s.nest.statements()[i].write.tensor != read.tensor) continue;
      const Loop& last = s.nest.order[i].loops.back();
      std::string loop = s.nest.statements()[i].name + ":" + last.name;
      if (last.extent > block) {
        writer.step("split", {loop, block});
        loop += ".i";
      }
      writer.step("vectorize", {loop});
    }
  }
}

/// Returns how many channels or columns a tile has, of those that lie together.
long choose_block(Choices& choices, const Parts& parts, long extent, long lanes, long most) {
  long together = parts.evenly == 0 ? extent : parts.evenly;
  std::vector<long> blocks = within(multiples(lanes, block_vectors), 1, together);
  std::erase_if(blocks, [&](long n) { return parts.evenly % n != 0; });
  return choices.choose("block", std::min(together, most), blocks);
}

/// Returns how many positions a tile has whose results take so many vectors each.
long choose_positions_of(Choices& choices, const Target& target, long extent, long vectors) {
  long most = std::min(extent, target.cpu.registers / vectors);
  return choices.choose("positions", positions_of(target, extent, vectors),
                        within(tile_positions, 2, most));
}

/// Returns an index of the result that the main statement counts with two loops, and some other
/// statement with one: the two loops are groups and the channels of a group.
std::optional<Counted> groups_of(const Nest& nest, size_t main) {
  for (const Counted& index : counted_indices(nest.statements()[main].write, nest.order[main])) {
    bool alone = std::any_of(nest.order.begin(), nest.order.end(), [&](const Order& order) {
      return find_loop(order, index.loop) && !find_loop(order, index.outer);
    });
    if (!index.outer.empty() && alone) return index;
  }
  return std::nullopt;
}

/// Brings statements together that count the same channels, rows or columns under other names:
/// their loops become one, or get the same name where they cannot.
void bring_together(RecipeWriter& writer, size_t main, const std::string& samples) {
  std::vector<OtherName> others = other_names(writer.nest(), main);
  // What sets more elements than the windows write stays apart.
  std::erase_if(others, [&](const OtherName& other) {
    return !other.whole && writer.nest().statements()[other.statement].reads.empty();
  });
  auto groups = groups_of(writer.nest(), main);
  if (others.empty() && !groups) return;
  if (!samples.empty()) writer.merge({samples});
  if (groups) writer.step("merge", {groups->outer, groups->loop});
  for (const OtherName& other : others) {
    const Order& order = writer.nest().order[other.statement];
    const std::string& own = order.loops[other.depth].name;
    if (own == other.name) continue;
    Step merge{"merge", {other.name, own}};
    if (!find_loop(order, other.name) && applies(writer.nest(), merge)) {
      writer.step(merge.name, merge.args);
    } else {
      rename_loop(writer, other);
    }
  }
}

std::optional<Written> write(const Situation& s, Choices& choices) {
  size_t main = main_statement(s.nest);
  const Statement& statement = s.nest.statements()[main];
  if (statement.update == Update::assign || s.nest.statements().size() < 2) return std::nullopt;
  Roles roles = roles_of(s, main);
  auto found = parts_of(roles);
  if (!found) return std::nullopt;
  Parts parts = *found;
  RecipeWriter writer(s.nest);
  std::string samples = samples_loop(s.nest, main);
  bring_together(writer, main, samples);

  bool halves = multiplies_halves(s, main);
  long lanes = s.target.lanes(halves ? size_of(Element::f16) : real_bytes);
  // Without weights of each lane, which take registers, several vectors go side by side.
  long most = statement.reads.size() > 1 && !parts.along_rows ? lanes : wide_block * lanes;
  long extent = roles.find(parts.vector)->extent;
  long block = choose_block(choices, parts, extent, lanes, most);
  // Blocks of the layout first: the vectors of one pass over the same rows.
  auto [blocks, vectors, vector] = writer.split(parts.vector, parts.evenly, block);
  if (blocks.empty() && !parts.along_rows) std::swap(blocks, vectors);
  std::string position, unrolled_position;
  if (!parts.outer.empty()) {
    std::string last = parts.outer.back();
    long positions = choose_positions_of(choices, s.target, roles.find(last)->extent,
                                         (block + lanes - 1) / lanes);
    std::tie(position, unrolled_position) = writer.split(last, positions);
    parts.outer.pop_back();
  }
  std::vector<std::string> order{blocks};
  if (!parts.outer.empty() && parts.outer.front() == samples) {
    order.insert(order.begin(), parts.outer.front());
    parts.outer.erase(parts.outer.begin());
  }
  order.insert(order.end(), parts.outer.begin(), parts.outer.end());
  order.insert(order.end(), {vectors, position});
  std::vector<std::string> shared = order;
  order.insert(order.end(), parts.window.begin(), parts.window.end());
  order.insert(order.end(), {unrolled_position, vector});
  writer.reorder(order);
  writer.merge(shared);
  long unrolled = parts.window_size <= most_unrolled ? 1 : 0;
  long could_be = parts.window_size <= most_tried ? 1 : 0;
  if (choices.choose("unroll_window", unrolled, {0, could_be}) != 0) {
    for (const std::string& loop : parts.window) writer.step("unroll", {loop});
  }
  if (!unrolled_position.empty()) writer.step("unroll", {unrolled_position});
  writer.step("vectorize", {vector});
  vectorize_copies(writer, s, main, wide_block * lanes);
  writer.share(shared, s.target);
  if (halves && statement.update == Update::add) add_up_halves(writer, statement.name, shared);
  writer.pack_weights(main);
  return writer.written();
}

}  // namespace

Schedule window() {
  return {"window", "windows that slide over each channel alone", Schedule::For::kind, write};
}

}  // namespace lathe::schedules
