// winograd.cpp: windows that slide by 1, with the products of winograd(m).
//
//   for t.o, g:                                 blocks of tiles, groups: parallel
//     for t.i, ci.o:   T = B I;  V = T B        a column of T, a row of V at a time; vectors of ci
//     for co.o:
//       for u, v, t.i.o:                        tiles in registers
//         for ci.o:  P[u, v, t, co] += U[co, ci, u, v] * V[u, v, t, ci]
//       for t.i, co.i.o:  Q = A P;  Y = Q A;  O += Y, and what follows
//
// A block has as many tiles as fit the second cache with all their channels; U is packed in the
// order in which it is read, so that it streams. Where one block has all tiles, workers share the
// columns co.o instead (or the planes u, v), and the input is transformed before. Groups that read
// every so many channels share one transformed input: it is made before the loop over groups.
#include <algorithm>

#include "schedules/schedule_choices.h"
#include "schedules/schedule_convolution.h"
#include "schedules/schedule_counting.h"
#include "schedules/schedule_product.h"
#include "schedules/schedule_roles.h"
#include "schedules/schedule_winograd.h"
#include "transforms/transform_winograd.h"

namespace lathe::schedules {
namespace {

long extent_of(const Order& order, const std::string& loop) {
  auto at = find_loop(order, loop);
  return at ? order.loops[*at].extent : 1;
}

/// What a search may try. Tiles of a block: numbers that divide those of usual images, 7 to 56 rows
/// in tiles of 2 or 4. Tiles in registers, and vectors of a column: as many as can fit the
/// registers. Iterations of a sum that are unrolled, or are asked for ahead: powers of two.
const std::vector<long> block_sizes = {4,  5,  8,  10, 12, 15, 16, 20, 24,
                                       25, 28, 30, 32, 48, 64, 98, 196};
const std::vector<long> tile_sizes = {2, 3, 4, 5, 6, 7, 8, 9, 10, 12};
const std::vector<long> column_vectors = {4, 3, 2, 1, 6, 8};  // the first that fits is taken
const std::vector<long> unrolled_sums = {1, 2, 4, 8, 16};
const std::vector<long> distances = {8, 16, 32, 64, 128};
const std::vector<long> subsum_sizes = {32, 64, winograd_most_in_subsum};

/// Iterations of a sum that are unrolled where factors are broadcast: enough to hide the loop.
constexpr long unrolled_broadcasts = 4;

/// Ends the names of loops that only the statement has which puts shuffled channels into order.
constexpr const char* ordered_suffix = ".s";

/// Outputs of a tile's row for which winograd(m) exists. Tiles of 6 round more: they come last.
const std::vector<long> rows_of_outputs = {4, 2, 6};

/// Returns the outputs that a tile's row may have, the quickest first.
std::vector<long> possible_outputs(const Situation& s, const WinogradShape& shape) {
  std::vector<long> possible;
  for (long m : rows_of_outputs) {
    if (shape.rows > m && shape.columns > m) possible.push_back(m);
  }
  if (possible.size() > 1 &&
      winograd_cycles(s.target, shape, 2) < winograd_cycles(s.target, shape, 4)) {
    std::swap(possible[0], possible[1]);
  }
  return possible;
}

/// Writes the recipe.
class Writing {
 public:
  Writing(const Situation& s, Choices& choices, const Convolution& convolution, long outputs)
      : s_(s),
        choices_(choices),
        shape_(convolution.shape),
        loops_(convolution.loops),
        shuffled_(convolution.shape.together > 1),
        m_(outputs),
        lanes_(s.target.lanes(convolution.shape.element)),
        writer_(s.nest) {}

  std::optional<Written> run() {
    apply_winograd();
    if (!split_tiles()) return std::nullopt;
    split_channels();
    order_all();
    merge_all();
    mark_all();
    if (shape_.element < real_bytes) add_up_halves(writer_, products_, around_sums());
    writer_.step("pack", {U_});
    std::string packed = writer_.nest().tensors().back().name;
    long ahead = sum_.empty() ? 0 : choices_.choose("prefetch", 0, distances);
    if (ahead > 0) writer_.step("prefetch", {packed, in(products_, sum_), ahead});
    return writer_.written();
  }

