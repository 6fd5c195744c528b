// window.cpp: windows that slide over each channel alone: depthwise convolutions and pooling.
//
//   for c.o, oh, ow.o:   kh, kw, ow.i unrolled, c.i vector:  O[c, oh, ow] += W[c, kh, kw] * I[...]
//
// The vectors run along the channels, which lie side by side; the positions of a tile share the
// weights and most of the window.
#include <algorithm>

#include "schedules/schedule_roles.h"

namespace lathe::schedules {
namespace {

/// Windows larger than this stay loops.
constexpr long most_unrolled = 25;

std::optional<Recipe> recipe(const Situation& s) {
  size_t main = main_statement(s.nest);
  const Statement& statement = s.nest.statements()[main];
  if (statement.update == Update::assign || s.nest.statements().size() < 2) return std::nullopt;
  Roles roles = roles_of(s, main);
  std::string vector;
  std::vector<std::string> outer, window;
  long window_size = 1, evenly = 0;
  for (const LoopRole& loop : roles.loops) {
    bool together =
        loop.write.step == 1 && std::all_of(loop.reads.begin(), loop.reads.end(),
                                            [](const Motion& read) { return read.moves; });
    if (!loop.write.moves) {
      window.push_back(loop.name);
      window_size *= loop.extent;
    } else if (together && vector.empty() && loop.extent > 1) {
      vector = loop.name;
      evenly = loop.write.evenly;
      for (const Motion& read : loop.reads) {
        if (read.evenly != 0) evenly = evenly == 0 ? read.evenly : std::min(evenly, read.evenly);
      }
    } else {
      outer.push_back(loop.name);
    }
  }
  if (vector.empty() || window.empty()) return std::nullopt;
  RecipeWriter writer(s.nest);

  // Other statements may count the same channels under another name.
  std::string other;
  for (const Order& order : s.nest.order) {
    bool apart = vector == "g" && !find_loop(order, vector) && find_loop(order, "co");
    if (apart) other = "co";
  }
  if (!other.empty()) {
    writer.merge({std::string(batch_loop)});
    writer.step("merge", {vector, other});
  }

  long lanes = s.target.lanes(4);
  // Without weights, which take registers, several vectors go side by side.
  long most = statement.reads.size() > 1 ? lanes : 4 * lanes;
  long block = evenly == 0 ? lanes : std::min(evenly, most);
  auto [vo, vi] = writer.split(vector, block);
  std::string position_outer, position_inner;
  if (!outer.empty()) {
    long extent = roles.find(outer.back())->extent;
    long positions = extent % 8 == 0 ? 8 : extent % 7 == 0 ? 7 : extent % 4 == 0 ? 4 : 6;
    std::tie(position_outer, position_inner) = writer.split(outer.back(), positions);
    outer.pop_back();
  }
  std::vector<std::string> order{vo};
  if (!outer.empty() && outer.front() == batch_loop) {
    order.insert(order.begin(), outer.front());
    outer.erase(outer.begin());
  }
  order.insert(order.end(), outer.begin(), outer.end());
  order.push_back(position_outer);
  std::vector<std::string> shared = order;
  order.insert(order.end(), window.begin(), window.end());
  order.push_back(position_inner);
  order.push_back(vi);
  writer.reorder(order);
  writer.merge(shared);
  if (window_size <= most_unrolled) {
    for (const std::string& loop : window) writer.step("unroll", {loop});
  }
  if (!position_inner.empty()) writer.step("unroll", {position_inner});
  writer.step("vectorize", {vi});
  writer.share(shared);
  writer.pack_weights(main);
  return writer.recipe();
}

}  // namespace

Schedule window() {
  return {"window", "windows that slide over each channel alone", Schedule::For::kind, recipe};
}

}  // namespace lathe::schedules
