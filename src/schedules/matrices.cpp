// matrices.cpp: products of matrices and convolutions by the matrix units of a GPU.
//
//   block.z n, block.y p.o, block.x co.o:          32 positions by 16 filters
//     thread.z: a slice of the channels            a warp each, of thread.y by thread.x threads
//       for ci, kh, kw:
//         2 by 2 products of matrices              16 positions, 8 filters, 8 channels
//     all slices are added up
//
// Factors go straight from memory to registers: weights lie as threads read them, and what a warp
// reads of the data is in the first cache when the next kernel position reads it again. So there
// are no barriers but those around the last sum, and all loads of a slice can be under way at once.
#include <algorithm>
#include <utility>

#include "codegen/matrices.h"
#include "schedules/schedule_grid.h"

namespace lathe::schedules {
namespace {

/// Rows and columns of one product of matrices.
constexpr long matrix_rows = matrix_own * matrix_down, matrix_columns = matrix_own * matrix_across;

/// Products of matrices of a warp along each side, and warps that share the sums of a block.
const std::vector<long> numbers_down = {1, 2, 4}, numbers_across = {1, 2, 4, 8},
                        numbers_of_warps = {1, 2, 3, 4, 6, 8, 9, 12, 16};
constexpr long most_sums = 64, most_warps = 16, usual_warps = 8;

/// Steps of a sum that are written out.
constexpr long most_steps = 36;

/// Products of matrices may compute so many times what is needed.
constexpr long most_covered = 2;

/// With so many blocks along a side it does not matter if one of them is not full.
constexpr long most_left_over = 4;

long quotient_up(long a, long b) { return (a + b - 1) / b; }

/// Returns how many sums products of matrices have that cover so many.
long covered(long rows, long columns) {
  return quotient_up(rows, matrix_rows) * matrix_rows * quotient_up(columns, matrix_columns) *
         matrix_columns;
}

/// How a product is cut. Each warp of a block adds up a part of all its sums.
struct WarpCut {
  long down = 1, across = 1;  // products of matrices of a warp
  long warps = 1;
};

/// The loops of a product whose sums are cut: the one that matrices sum up, and the one of which
/// each warp has a slice.
struct SummedLoops {
  std::string inside, sliced;
};

/// Chooses sizes: as large as they can be while there are blocks for all multiprocessors.
WarpCut warp_cut_of(const Target& target, Choices& choices, long samples, long rows, long columns,
                    long sliced, long steps) {
  long down = quotient_up(rows, matrix_rows), across = quotient_up(columns, matrix_columns);
  long enough = target.gpu.multiprocessors * 3 / 4;
  WarpCut cut;
  auto blocks_of = [&](long a, long b) {
    return samples * quotient_up(down, a) * quotient_up(across, b);
  };
  for (long a : numbers_down) {
    for (long b : numbers_across) {
      bool even = down % a == 0 && (across % b == 0 || across > most_left_over * b);
      bool small = a * b * matrix_own * matrix_own <= most_sums;
      // Of equal areas, the one nearer to a square loads less.
      bool better = a * b > cut.down * cut.across ||
                    (a * b == cut.down * cut.across && 2 * a + b < 2 * cut.down + cut.across);
      if (even && small && better && blocks_of(a, b) >= enough) cut.down = a, cut.across = b;
    }
  }
  cut.down = std::min(down, choices.choose("down", cut.down, numbers_down));
  cut.across = std::min(across, choices.choose("across", cut.across, numbers_across));
  // A multiprocessor runs some blocks at a time.
  long blocks = blocks_of(cut.down, cut.across);
  long wanted = usual_warps * target.gpu.multiprocessors / std::max(1L, blocks);
  // Each warp hands its sums over in shared memory.
  long bytes_of_warp = shared_bytes_of(cut.down * matrix_rows * cut.across * matrix_columns);
  long most = std::clamp(target.gpu.shared_bytes / bytes_of_warp, 1L, most_warps);
  long own = greatest_divisor(sliced, std::clamp(wanted, 1L, std::min(most, steps)));
  cut.warps =
      greatest_divisor(sliced, std::min(most, choices.choose("warps", own, numbers_of_warps)));
  return cut;
}

/// Finds the loops of the sum. Factors lie side by side along "inside", if they do along any.
std::optional<SummedLoops> summed_loops(const Roles& roles, const std::vector<std::string>& summed,
                                        long depth) {
  SummedLoops found;
  long longest = 0;
  for (const std::string& loop : summed) {
    long extent = roles.find(loop)->extent;
    if (extent % depth == 0 && extent > longest) found.inside = loop, longest = extent;
  }
  if (longest == 0) return std::nullopt;
  longest /= depth;
  for (const std::string& loop : summed) {
    if (loop == found.inside) continue;
    long extent = roles.find(loop)->extent;
    if (extent > longest) found.sliced = loop, longest = extent;
  }
  return found;
}

/// Splits a loop into parts of these sizes, the largest first. Returns the names of the loops, from
/// outside in; a loop that would have one iteration has the name "".
std::vector<std::string> cut_loop(RecipeWriter& writer, const std::string& loop, long extent,
                                  std::initializer_list<long> sizes) {
  std::vector<std::string> names;
  std::string rest = loop;
  for (long size : sizes) {
    if (extent <= size) {
      names.emplace_back("");
      continue;
    }
    writer.step("split", {rest, size});
    names.push_back(rest + ".o");
    rest += ".i";
    extent = size;
  }
  names.push_back(rest);
  return names;
}

/// Writes out loops of a statement, from inside out, as many as there is space for.
void unroll_inner(RecipeWriter& writer, size_t statement, const std::vector<std::string>& loops) {
  std::string prefix = writer.nest().statements()[statement].name + ":";
  long written_out = 1;
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    const Order& order = writer.nest().order[statement];
    written_out *= order.loops[*find_loop(order, *loop)].extent;
    if (written_out > most_steps) return;
    writer.step("unroll", {prefix + *loop});
  }
}

std::optional<Written> write_matrices(const Situation& s, Choices& choices) {
  size_t main = main_statement(s.nest);
  const Statement& statement = s.nest.statements()[main];
  Roles roles = roles_of(s, main);
  auto loops = factor_loops(statement, roles);
  if (!loops) return std::nullopt;
  Element factors = s.nest.tensors()[statement.reads[0].tensor].element;
  long terms = terms_of_matrix(s.target, factors);
  if (terms == 0 || s.nest.tensors()[statement.reads[1].tensor].element != factors) {
    return std::nullopt;
  }
  // Either side can be rows or columns of matrices: as few as possible are left over.
  long rows = product_of_extents(roles, loops->columns);
  long columns = product_of_extents(roles, loops->rows);
  if (covered(columns, rows) < covered(rows, columns)) {
    std::swap(loops->rows, loops->columns);
    std::swap(rows, columns);
  }
  if (covered(rows, columns) > most_covered * rows * columns) return std::nullopt;
  long depth = matrix_across * terms;
  auto sums = summed_loops(roles, loops->summed, depth);
  if (!sums) return std::nullopt;
  long steps = product_of_extents(roles, loops->summed) / depth;
  bool of_inside = sums->sliced.empty();
  long sliced =
      of_inside ? roles.find(sums->inside)->extent / depth : roles.find(sums->sliced)->extent;
  long samples = product_of_extents(roles, loops->samples);
  WarpCut cut = warp_cut_of(s.target, choices, samples, rows, columns, sliced, steps);

  RecipeWriter writer(s.nest);
  loops_alike(writer, main);
  writer.reorder(joined({loops->samples, loops->columns, loops->rows, loops->summed}));
  std::string down = fused_into_one(writer, loops->columns);
  std::string across = fused_into_one(writer, loops->rows);

  // From outside in: blocks, products of a warp, and the loops of one product.
  auto p = cut_loop(writer, down, rows, {matrix_rows * cut.down, matrix_rows, matrix_down});
  auto q =
      cut_loop(writer, across, columns, {matrix_columns * cut.across, matrix_columns, matrix_own});
  long inside = roles.find(sums->inside)->extent;
  auto k = cut_loop(writer, sums->inside, inside, {depth, terms});
  std::vector<std::string> summed = loops->summed;
  std::replace(summed.begin(), summed.end(), sums->inside, k[0]);
  std::string slices;
  if (cut.warps > 1) {
    std::string loop = of_inside ? k[0] : sums->sliced, rest;
    slices = loop;
    if (sliced > cut.warps) {
      writer.step("split", {loop, sliced / cut.warps});
      slices = loop + ".o";
      rest = loop + ".i";
    }
    std::replace(summed.begin(), summed.end(), loop, rest);
  }
  summed = joined({summed});
  std::vector<std::string> blocks = joined({loops->samples, {p[0], q[0]}});
  if (blocks.empty()) return std::nullopt;
  // Weights lie in the order of the loops.
  std::vector<std::string> threads = {p[3], q[2]};
  writer.reorder(
      joined({blocks, {slices}, summed, {p[1], p[2], p[3], q[1], q[2], q[3], k[1], k[2]}}));
  writer.merge(blocks);
  pack_weights_apart(writer, main);
  bind_blocks(writer, "", blocks);
  std::string name = writer.nest().statements()[main].name;
  if (!slices.empty()) share_sum(writer, main, slices);
  std::vector<Arg> order;
  for (const std::string& loop : joined({threads, summed, {p[1], q[1], p[2], q[3], k[1], k[2]}})) {
    order.emplace_back(name + ":" + loop);
  }
  writer.step("reorder", order);
  if (!slices.empty()) writer.step("bind", {slices, "thread.z"});
  writer.step("bind", {p[3], "thread.y"});
  writer.step("bind", {q[2], "thread.x"});
  for (const std::string& loop : joined({{p[1], q[1]}})) writer.step("unroll", {loop});
  for (const std::string& loop : {p[2], q[3], k[1], k[2]}) {
    writer.step("vectorize", {name + ":" + loop});
  }
  // Other statements have one element of each row and column at a time.
  const Nest made = writer.nest();
  for (size_t i = 0; i < made.statements().size(); ++i) {
    for (const std::string& loop : {p[2], q[3]}) {
      if (i == main || !find_loop(made.order[i], loop)) continue;
      writer.step("unroll", {made.statements()[i].name + ":" + loop});
    }
  }
  unroll_inner(writer, main, summed);
  return writer.written();
}

}  // namespace

Schedule matrices() {
  return {"matrices",
          "products of small matrices, by the warps of a GPU",
          Schedule::For::fewer,
          write_matrices,
          nullptr,
          Schedule::Machines::gpus};
}

}  // namespace lathe::schedules