 private:
  const Situation& s_;
  Choices& choices_;
  WinogradShape shape_;
  ConvolutionLoops loops_;
  bool shuffled_;       // the input is transformed for all groups at once
  WinogradLoops made_;  // loops that the step makes
  long m_, lanes_;
  RecipeWriter writer_;
  std::string U_, products_;
  std::string ordered_;  // the statement that puts shuffled channels into order
  // The statements by what they belong to.
  std::vector<std::string> weights_, input_, product_, output_;
  long filters_ = 1;         // in a column
  bool by_columns_ = false;  // workers share channels, not tiles
  bool by_planes_ = false;   // all columns of a plane u, v before the next plane
  // Loops; "" where there is none.
  std::string tile_blocks_, tile_, tiles_outer_, tiles_inner_, columns_, column_;
  std::string subsum_, sum_, sum_inner_;
  std::string ordered_groups_, ordered_group_, ordered_blocks_, ordered_lanes_;

  static std::string in(const std::string& statement, const std::string& loop) {
    return statement + ":" + loop;
  }

  const Order& order_of(const std::string& statement) const {
    const auto& all = writer_.nest().statements();
    size_t i = 0;
    while (all[i].name != statement) ++i;
    return writer_.nest().order[i];
  }

  bool has(const std::string& statement, const std::string& loop) const {
    return find_loop(order_of(statement), loop).has_value();
  }

  void apply_winograd() {
    size_t before = s_.nest.statements().size(), main = main_statement(s_.nest);
    name_alike(writer_, main);
    made_ = winograd_loops(writer_.nest(), loops_.rows, loops_.columns);
    writer_.step("winograd", {m_, s_.nest.statements()[main].name});
    const auto& made = writer_.nest().statements();
    shuffled_ = writer_.has(made_.channels);
    std::vector<size_t> written;  // by the statements that were made, in order
    for (size_t i = before; i < made.size(); ++i) written.push_back(made[i].write.tensor);
    size_t inputs = shuffled_ ? 3 : 2;  // statements that transform the input
    products_ = made[before + inputs + 1].name;
    if (shuffled_) ordered_ = made[before + inputs].name;
    U_ = writer_.nest().tensors()[written[0]].name;
    writer_.step("start", {});
    for (const Statement& s : writer_.nest().statements()) {
      size_t t = s.write.tensor;
      size_t made_by =
          static_cast<size_t>(std::find(written.begin(), written.end(), t) - written.begin());
      auto& group = made_by == 0            ? weights_
                    : made_by <= inputs     ? input_
                    : made_by == inputs + 1 ? product_
                                            : output_;
      group.push_back(s.name);
    }
  }

  /// Cuts the output into tiles everywhere, and these into blocks; false if a statement has other
  /// loops.
  bool split_tiles() {
    const std::string &g = loops_.groups, &co = loops_.filters;
    writer_.split(loops_.rows, m_);
    writer_.split(loops_.columns, m_);
    for (const std::string& statement : output_) {
      for (const std::string& loop : {co, made_.tile_rows, made_.tile_columns}) {
        if (!has(statement, loop)) return false;
      }
      if (shape_.groups > 1 && !has(statement, g)) {
        writer_.step("split", {in(statement, co), shape_.filters});
        writer_.step("rename", {in(statement, co + ".o"), g});
        writer_.step("rename", {in(statement, co + ".i"), co});
      }
      put(statement, {made_.tile_rows, made_.tile_columns, made_.rows, made_.columns});
    }
    std::string all = fresh_name(s_.nest, "t");
    writer_.step("fuse", {made_.tile_rows, made_.tile_columns, all});
    filters_ = block_of_filters();
    WinogradTiles tiles(s_.target, shape_, m_, filters_);
    TilePlan own = tiles.plan();
    long block = choices_.choose("tiles", own.block.tiles, within(block_sizes, 2, tiles.count()));
    long positions =
        choices_.choose("positions", own.block.positions, within(tile_sizes, 2, block));
    by_planes_ = choices_.choose("planes", own.planes ? 1 : 0, {0, 1}) == 1;
    bool columns = own.planes || tiles.shares_columns(block);
    by_columns_ = choices_.choose("columns", columns ? 1 : 0, {0, 1}) == 1;
    std::tie(tile_blocks_, tile_) = writer_.split(all, block);
    for (const std::string& statement : product_) {
      std::tie(tiles_outer_, tiles_inner_) = split(statement, tile_, positions);
    }
    return true;
  }

