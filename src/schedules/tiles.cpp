// tiles.cpp: products of matrices and convolutions on a GPU, in tiles.
//
//   block.z n, block.y co.o, block.x p.o:          64 filters by 64 positions
//     thread.y, thread.x:  O = 0                   4 by 4 of them in the registers of a thread
//     for ci.o:
//       all threads:  W.packed, I.packed = ...     the factors, in shared memory
//       thread.y, thread.x:  for ci.i, kh, kw:  O += W.packed * I.packed
//     thread.y, thread.x:  O = max(O, 0)
//
// Barriers follow from the dependences through the packed tensors. Sizes divide the loops: a block
// in which some threads have nothing to do would keep its sums in memory.
#include <algorithm>

#include "nest/dependence.h"
#include "schedules/schedule_grid.h"

namespace lathe::schedules {
namespace {

/// One side of the tile: blocks, threads, and the elements of one thread.
struct Side {
  std::string blocks, threads, own;
  long block = 1, each = 1;
};

/// Splits a loop twice. A loop of one iteration is there for each part that has no iterations.
Side split_side(RecipeWriter& writer, const std::string& loop, long extent, long block, long each) {
  Side side{"", "", loop, block, each};
  if (extent > block) {
    writer.step("split", {side.own, block});
    side.blocks = side.own + ".o";
    side.own += ".i";
  }
  if (block > each && each > 1) {
    writer.step("split", {side.own, each});
    side.threads = side.own + ".o";
    side.own += ".i";
  } else if (each == 1) {
    side.threads = side.own;
    side.own = "";
  }
  return side;
}

/// Usual sizes: of a block along each side, of a thread, threads of a block, and products that are
/// added between two barriers.
constexpr long usual_block = 64, usual_each = 4, usual_threads = 256, usual_depth = 18;
const std::vector<long> block_sizes = {8, 16, 32, 64, 128}, each_sizes = {1, 2, 4, 8},
                        depths = {4, 8, 16, 32}, slice_counts = {1, 2, 4, 8, 16, 32};

/// Elements of a tile: fewer are not worth a block.
constexpr long least_block = 64;

/// With fewer products there is nothing to share.
constexpr long least_products = 4;

/// Products between two barriers that are written out, vectors that a thread copies, and their
/// elements.
constexpr long most_written_out = 1024, most_copies = 16, longest_vector = 8;

/// Makes one loop of the loops of a copy from "around" on, and shares it among the threads of a
/// slice: neighbours copy elements side by side. What one thread uses at a time is one vector.
void share_copy(RecipeWriter& writer, size_t statement, size_t around, long down, long across) {
  std::string name = writer.nest().statements()[statement].name, prefix = name + ":";
  std::vector<Loop> loops = writer.nest().order[statement].loops;
  if (loops.size() > around + 1 && loops.back().extent <= longest_vector) {
    writer.step("vectorize", {prefix + loops.back().name});
    loops.pop_back();
  }
  if (around >= loops.size()) return;
  std::string one = loops[around].name;
  long extent = loops[around].extent;
  for (size_t i = around + 1; i < loops.size(); ++i) {
    writer.step("fuse", {prefix + one, prefix + loops[i].name, name + ".copy"});
    one = name + ".copy";
    extent *= loops[i].extent;
  }
  if (down * across == 1) return;
  if (extent > down * across) {
    writer.step("split", {prefix + one, down * across});
    if (extent / (down * across) <= most_copies) writer.step("unroll", {prefix + one + ".o"});
    one += ".i";
    extent = down * across;
  }
  if (extent > across && across > 1) {
    writer.step("split", {prefix + one, across});
    writer.step("bind", {prefix + one + ".o", "thread.y"});
    one += ".i";
  }
  writer.step("bind", {prefix + one, across > 1 ? "thread.x" : "thread.y"});
}

long extent_of(const RecipeWriter& writer, size_t statement, const std::string& loop) {
  const Order& order = writer.nest().order[statement];
  auto at = find_loop(order, loop);
  return at ? order.loops[*at].extent : 0;
}

/// How a product is cut into tiles. Of each tile, every slice of threads adds up a part.
struct Cut {
  long each_row, each_column;  // of a thread
  long block_rows, block_columns;
  long slices = 1;
  long piece = 1;  // iterations of the longest loop of the sum between barriers

