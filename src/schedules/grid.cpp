// grid.cpp: any nest on a GPU: what each thread computes is one element, or one row of a sum.
//
//   for c, h block.y, w.o block.x, w.i thread.x:   O[c, h, w] = 0
//                                                  for kh, kw: O[c, h, w] += ...
//
// The loops that move the result are independent in nearly every nest: those along memory become
// threads, so that threads side by side touch elements side by side, and the others blocks. Where
// statements share such loops they come into one kernel; otherwise each gets a kernel of its own.
#include <algorithm>

#include "nest/dependence.h"
#include "schedules/schedule_grid.h"

namespace lathe::schedules {
namespace {

/// Threads of a block: several warps, and several blocks fit a multiprocessor.
constexpr long usual_threads = 128;
const std::vector<long> thread_counts = {32, 64, 128, 256};

/// With fewer threads than this in all, kernels of their own are better, if they have more.
constexpr long few_threads = 1024;

/// Loops that become blocks and threads, and those inside, from outside in.
struct Mapping {
  std::vector<std::string> grid, inside;
};

long extent_in(const Order& order, const std::string& loop) {
  auto at = find_loop(order, loop);
  return at ? order.loops[*at].extent : 0;
}

/// Puts the loop along memory last.
std::vector<const LoopRole*> moving_loops(const Roles& roles) {
  std::vector<const LoopRole*> moving;
  for (const LoopRole& loop : roles.loops) {
    if (loop.write.moves) moving.push_back(&loop);
  }
  std::stable_partition(moving.begin(), moving.end(), [](const LoopRole* loop) {
    return loop->write.step != 1 || loop->extent == 1;
  });
  return moving;
}

long iterations_of(const Order& order, const std::vector<std::string>& loops) {
  long n = 1;
  for (const std::string& loop : loops) n *= std::max(1L, extent_in(order, loop));
  return n;
}

/// Splits, reorders, merges and binds the loops of all statements, or of the one that "prefix"
/// names. A block has "threads" threads, and at most "deep" along z.
void map_loops(RecipeWriter& writer, const std::string& prefix, size_t statement,
               const Mapping& mapping, long threads, long deep, bool merged) {
  std::vector<std::string> blocks = mapping.grid, inner;
  // From the loop along memory outwards, loops become threads until a block is full.
  while (!blocks.empty() && inner.size() < 3 && threads > 1) {
    std::string loop = blocks.back();
    long extent = extent_in(writer.nest().order[statement], loop);
    long most = inner.size() < 2 ? threads : std::min(threads, deep);
    blocks.pop_back();
    if (extent > most) {
      writer.step("split", {prefix + loop, most});
      blocks.push_back(loop + ".o");
      loop += ".i";
      extent = most;
    }
    inner.insert(inner.begin(), loop);
    threads /= std::max(1L, extent);
  }
  std::vector<std::string> all = blocks;
  all.insert(all.end(), inner.begin(), inner.end());
  std::vector<Arg> order;
  for (const std::string& loop : all) order.emplace_back(prefix + loop);
  for (const std::string& loop : mapping.inside) order.emplace_back(prefix + loop);
  if (order.size() > 1) writer.step("reorder", order);
  if (merged) writer.merge(all);
  constexpr const char* axes[] = {"thread.x", "thread.y", "thread.z"};
  for (size_t i = 0; i < inner.size(); ++i) {
    writer.step("bind", {prefix + inner[inner.size() - 1 - i], axes[i]});
  }
  bind_blocks(writer, prefix, blocks);
}

/// Returns the loops that all statements have and that move what each of them writes.
std::vector<std::string> common_loops(const Situation& s, const Nest& nest, size_t main) {
  std::vector<std::string> common;
  Situation now{nest, s.layouts, s.target, s.max_error};
  Roles of_main = roles_of(now, main);
  for (const LoopRole* loop : moving_loops(of_main)) {
    bool everywhere = true;
    for (size_t i = 0; i < nest.statements().size(); ++i) {
      Roles roles = roles_of(now, i);
      const LoopRole* same = roles.find(loop->name);
      everywhere =
          everywhere && same != nullptr && same->extent == loop->extent && same->write.moves;
    }
    if (everywhere) common.push_back(loop->name);
  }
  return common;
}

/// All statements in one kernel.
std::optional<Written> together(const Situation& s, Choices& choices) {
  size_t main = main_statement(s.nest);
  RecipeWriter writer(s.nest);
  loops_alike(writer, main);
  Mapping mapping{common_loops(s, writer.nest(), main), {}};
  if (mapping.grid.empty()) return std::nullopt;
  const Order& order = writer.nest().order[main];
  Roles roles = roles_of(s, main);
  long own = 1;
  for (const LoopRole* loop : moving_loops(roles)) own *= loop->extent;
  long shared = iterations_of(order, mapping.grid);
  if (shared < few_threads && shared < own) return std::nullopt;
  for (const std::string& loop : loop_names(writer.nest())) {
    bool bound = std::find(mapping.grid.begin(), mapping.grid.end(), loop) != mapping.grid.end();
    if (!bound) mapping.inside.push_back(loop);
  }
  long threads = choices.choose("threads", std::min(usual_threads, s.target.gpu.most_threads),
                                within(thread_counts, 1, s.target.gpu.most_threads));
  map_loops(writer, "", main, mapping, threads, s.target.gpu.most_deep,
            s.nest.statements().size() > 1);
  if (judge_order(writer.nest()).violation) return std::nullopt;
  return writer.written();
}

/// A kernel for one statement. Loops that its dependences need in sequence stay inside.
RecipeWriter one_kernel(const Situation& s, const RecipeWriter& before, size_t statement,
                        long threads) {
  Roles roles = roles_of(s, statement);
  std::vector<const LoopRole*> moving = moving_loops(roles);
  std::string prefix = s.nest.statements()[statement].name + ":";
  for (size_t first = 0; first < moving.size(); ++first) {
    Mapping mapping;
    for (size_t i = first; i < moving.size(); ++i) mapping.grid.push_back(moving[i]->name);
    for (const LoopRole& loop : roles.loops) {
      bool bound =
          std::find(mapping.grid.begin(), mapping.grid.end(), loop.name) != mapping.grid.end();
      if (!bound) mapping.inside.push_back(loop.name);
    }
    RecipeWriter writer = before;
    try {
      map_loops(writer, prefix, statement, mapping, threads, s.target.gpu.most_deep, false);
      if (!judge_order(writer.nest()).violation) return writer;
    } catch (const UserError&) {
    }
  }
  return before;
}

std::optional<Written> write_grid(const Situation& s, Choices& choices) {
  try {
    if (auto one = together(s, choices)) return one;
  } catch (const UserError&) {
  }
  RecipeWriter writer(s.nest);
  long threads = choices.choose("threads", std::min(usual_threads, s.target.gpu.most_threads),
                                within(thread_counts, 1, s.target.gpu.most_threads));
  for (size_t i = 0; i < s.nest.statements().size(); ++i) {
    writer = one_kernel(s, writer, i, threads);
  }
  return writer.written();
}

}  // namespace

Schedule grid() {
  return {"grid",
          "an element for each thread of a GPU",
          Schedule::For::any,
          write_grid,
          nullptr,
          Schedule::Machines::gpus};
}

}  // namespace lathe::schedules