  /// Splits a loop of one statement unless it has no more iterations than "factor". Returns the
  /// names of the outer loop ("" if it was not split) and of the inner one.
  std::pair<std::string, std::string> split(const std::string& statement, const std::string& loop,
                                            long factor) {
    if (extent_of(order_of(statement), loop) <= factor) return {"", loop};
    writer_.step("split", {in(statement, loop), factor});
    return {loop + ".o", loop + ".i"};
  }

  /// Returns how many filters make a column of vectors.
  long block_of_filters() {
    std::vector<long> blocks;
    for (long vectors : column_vectors) {
      bool fits = shape_.filters % (vectors * lanes_) == 0;
      if (fits) blocks.push_back(vectors * lanes_);
    }
    long own = blocks.empty() ? lanes_ : blocks.front();
    return choices_.choose("block", own, blocks);
  }

  void split_channels() {
    std::tie(columns_, column_) = writer_.split(loops_.filters, filters_);
    for (const std::string& statement : output_) split(statement, column_, lanes_);
    for (const std::string& statement : input_) split(statement, input_channels(), lanes_);
    long own = s_.target.cpu.lane_products ? lanes_ : unrolled_broadcasts;
    long together = choices_.choose("together", own, unrolled_sums);
    std::tie(sum_, sum_inner_) = split(products_, loops_.channels, together);
    if (shape_.element == real_bytes || sum_.empty()) return;
    long most = choices_.choose("subsum", winograd_most_in_subsum, subsum_sizes);
    std::tie(subsum_, sum_) = split(products_, sum_, std::max(2L, most / together));
  }

  /// Returns the loops of the products in whose bodies their sums, or parts of them, are complete.
  std::vector<std::string> around_sums() const {
    std::vector<std::string> loops{made_.v, columns_, tiles_outer_, subsum_};
    if (!by_planes_) std::swap(loops[0], loops[1]);
    std::erase_if(loops, [&](const std::string& loop) { return !has(products_, loop); });
    return loops;
  }

  /// Puts the loops of one statement into this order; it need not have all of them.
  void put(const std::string& statement, const std::vector<std::string>& loops) {
    std::vector<Arg> args;
    for (const std::string& loop : loops) {
      if (!loop.empty() && has(statement, loop)) args.emplace_back(in(statement, loop));
    }
    if (args.size() > 1) writer_.step("reorder", std::move(args));
  }

