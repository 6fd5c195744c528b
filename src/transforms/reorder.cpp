// reorder.cpp: puts loops into a given order, in the positions that they occupy together.
//
//   reorder(k, i):   for i: for j: for k: S  ->  for k: for j: for i: S
#include <algorithm>
#include <numeric>

#include "transforms/transform_loops.h"

namespace lathe::transforms {
namespace {

/// Orders those of the "named" loops that this statement has.
Order reordered(const Order& order, const std::vector<size_t>& named) {
  std::vector<size_t> positions = named;
  std::sort(positions.begin(), positions.end());
  std::vector<size_t> from(order.loops.size());
  std::iota(from.begin(), from.end(), 0);
  for (size_t i = 0; i < named.size(); ++i) from[positions[i]] = named[i];
  return permuted(order, from);
}

Applied put(const Nest& nest, const Arguments& args) {
  std::vector<std::vector<size_t>> named(nest.order.size());
  for (size_t i = 0; i < args.size(); ++i) {
    for (const LoopRef& ref : resolve(nest, args.name(i))) {
      auto& depths = named[ref.statement];
      bool again = std::find(depths.begin(), depths.end(), ref.depth) != depths.end();
      if (again) fail("loop '{}' is named twice", args.name(i));
      depths.push_back(ref.depth);
    }
  }
  bool together = std::any_of(named.begin(), named.end(),
                              [&](const auto& depths) { return depths.size() == args.size(); });
  if (!together) fail("no statement is inside all of these loops");
  std::vector<Order> order = nest.order;
  for (size_t s = 0; s < order.size(); ++s) order[s] = reordered(order[s], named[s]);
  return {with_order(nest, std::move(order)), ""};
}

/// What interchange cannot do in one step: rotations of three adjacent loops.
std::vector<Step> candidates_of_reorder(const Nest& nest) {
  std::vector<Step> steps;
  for (const Order& order : nest.order) {
    for (size_t i = 0; i + 2 < order.loops.size(); ++i) {
      const std::string &a = order.loops[i].name, &b = order.loops[i + 1].name,
                        &c = order.loops[i + 2].name;
      for (const Step& step : {Step{"reorder", {b, c, a}}, Step{"reorder", {c, a, b}}}) {
        if (std::find(steps.begin(), steps.end(), step) == steps.end()) steps.push_back(step);
      }
    }
  }
  return steps;
}

}  // namespace

Transform reorder() {
  return {"reorder",
          Transform::Kind::program,
          {{Takes::loops}},
          "for i: for j: for k: S  ->  (k, i, j)  for k: for i: for j: S",
          put,
          candidates_of_reorder};
}

}  // namespace lathe::transforms
