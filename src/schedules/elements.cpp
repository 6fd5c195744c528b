// elements.cpp: element-wise work, and whatever has no better template: each statement's loops with
// vectors along memory.
//
//   for n, c.o, h, w:  c.i vector:  O[n, c, h, w] = max(X[n, c, h, w] + Y[n, c, h, w], 0)
//
// Statements with the same loops come into one, so that what they pass on stays in registers.
#include <algorithm>

#include "nest/dependence.h"
#include "schedules/schedule_choices.h"
#include "schedules/schedule_counting.h"
#include "schedules/schedule_roles.h"

namespace lathe::schedules {
namespace {

/// Points of a loop along which vectors may run. Writing side by side counts more than all reads of
/// a usual statement. A read side by side counts more than one that is broadcast; one whose lanes
/// are apart counts nothing. Lanes that are summed up at the end cost more than a read gains. A
/// loop with no more points than "too_few" is no better than none.
constexpr long side_by_side_write = 8, side_by_side_read = 2, broadcast = 1, lane_sums = 3;
constexpr long too_few = 1;

/// Vectors that are computed together, as their latencies overlap. Short loops take one at a time:
/// little would be left for the others.
constexpr long vectors_together = 4, long_enough = 8;

/// What a search may try: vectors of a block.
const std::vector<long> block_vectors = {1, 2, 4, 8};

/// How well do vectors run along a loop? Writing side by side is best, then reading.
long fitness(const LoopRole& loop, bool accumulates) {
  if (loop.extent < 2) return -1;
  if (!loop.write.moves && !accumulates) return -1;
  long score = loop.write.step == 1 ? side_by_side_write : 0;
  for (const Motion& read : loop.reads) {
    score += read.step == 1 ? side_by_side_read : read.moves ? 0 : broadcast;
  }
  if (!loop.write.moves) score -= lane_sums;
  return score;
}

std::optional<std::string> best_loop(const Roles& roles, bool accumulates) {
  long best = too_few;
  std::optional<std::string> name;
  for (const LoopRole& loop : roles.loops) {
    long score = fitness(loop, accumulates);
    if (score <= best) continue;
    best = score;
    name = loop.name;
  }
  return name;
}

/// Do all statements have the same loops?
bool are_alike(const Nest& nest) {
  auto same = [](const Loop& a, const Loop& b) { return a.name == b.name && a.extent == b.extent; };
  return std::all_of(nest.order.begin(), nest.order.end(), [&](const Order& order) {
    const auto& first = nest.order.front().loops;
    return std::equal(first.begin(), first.end(), order.loops.begin(), order.loops.end(), same);
  });
}

/// Returns the loop along which an operand lies in memory that the vectors run across; "" if there
/// is none.
std::string loop_across(const Roles& roles, const std::string& vector) {
  const LoopRole& lanes = *roles.find(vector);
  for (size_t r = 0; r < lanes.reads.size(); ++r) {
    if (!lanes.reads[r].moves || lanes.reads[r].step == 1) continue;
    for (const LoopRole& loop : roles.loops) {
      if (loop.name != vector && loop.reads[r].step == 1 && loop.write.moves) return loop.name;
    }
  }
  return "";
}

/// Returns how many iterations become vectors together.
long choose_block(Choices& choices, const LoopRole& loop, long lanes) {
  long extent = loop.extent, evenly = loop.evenly();
  long wide = vectors_together * lanes;
  long own = evenly != 0 ? std::min(evenly, wide) : extent >= long_enough * lanes ? wide : lanes;
  std::vector<long> blocks =
      within(multiples(lanes, block_vectors), 1, evenly != 0 ? evenly : extent);
  std::erase_if(blocks, [&](long n) { return evenly % n != 0; });
  return choices.choose("block", own, blocks);
}

/// Who runs the outer loops.
enum class Workers { one, all };

/// Appends the steps for one loop of vectors; "prefix" names the statement, or all.
void along(RecipeWriter& writer, const Situation& s, const std::string& prefix, const Roles& roles,
           const std::string& vector, bool together, Choices& choices,
           Workers workers = Workers::all) {
  const LoopRole& loop = *roles.find(vector);
  long lanes = s.target.lanes(real_bytes), extent = loop.extent, evenly = loop.evenly();
  long block = choose_block(choices, loop, lanes);
  std::vector<std::string> outer, inner;
  for (const LoopRole& other : roles.loops) {
    if (other.name != vector) outer.push_back(other.name);
  }
  auto split = [&](const std::string& name, long factor) {
    writer.step("split", {prefix + name, factor});
  };
  // Blocks of the layout first; inside one, vectors follow each other as in memory.
  std::string last = vector;
  auto at = outer.begin() + (roles.find(vector) - roles.loops.data());
  bool blocks = evenly > block && evenly % block == 0 && extent > evenly;
  if (blocks) {
    split(last, evenly);
    at = outer.insert(at, last + ".o");
    last += ".i";
    extent = evenly;
  }
  if (extent > block) {
    split(last, block);
    if (blocks) {
      inner.push_back(last + ".o");
    } else {
      outer.insert(at, last + ".o");
    }
    last += ".i";
  }
  // Vectors that run across memory are read several at a time: they make squares.
  std::string across = loop_across(roles, vector);
  bool squares = !across.empty() && roles.find(across)->extent > lanes;
  squares = squares && choices.choose("squares", 1, {0}) != 0;
  if (squares) {
    split(across, lanes);
    std::replace(outer.begin(), outer.end(), across, across + ".o");
    inner.push_back(across + ".i");
  }
  inner.push_back(last);
  std::vector<std::string> all = outer;
  all.insert(all.end(), inner.begin(), inner.end());
  for (std::string& name : all) name = prefix + name;
  if (all.size() > 1) writer.step("reorder", {all.begin(), all.end()});
  if (together) writer.merge(all);
  if (squares) writer.step("unroll", {prefix + across + ".i"});
  writer.step("vectorize", {all.back()});
  all.resize(outer.size());
  if (workers == Workers::all) writer.share(all, s.target);
}

/// The whole as one loop nest, if its statements are alike.
std::optional<Written> together(const Situation& s, Choices& choices) {
  size_t main = main_statement(s.nest);
  Roles roles = roles_of(s, main);
  auto vector = best_loop(roles, false);
  if (!vector) return std::nullopt;
  RecipeWriter writer(s.nest);
  name_alike(writer, main);
  if (!are_alike(writer.nest())) return std::nullopt;
  along(writer, s, "", roles, *vector, s.nest.statements().size() > 1, choices);
  return writer.written();
}

std::optional<Written> write(const Situation& s, Choices& choices) {
  if (auto one = together(s, choices)) return one;
  RecipeWriter writer(s.nest);
  size_t main = main_statement(s.nest);
  Choices others({});  // what is chosen is about the statement with most work
  for (size_t i = 0; i < s.nest.statements().size(); ++i) {
    const Statement& statement = s.nest.statements()[i];
    Roles roles = roles_of(s, i);
    auto vector = best_loop(roles, statement.update != Update::assign);
    if (!vector) continue;
    // What is one number for the whole tensor has no loop that workers could share.
    for (Workers workers : {Workers::all, Workers::one}) {
      RecipeWriter trial = writer;
      Choices chosen = i == main ? choices : others;
      along(trial, s, statement.name + ":", roles, *vector, false, chosen, workers);
      if (judge_order(trial.nest()).violation) continue;
      writer = trial;
      (i == main ? choices : others) = chosen;
      break;
    }
  }
  return writer.written();
}

}  // namespace

Schedule elements() {
  return {"elements", "vectors along memory, statement by statement", Schedule::For::any, write};
}

}  // namespace lathe::schedules