  void order_all() {
    const std::string &n = loops_.samples, &g = loops_.groups, &u = made_.u, &v = made_.v;
    for (const std::string& s : weights_) {
      put(s,
          {g, columns_, column_, loops_.channels, u, v, loops_.window_rows, loops_.window_columns});
      // Loops of its own: it does not run with the rest.
      for (const std::string& loop : {g, columns_}) {
        if (has(s, loop)) writer_.step("rename", {in(s, loop), loop + ".w"});
      }
    }
    for (const std::string& s : input_) {
      if (s == ordered_) {
        put_ordered(s);
        continue;
      }
      std::vector<std::string> order{n, tile_blocks_, g, tile_, channel_blocks()};
      if (by_columns_ && !shuffled_) order = {n, g, channel_blocks(), tile_};
      // A column of the tile becomes a column of T; a row of T becomes a row of V.
      std::vector<std::string> inside{made_.input_columns, made_.input_rows, u};
      if (has(s, v)) inside = {u, made_.input_columns, v};
      order.insert(order.end(), inside.begin(), inside.end());
      order.push_back(channel_lanes(s));
      put(s, order);
      // The products of all tiles come between these tiles and those of the outputs.
      if (has(s, tile_)) writer_.step("rename", {in(s, tile_), input_tile()});
    }
    for (const std::string& s : product_) {
      std::vector<std::string> order{n, tile_blocks_, g, columns_, u, v};
      if (by_planes_) order = {n, tile_blocks_, g, u, v, columns_};
      order.insert(order.end(), {tiles_outer_, subsum_, sum_, sum_inner_, tiles_inner_, column_});
      put(s, order);
    }
    for (const std::string& s : output_) {
      std::vector<std::string> order{n, tile_blocks_, g, columns_, tile_, column_ + ".o"};
      std::vector<std::string> inside{made_.rows, v, made_.columns};
      if (is_half_done(s)) inside = {v, u, made_.rows};
      order.insert(order.end(), inside.begin(), inside.end());
      order.push_back(lanes_loop());
      put(s, order);
    }
  }

  /// Splits and orders the loops of the statement that puts shuffled channels into order: it reads
  /// several groups and writes several channels at a time, a square that is turned in registers.
  void put_ordered(const std::string& s) {
    for (std::string* loop : {&loops_.groups, &loops_.channels, &made_.u, &made_.v}) {
      writer_.step("rename", {in(s, *loop), *loop + ordered_suffix});
    }
    std::string g = loops_.groups + ordered_suffix, c = loops_.channels + ordered_suffix;
    std::tie(ordered_groups_, ordered_group_) = split(s, g, lanes_);
    std::tie(ordered_blocks_, ordered_lanes_) = split(s, c, lanes_);
    put(s, {loops_.samples, tile_blocks_, tile_, made_.u + ordered_suffix, made_.v + ordered_suffix,
            ordered_groups_, ordered_blocks_, ordered_group_, ordered_lanes_});
    if (has(s, tile_)) writer_.step("rename", {in(s, tile_), input_tile()});
  }

  /// Returns the loops over the channels of the input, where it is transformed: over vectors, and
  /// inside one.
  std::string channel_blocks() const { return input_channels() + ".o"; }
  std::string channel_lanes(const std::string& statement) const {
    std::string lanes = input_channels() + ".i";
    return has(statement, lanes) ? lanes : input_channels();
  }
  const std::string& input_channels() const { return shuffled_ ? made_.channels : loops_.channels; }

  /// Returns the loop over the tiles of a block whose input is transformed.
  std::string input_tile() const { return tile_ + ".in"; }

  /// Does the statement make Q, the outputs' rows of columns that are still transformed?
  bool is_half_done(const std::string& statement) const {
    return has(statement, made_.v) && !has(statement, made_.columns);
  }

  /// Returns the loop of the outputs' vectors.
  std::string lanes_loop() const { return filters_ > lanes_ ? column_ + ".i" : column_; }

  void merge(const std::string& loop) {
    if (!loop.empty()) writer_.merge_neighbours({loop});
  }

  /// Gives some statements outer loops of their own.
  void set_apart(const std::vector<std::string>& statements, const std::string& suffix) {
    for (const std::string& loop : {loops_.samples, loops_.groups}) {
      if (!has(statements.front(), loop)) continue;
      for (const std::string& s : statements) writer_.step("rename", {in(s, loop), loop + suffix});
      merge(loop + suffix);
    }
  }

