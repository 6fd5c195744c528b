// elements.cpp: element-wise work, and whatever has no better template: each statement's loops with
// vectors along memory.
//
//   for n, c.o, h, w:  c.i vector:  O[n, c, h, w] = max(X[n, c, h, w] + Y[n, c, h, w], 0)
//
// Statements with the same loops come into one, so that what they pass on stays in registers.
#include <algorithm>

#include "nest/dependence.h"
#include "schedules/schedule_roles.h"

namespace lathe::schedules {
namespace {

/// How well do vectors run along a loop? Writing side by side is best, then reading.
long fitness(const LoopRole& loop, bool accumulates) {
  if (loop.extent < 2) return -1;
  if (!loop.write.moves && !accumulates) return -1;
  long score = loop.write.step == 1 ? 8 : 0;
  for (const Motion& read : loop.reads) score += read.step == 1 ? 2 : read.moves ? 0 : 1;
  if (!loop.write.moves) score -= 3;  // the lanes are summed up at the end
  return score;
}

std::optional<std::string> best_loop(const Roles& roles, bool accumulates, long& evenly) {
  long best = 1;
  std::optional<std::string> name;
  for (const LoopRole& loop : roles.loops) {
    long score = fitness(loop, accumulates);
    if (score <= best) continue;
    best = score;
    name = loop.name;
    evenly = loop.write.evenly;
    for (const Motion& read : loop.reads) {
      if (read.evenly != 0) evenly = evenly == 0 ? read.evenly : std::min(evenly, read.evenly);
    }
  }
  return name;
}

std::vector<std::string> names_of(const Order& order) {
  std::vector<std::string> names;
  for (const Loop& loop : order.loops) names.push_back(loop.name);
  return names;
}

/// Do all statements have the same loops?
bool are_alike(const Nest& nest) {
  auto same = [](const Loop& a, const Loop& b) { return a.name == b.name && a.extent == b.extent; };
  return std::all_of(nest.order.begin(), nest.order.end(), [&](const Order& order) {
    const auto& first = nest.order.front().loops;
    return std::equal(first.begin(), first.end(), order.loops.begin(), order.loops.end(), same);
  });
}

/// Appends the steps for one loop of vectors; "prefix" names the statement, or all.
void along(RecipeWriter& writer, const Situation& s, const std::string& prefix,
           std::vector<std::string> loops, const std::string& vector, long extent, long evenly,
           bool together) {
  long lanes = s.target.lanes(4);
  long block = evenly != 0 ? std::min(evenly, 4 * lanes) : extent >= 8 * lanes ? 4 * lanes : lanes;
  // Blocks of the layout first; inside one, vectors follow each other as in memory.
  std::string inner = vector;
  auto at = std::find(loops.begin(), loops.end(), vector);
  bool blocks = evenly > block && evenly % block == 0 && extent > evenly;
  if (blocks) {
    writer.step("split", {prefix + inner, evenly});
    *at = inner + ".o";
    inner += ".i";
    extent = evenly;
  }
  if (extent > block) {
    writer.step("split", {prefix + inner, block});
    if (blocks) {
      loops.push_back(inner + ".o");
    } else {
      *at = inner + ".o";
    }
    inner += ".i";
  } else {
    std::erase(loops, vector);
  }
  inner = prefix + inner;
  std::vector<Arg> order;
  for (const std::string& loop : loops) order.emplace_back(prefix + loop);
  order.emplace_back(inner);
  if (order.size() > 1) writer.step("reorder", order);
  if (together) {
    std::vector<std::string> all = loops;
    all.push_back(inner);
    writer.merge(all);
  }
  writer.step("vectorize", {inner});
  if (!loops.empty()) {
    writer.step("parallel", {prefix + loops.front()});
  }
}

/// The whole as one loop nest, if its statements are alike.
std::optional<Written> together(const Situation& s) {
  long evenly = 0;
  Roles roles = roles_of(s, main_statement(s.nest));
  auto vector = best_loop(roles, false, evenly);
  if (!vector || !are_alike(s.nest)) return std::nullopt;
  RecipeWriter writer(s.nest);
  along(writer, s, "", names_of(s.nest.order.front()), *vector, roles.find(*vector)->extent, evenly,
        s.nest.statements().size() > 1);
  return writer.written();
}

std::optional<Written> recipe(const Situation& s) {
  if (auto one = together(s)) return one;
  RecipeWriter writer(s.nest);
  for (size_t i = 0; i < s.nest.statements().size(); ++i) {
    const Statement& statement = s.nest.statements()[i];
    long evenly = 0;
    Roles roles = roles_of(s, i);
    auto vector = best_loop(roles, statement.update != Update::assign, evenly);
    if (!vector) continue;
    RecipeWriter trial = writer;
    along(trial, s, statement.name + ":", names_of(s.nest.order[i]), *vector,
          roles.find(*vector)->extent, evenly, false);
    if (!judge_order(trial.nest()).violation) writer = trial;
  }
  return writer.written();
}

}  // namespace

Schedule elements() {
  return {"elements", "vectors along memory, statement by statement", Schedule::For::any, recipe};
}

}  // namespace lathe::schedules
