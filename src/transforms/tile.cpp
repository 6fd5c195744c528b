// tile.cpp: cache blocking: strip-mines loops and moves what counts the tiles outermost.
//
//   tile(i, 8, j, 4):   for k: for i: for j: S  ->  for i.o: for j.o: for k: for i.i: for j.i: S
#include <algorithm>
#include <numeric>
#include <set>

#include "transforms/transform_loops.h"

namespace lathe::transforms {
namespace {

/// Moves the loop at "depth" to position "to", further out.
Order hoisted(const Order& order, size_t depth, size_t to) {
  std::vector<size_t> from(order.loops.size());
  std::iota(from.begin(), from.end(), 0);
  std::rotate(from.begin() + static_cast<long>(to), from.begin() + static_cast<long>(depth),
              from.begin() + static_cast<long>(depth) + 1);
  return permuted(order, from);
}

Order tiled(Order order, const Arguments& args) {
  for (size_t i = 0; i < args.size(); i += 2) {
    size_t colon = args.name(i).find(':');
    std::string name = colon == std::string::npos ? args.name(i) : args.name(i).substr(colon + 1);
    auto depth = find_loop(order, name);
    check(depth.has_value(), "the loops were found before");
    if (args.number(i + 1) >= order.loops[*depth].extent) {
      fail("loop '{}' has {} iterations; the factor must be smaller", name,
           order.loops[*depth].extent);
    }
    order = hoisted(split_loop(order, *depth, args.number(i + 1)), *depth, i / 2);
  }
  return order;
}

Applied block(const Nest& nest, const Arguments& args) {
  std::vector<std::set<size_t>> found(nest.order.size());
  for (size_t i = 0; i < args.size(); i += 2) {
    for (const LoopRef& ref : resolve(nest, args.name(i))) {
      bool again = !found[ref.statement].insert(ref.depth).second;
      if (again) fail("loop '{}' is named twice", args.name(i));
    }
  }
  std::vector<Order> order = nest.order;
  bool any = false;
  for (size_t s = 0; s < order.size(); ++s) {
    if (found[s].size() != args.size() / 2) continue;
    order[s] = tiled(order[s], args);
    any = true;
  }
  if (!any) fail("no statement is inside all of these loops");
  return {with_order(nest, std::move(order)), ""};
}

/// Square tiles of two neighbouring loops.
std::vector<Step> candidates_of_tile(const Nest& nest) {
  std::vector<Step> steps;
  for (const Order& order : nest.order) {
    for (size_t i = 0; i + 1 < order.loops.size(); ++i) {
      const Loop &a = order.loops[i], &b = order.loops[i + 1];
      if (!can_be_split(nest, a.name) || !can_be_split(nest, b.name)) continue;
      long extent = std::min(least_extent(nest, a.name), least_extent(nest, b.name));
      for (long factor : {4L, 8L, 16L, 32L}) {
        if (factor >= extent) continue;
        Step step{"tile", {a.name, factor, b.name, factor}};
        if (std::find(steps.begin(), steps.end(), step) == steps.end()) steps.push_back(step);
      }
    }
  }
  return steps;
}

}  // namespace

Transform tile() {
  return {"tile",
          Transform::Kind::program,
          {{Takes::tiles}},
          "for k: for i: S  ->  (i, f)  for i.o: for k: for i.i: S",
          block,
          candidates_of_tile};
}

}  // namespace lathe::transforms