  void merge_all() {
    const std::string &n = loops_.samples, &g = loops_.groups, &u = made_.u, &v = made_.v;
    for (const std::string& loop : {g + ".w", columns_ + ".w", column_, loops_.channels}) {
      if (has(weights_.front(), loop)) merge(loop);
    }
    if (by_columns_) {
      set_apart(input_, ".in");
      if (by_planes_) set_apart(output_, ".out");
    }
    for (const std::string& loop : {n, tile_blocks_, g}) merge(loop);
    bool channels_first = by_columns_ && !shuffled_;
    merge(channels_first ? channel_blocks() : input_tile());
    merge(channels_first ? input_tile() : channel_blocks());
    merge(columns_);
    for (const std::string& loop : {u, v}) merge(loop);
    if (by_planes_) merge(columns_);
    merge(tiles_outer_);
    merge(tile_);
    merge(column_ + ".o");
    // Inside a tile: a column of T, a row of V, a column of Q, and what is made of a row of
    // outputs.
    for (const std::string& loop : {made_.input_columns, u, v, made_.rows, made_.columns}) {
      merge(loop);
    }
    merge(lanes_loop());
  }

  void mark(const std::string& statement, const char* step, const std::string& loop) {
    if (!loop.empty() && has(statement, loop)) writer_.step(step, {in(statement, loop)});
  }

  void mark_all() {
    const std::string &u = made_.u, &v = made_.v;
    for (const std::string& s : input_) {
      if (s == ordered_) {
        mark(s, "unroll", ordered_group_);
        mark(s, "vectorize", ordered_lanes_);
        continue;
      }
      for (const std::string& loop : {has(s, v) ? made_.input_columns : u, made_.input_rows, v}) {
        mark(s, "unroll", loop);
      }
      mark(s, "vectorize", channel_lanes(s));
    }
    for (const std::string& s : product_) {
      for (const std::string& loop : {sum_inner_, tiles_inner_}) mark(s, "unroll", loop);
      mark(s, "vectorize", column_);
    }
    for (const std::string& s : output_) {
      for (const std::string& loop : {made_.columns, u}) mark(s, "unroll", loop);
      mark(s, "unroll", is_half_done(s) ? made_.rows : v);
      mark(s, "vectorize", lanes_loop());
    }
    for (const std::string& s : weights_) {
      for (const std::string& loop : {u, v, loops_.window_rows, loops_.window_columns}) {
        mark(s, "unroll", loop);
      }
    }
    for (const std::string& loop : {loops_.groups + ".w", columns_ + ".w"}) {
      mark(weights_.front(), "parallel", loop);
    }
    share();
  }

  /// Shares the outermost loops among workers: of each part that has loops of its own.
  void share() {
    const std::string &n = loops_.samples, &g = loops_.groups;
    // What is transformed for all groups is not for one worker's group alone.
    if (!by_columns_) return share({n, tile_blocks_, shuffled_ ? "" : g}, output_);
    share({n + ".in", g + ".in", shuffled_ ? "" : channel_blocks(), input_tile()}, input_);
    if (!by_planes_) return share({n, g, columns_}, output_);
    share({n, g, made_.u, made_.v, columns_}, product_);
    share({n + ".out", g + ".out", columns_, tile_}, output_);
  }

  void share(std::vector<std::string> loops, const std::vector<std::string>& statements) {
    std::erase_if(loops, [&](const std::string& loop) {
      return loop.empty() || !has(statements.front(), loop);
    });
    for (std::string& loop : loops) loop = in(statements.front(), loop);
    writer_.share(loops, s_.target);
  }
};

std::optional<Written> write(const Situation& s, Choices& choices) {
  auto convolution = convolution_of(s);
  if (!convolution) return std::nullopt;
  std::vector<long> possible = possible_outputs(s, convolution->shape);
  if (possible.empty()) return std::nullopt;
  long outputs = choices.choose("outputs", possible.front(), possible);
  return Writing(s, choices, *convolution, outputs).run();
}

bool is_worth_it(const Situation& s) {
  auto convolution = convolution_of(s);
  if (!convolution) return false;
  const WinogradShape& shape = convolution->shape;
  std::vector<long> possible = possible_outputs(s, shape);
  return !possible.empty() &&
         winograd_cycles(s.target, shape, possible.front()) < direct_cycles(s.target, shape);
}

}  // namespace

Schedule winograd() {
  return {"winograd", "fewer products for windows that slide by 1", Schedule::For::fewer, write,
          is_worth_it};
}

}  // namespace lathe::schedules