  long row_threads() const { return block_rows / each_row; }
  long column_threads() const { return block_columns / each_column; }
  long threads() const { return row_threads() * column_threads() * slices; }
  /// Bytes of shared memory, at most: factors, of which each iteration of the loop has so many, and
  /// sums.
  long bytes(long others) const {
    long factors = (block_rows + block_columns) * piece * others;
    long sums = slices > 1 ? block_rows * block_columns : 0;
    return shared_bytes_of(slices * (factors + sums));
  }
};

/// Returns how many elements along one side a thread has.
long usual_each_of(long extent) {
  long each = greatest_divisor(extent, usual_each);
  return each > 2 ? each : greatest_divisor(extent, 2 * usual_each);
}

/// Chooses the sizes of tiles: as large as they can be while there are enough for all
/// multiprocessors. Where a block has few threads then, slices of them share the sums.
std::optional<Cut> cut_of(const Target& target, Choices& choices, long samples, long rows,
                          long columns, long longest, long others) {
  Cut cut{};
  cut.each_row =
      greatest_divisor(rows, choices.choose("each_row", usual_each_of(rows), each_sizes));
  cut.each_column =
      greatest_divisor(columns, choices.choose("each_column", usual_each_of(columns), each_sizes));
  auto size_of_block = [](long extent, long each, long most) {
    return each * greatest_divisor(extent / each, std::max(1L, most / each));
  };
  long own_rows = size_of_block(rows, cut.each_row, usual_block);
  long own_columns = size_of_block(columns, cut.each_column, usual_block);
  long enough = std::max(2L, target.gpu.multiprocessors * 3 / 4);
  while (own_rows * own_columns > least_block &&
         samples * (rows / own_rows) * (columns / own_columns) < enough) {
    long& larger =
        (own_rows / cut.each_row >= own_columns / cut.each_column) ? own_rows : own_columns;
    bool of_rows = &larger == &own_rows;
    long each = of_rows ? cut.each_row : cut.each_column;
    if (larger <= each) break;
    larger = size_of_block(of_rows ? rows : columns, each, larger - 1);
  }
  cut.block_rows = size_of_block(rows, cut.each_row, choices.choose("rows", own_rows, block_sizes));
  cut.block_columns =
      size_of_block(columns, cut.each_column, choices.choose("columns", own_columns, block_sizes));
  long blocks = samples * (rows / cut.block_rows) * (columns / cut.block_columns);
  long most = std::min(usual_threads, target.gpu.most_threads);
  auto fits = [&](long slices, long piece) {
    Cut other = cut;
    other.slices = slices;
    other.piece = piece;
    return other.threads() <= target.gpu.most_threads && slices <= target.gpu.most_deep &&
           (slices == 1 || slices < longest) && longest % (slices * piece) == 0 &&
           other.bytes(others) <= target.gpu.shared_bytes;
  };
  long slices = 1;
  bool few = blocks * cut.threads() < target.gpu.multiprocessors * most;
  for (long n = 2; few && n * cut.threads() <= most && n <= longest; ++n) {
    if (fits(n, 1) && longest / n * others >= least_products) slices = n;
  }
  slices = choices.choose("slices", slices, slice_counts);
  if (!fits(slices, 1)) return std::nullopt;
  cut.slices = slices;
  long depth = choices.choose("depth", usual_depth, depths);
  for (long piece = 1; piece <= longest / slices && piece * others <= std::max(depth, others);
       ++piece) {
    if (fits(slices, piece)) cut.piece = piece;
  }
  return cut;
}

std::optional<Written> write_tiles(const Situation& s, Choices& choices) {
  size_t main = main_statement(s.nest);
  const Statement& statement = s.nest.statements()[main];
  Roles roles = roles_of(s, main);
  auto loops = factor_loops(statement, roles);
  if (!loops) return std::nullopt;
  long rows = product_of_extents(roles, loops->rows);
  long columns = product_of_extents(roles, loops->columns);
  long products = product_of_extents(roles, loops->summed);
  if (products < least_products || rows * columns < least_products) return std::nullopt;
  // The longest loop of the sum is cut into slices, and these into pieces between barriers.
  std::string longest = loops->summed.front();
  for (const std::string& loop : loops->summed) {
    if (roles.find(loop)->extent > roles.find(longest)->extent) longest = loop;
  }
  long extent = roles.find(longest)->extent, others = products / extent;
  long samples = product_of_extents(roles, loops->samples);
  auto cut = cut_of(s.target, choices, samples, rows, columns, extent, others);
  if (!cut) return std::nullopt;

  RecipeWriter writer(s.nest);
  loops_alike(writer, main);
  writer.reorder(joined({loops->samples, loops->rows, loops->columns, loops->summed}));
  std::string row = fused_into_one(writer, loops->rows);
  std::string column = fused_into_one(writer, loops->columns);

  std::vector<std::string> summed = loops->summed;
  std::string slices, pieces = longest;
  if (cut->slices > 1) {
    writer.step("split", {pieces, extent / cut->slices});
    slices = pieces + ".o";
    pieces += ".i";
  }
  if (cut->piece > 1 && cut->piece < extent / cut->slices) {
    writer.step("split", {pieces, cut->piece});
    std::replace(summed.begin(), summed.end(), longest, pieces + ".i");
    pieces += ".o";
  } else if (cut->piece == 1) {
    std::erase(summed, longest);
  } else {
    std::replace(summed.begin(), summed.end(), longest, pieces);
    pieces = "";
  }

  Side down = split_side(writer, row, rows, cut->block_rows, cut->each_row);
  Side across = split_side(writer, column, columns, cut->block_columns, cut->each_column);
  std::vector<std::string> blocks = joined({loops->samples, {down.blocks, across.blocks}});
  if (blocks.empty()) return std::nullopt;
  // What is packed has the order of the loops: along a row of threads it lies side by side.
  std::vector<std::string> threads{down.threads, across.threads}, own{down.own, across.own};
  writer.reorder(joined({blocks, {slices, pieces}, summed, threads, own}));
  writer.merge(blocks);
  pack_weights_apart(writer, main);
  bind_blocks(writer, "", blocks);
  std::string name = writer.nest().statements()[main].name;
  if (!slices.empty()) share_sum(writer, main, slices);

  std::string around = pieces.empty() ? slices : pieces;
  for (const Access& read : std::vector<Access>(writer.nest().statements()[main].reads)) {
    std::string tensor = writer.nest().tensors()[read.tensor].name;
    std::vector<Arg> arguments{tensor};
    if (!around.empty()) arguments.emplace_back(around);
    arguments.emplace_back("shared");
    writer.step("pack", arguments);
    size_t copy = writer.nest().statements().size() - 1;
    size_t common = shared_loops(writer.nest().order[copy], writer.nest().order[main]);
    share_copy(writer, copy, common, cut->row_threads(), cut->column_threads());
  }
  std::vector<Arg> order;
  for (const std::string& loop : joined({threads, summed, own}))
    order.emplace_back(name + ":" + loop);
  if (order.size() > 1) writer.step("reorder", order);
  if (!slices.empty()) writer.step("bind", {slices, "thread.z"});
  if (!down.threads.empty()) writer.step("bind", {down.threads, "thread.y"});
  if (!across.threads.empty()) writer.step("bind", {across.threads, "thread.x"});
  for (const std::string& loop : joined({own})) writer.step("unroll", {loop});
  // Drivers of OpenCL write loops out where that helps, and take long for long code.
  long written_out = cut->piece * others * cut->each_row * cut->each_column;
  bool short_sum = s.target.architecture == Architecture::nvptx && written_out <= most_written_out;
  for (const std::string& loop : summed) {
    if (short_sum && extent_of(writer, main, loop) > 1) {
      writer.step("unroll", {name + ":" + loop});
    }
  }
  return writer.written();
}

}  // namespace

Schedule tiles() {
  return {"tiles",
          "tiles of products in shared memory and registers of a GPU",
          Schedule::For::kind,
          write_tiles,
          nullptr,
          Schedule::Machines::gpus};
}

}  // namespace lathe::schedules
