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
#include "schedules/schedule_counting.h"
#include "schedules/schedule_grid.h"

namespace lathe::schedules {
namespace {

/// The loops of a product, by what they move.
struct ProductLoops {
  std::vector<std::string> samples, rows, columns, summed;
};

/// Sorts the loops of a statement that adds products of two tensors.
std::optional<ProductLoops> product_loops(const Statement& s, const Roles& roles) {
  bool product = s.update == Update::add && s.value.op == Expr::Op::mul &&
                 s.value.args[0].op == Expr::Op::read && s.value.args[1].op == Expr::Op::read;
  if (!product || s.reads.size() != 2 || s.value.args[0].read == s.value.args[1].read) {
    return std::nullopt;
  }
  ProductLoops loops;
  for (const LoopRole& loop : roles.loops) {
    bool first = loop.reads[0].moves, second = loop.reads[1].moves;
    if (!loop.write.moves) {
      if (loop.extent > 1 || first || second) loops.summed.push_back(loop.name);
    } else if (first != second) {
      (first ? loops.rows : loops.columns).push_back(loop.name);
    } else {
      loops.samples.push_back(loop.name);
    }
  }
  // Columns lie along memory.
  for (const LoopRole& loop : roles.loops) {
    bool in_rows = std::find(loops.rows.begin(), loops.rows.end(), loop.name) != loops.rows.end();
    if (in_rows && loop.write.step == 1 && loop.extent > 1) std::swap(loops.rows, loops.columns);
  }
  if (loops.rows.empty() || loops.columns.empty() || loops.summed.empty()) return std::nullopt;
  return loops;
}

long product_of_extents(const Roles& roles, const std::vector<std::string>& loops) {
  long n = 1;
  for (const std::string& loop : loops) n *= roles.find(loop)->extent;
  return n;
}

/// Makes one loop of several that are directly inside each other. Returns its name.
std::string fused_into_one(RecipeWriter& writer, std::vector<std::string> loops) {
  while (loops.size() > 1) {
    std::string one = loops[0] + "_" + loops[1];
    writer.step("fuse", {loops[0], loops[1], one});
    loops.erase(loops.begin());
    loops[0] = one;
  }
  return loops[0];
}

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

/// The threads of a block share the copying of a tile. A loop that counts threads where the tile is
/// used counts them here, too; the others become one loop, which the other axis shares.
void share_copy(RecipeWriter& writer, size_t statement, size_t around, const Side& down,
                const Side& across) {
  std::string name = writer.nest().statements()[statement].name, prefix = name + ":";
  auto loops = [&] { return writer.nest().order[statement].loops; };
  auto has = [&](const std::string& loop) {
    return !loop.empty() && find_loop(writer.nest().order[statement], loop).has_value();
  };
  bool along_rows = has(down.threads);
  const Side& own = along_rows ? down : across;
  const Side& other = along_rows ? across : down;
  const char* own_axis = along_rows ? "thread.y" : "thread.x";
  const char* other_axis = along_rows ? "thread.x" : "thread.y";
  std::vector<std::string> rest;
  for (size_t i = around; i < loops().size(); ++i) {
    if (loops()[i].name != own.threads) rest.push_back(loops()[i].name);
  }
  if (has(own.threads)) {
    if (loops()[around].name != own.threads) {
      std::vector<Arg> order{prefix + own.threads};
      for (const std::string& loop : rest) order.emplace_back(prefix + loop);
      writer.step("reorder", order);
    }
    writer.step("rename", {prefix + own.threads, name + ".own"});
    writer.step("bind", {prefix + name + ".own", own_axis});
  }
  long threads = other.block / other.each;
  if (rest.empty() || threads == 1) return;
  std::string one = rest.front();
  for (size_t i = 1; i < rest.size(); ++i) {
    writer.step("fuse", {prefix + one, prefix + rest[i], name + ".copy"});
    one = name + ".copy";
  }
  if (find_loop(writer.nest().order[statement], one).has_value()) {
    size_t at = *find_loop(writer.nest().order[statement], one);
    if (loops()[at].extent > threads) {
      writer.step("split", {prefix + one, threads});
      one += ".i";
    }
  }
  writer.step("bind", {prefix + one, other_axis});
}

/// Usual sizes: of a block along each side, of a thread, and products that are added between two
/// barriers.
constexpr long usual_block = 64, least_block = 16, usual_each = 4, usual_depth = 16;
const std::vector<long> block_sizes = {16, 32, 64, 128}, each_sizes = {1, 2, 4, 8},
                        depths = {4, 8, 16, 32};

/// With fewer products there is nothing to share.
constexpr long least_products = 4;

std::optional<Written> write_tiles(const Situation& s, Choices& choices) {
  size_t main = main_statement(s.nest);
  const Statement& statement = s.nest.statements()[main];
  Roles roles = roles_of(s, main);
  auto loops = product_loops(statement, roles);
  if (!loops) return std::nullopt;
  long rows = product_of_extents(roles, loops->rows);
  long columns = product_of_extents(roles, loops->columns);
  long products = product_of_extents(roles, loops->summed);
  if (products < least_products || rows * columns < least_products) return std::nullopt;

  long each_row = greatest_divisor(rows, choices.choose("each_row", usual_each, each_sizes));
  long each_column =
      greatest_divisor(columns, choices.choose("each_column", usual_each, each_sizes));
  auto blocks_of = [](long extent, long each, long most) {
    return extent / each / greatest_divisor(extent / each, most / each);
  };
  // Smaller tiles where there would be fewer of them than multiprocessors.
  long samples = product_of_extents(roles, loops->samples);
  long own_rows = usual_block, own_columns = usual_block;
  while (std::max(own_rows, own_columns) > least_block &&
         samples * blocks_of(rows, each_row, own_rows) *
                 blocks_of(columns, each_column, own_columns) <
             s.target.gpu.multiprocessors) {
    (own_rows >= own_columns ? own_rows : own_columns) /= 2;
  }
  long most_rows = choices.choose("rows", own_rows, block_sizes);
  long most_columns = choices.choose("columns", own_columns, block_sizes);
  long block_rows = each_row * greatest_divisor(rows / each_row, most_rows / each_row);
  long block_columns =
      each_column * greatest_divisor(columns / each_column, most_columns / each_column);
  long row_threads = block_rows / each_row, column_threads = block_columns / each_column;
  if (row_threads * column_threads > s.target.gpu.most_threads) return std::nullopt;

  RecipeWriter writer(s.nest);
  name_alike(writer, main);
  auto join = [](std::initializer_list<std::vector<std::string>> lists) {
    std::vector<std::string> all;
    for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
    std::erase(all, "");
    return all;
  };
  writer.reorder(join({loops->samples, loops->rows, loops->columns, loops->summed}));
  std::string row = fused_into_one(writer, loops->rows);
  std::string column = fused_into_one(writer, loops->columns);

  // The longest loop of the sum is cut into pieces between barriers.
  std::string longest = loops->summed.front();
  for (const std::string& loop : loops->summed) {
    if (roles.find(loop)->extent > roles.find(longest)->extent) longest = loop;
  }
  long extent = roles.find(longest)->extent, others = products / extent;
  long depth = choices.choose("depth", usual_depth, depths);
  long piece = greatest_divisor(extent, std::max(1L, depth / others));
  std::vector<std::string> summed = loops->summed;
  std::string pieces = longest;
  if (piece > 1 && piece < extent) {
    writer.step("split", {longest, piece});
    pieces = longest + ".o";
    std::replace(summed.begin(), summed.end(), longest, longest + ".i");
  } else if (piece == 1) {
    std::erase(summed, longest);
  } else {
    pieces = "";
  }

  Side down = split_side(writer, row, rows, block_rows, each_row);
  Side across = split_side(writer, column, columns, block_columns, each_column);
  std::vector<std::string> blocks = join({loops->samples, {down.blocks, across.blocks}});
  if (blocks.empty()) return std::nullopt;
  writer.reorder(
      join({blocks, {pieces, down.threads, across.threads}, summed, {down.own, across.own}}));
  writer.merge(blocks);
  size_t block_loops = blocks.size();
  bind_blocks(writer, "", blocks);
  block_loops = std::min<size_t>(block_loops, 3);

  std::vector<Access> reads = writer.nest().statements()[main].reads;
  for (const Access& read : reads) {
    std::string tensor = writer.nest().tensors()[read.tensor].name;
    if (pieces.empty()) {
      writer.step("pack", {tensor, "shared"});
    } else {
      writer.step("pack", {tensor, pieces, "shared"});
    }
    size_t copy = writer.nest().statements().size() - 1;
    size_t around = shared_loops(writer.nest().order[copy], writer.nest().order[main]);
    share_copy(writer, copy, around, down, across);
  }
  if (!down.threads.empty()) writer.step("bind", {down.threads, "thread.y"});
  if (!across.threads.empty()) writer.step("bind", {across.threads, "thread.x"});
  for (const std::string& own : {down.own, across.own}) {
    if (!own.empty()) writer.step("unroll", {own});
  }
  long bytes = (block_rows + block_columns) * piece * others * real_bytes;
  if (bytes > s.target.gpu.shared_bytes) return std::nullopt;
  return writer.written();
}

std::optional<Written> recipe_of_tiles(const Situation& s, const Settings& settings) {
  return written_with(s, settings, write_tiles);
}

std::vector<Knob> knobs_of_tiles(const Situation& s) { return knobs_of(s, write_tiles); }

}  // namespace

Schedule tiles() {
  return {"tiles",
          "tiles of products in shared memory and registers of a GPU",
          Schedule::For::kind,
          knobs_of_tiles,
          recipe_of_tiles,
          nullptr,
          Schedule::Machines::gpus};
}

}  // namespace lathe::schedules
