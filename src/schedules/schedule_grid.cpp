// schedule_grid.cpp: loops become blocks. Interface: schedule_grid.h.
#include "schedules/schedule_grid.h"

#include <algorithm>

namespace lathe::schedules {

void bind_blocks(RecipeWriter& writer, const std::string& prefix, std::vector<std::string> loops) {
  constexpr const char* axes[] = {"block.x", "block.y", "block.z"};
  while (loops.size() > std::size(axes)) {
    std::string one = loops[0] + "_" + loops[1];
    writer.step("fuse", {prefix + loops[0], prefix + loops[1], one});
    loops.erase(loops.begin());
    loops[0] = one;
  }
  for (size_t i = 0; i < loops.size(); ++i) {
    writer.step("bind", {prefix + loops[loops.size() - 1 - i], axes[i]});
  }
}

std::optional<FactorLoops> factor_loops(const Statement& s, const Roles& roles) {
  bool product = s.update == Update::add && s.value.op == Expr::Op::mul &&
                 s.value.args[0].op == Expr::Op::read && s.value.args[1].op == Expr::Op::read;
  if (!product || s.reads.size() != 2 || s.value.args[0].read == s.value.args[1].read) {
    return std::nullopt;
  }
  FactorLoops loops;
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

std::string fused_into_one(RecipeWriter& writer, std::vector<std::string> loops) {
  while (loops.size() > 1) {
    std::string one = loops[0] + "_" + loops[1];
    writer.step("fuse", {loops[0], loops[1], one});
    loops.erase(loops.begin());
    loops[0] = one;
  }
  return loops[0];
}

void loops_alike(RecipeWriter& writer, size_t main) {
  name_alike(writer, main);
  const Nest named = writer.nest();
  for (const Counted& index : counted_indices(named.statements()[main].write, named.order[main])) {
    if (index.outer.empty()) continue;
    const Order& order = named.order[main];
    long inner = order.loops[*find_loop(order, index.loop)].extent;
    for (size_t i = 0; i < named.statements().size(); ++i) {
      auto whole = find_loop(named.order[i], index.loop);
      bool apart = whole && named.order[i].loops[*whole].extent == index.extent &&
                   !find_loop(named.order[i], index.outer);
      if (!apart) continue;
      std::string loop = named.statements()[i].name + ":" + index.loop;
      writer.step("split", {loop, inner});
      writer.step("rename", {loop + ".o", index.outer});
      writer.step("rename", {loop + ".i", index.loop});
    }
  }
}

void pack_weights_apart(RecipeWriter& writer, size_t statement) {
  size_t first = writer.nest().statements().size();
  writer.pack_weights(statement);
  for (size_t i = first; i < writer.nest().statements().size(); ++i) {
    std::string name = writer.nest().statements()[i].name;
    for (const Loop& loop : std::vector<Loop>(writer.nest().order[i].loops)) {
      writer.step("rename", {name + ":" + loop.name, name + "." + loop.name});
    }
  }
}

void share_sum(RecipeWriter& writer, size_t statement, const std::string& loop) {
  std::string name = writer.nest().statements()[statement].name;
  writer.step("rfactor", {loop});
  writer.step("rename", {name + ".total:" + loop, "parts"});
}

long shared_bytes_of(long elements) { return elements * real_bytes * 11 / 10; }

std::vector<std::string> joined(std::initializer_list<std::vector<std::string>> lists) {
  std::vector<std::string> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  std::erase(all, "");
  return all;
}

long greatest_divisor(long n, long most) {
  for (long d = std::min(n, most); d > 1; --d) {
    if (n % d == 0) return d;
  }
  return 1;
}

}  // namespace lathe::schedules
