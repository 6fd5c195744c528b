// interchange.cpp: swaps two loops.
//
//   interchange(i, j):   for i: for j: S        ->  for j: for i: S
//                        for i: S;  for j: T    ->  for j: T;  for i: S
//
// Loops of one statement change places. Loops that no statement shares (those that a split of a
// range left behind, say) swap the whole nests that they stand in.
#include <algorithm>
#include <numeric>

#include "transforms/transform_loops.h"

namespace lathe::transforms {
namespace {

Order swapped(const Order& order, size_t a, size_t b) {
  std::vector<size_t> from(order.loops.size());
  std::iota(from.begin(), from.end(), 0);
  std::swap(from[a], from[b]);
  return permuted(order, from);
}

/// Swaps the two places in which statements "a" and "b" part.
std::vector<Order> swap_places(std::vector<Order> order, size_t a, size_t b) {
  const Order first = order[a], second = order[b];
  size_t depth = shared_loops(first, second);
  for (Order& o : order) {
    if (o.at.size() <= depth || shared_loops(o, first) < depth) continue;
    bool same_loops =
        std::equal(first.at.begin(), first.at.begin() + static_cast<long>(depth), o.at.begin());
    if (!same_loops) continue;
    if (o.at[depth] == first.at[depth]) {
      o.at[depth] = second.at[depth];
    } else if (o.at[depth] == second.at[depth]) {
      o.at[depth] = first.at[depth];
    }
  }
  return order;
}

Applied swap(const Nest& nest, const Arguments& args) {
  std::vector<LoopRef> a = resolve(nest, args.name(0)), b = resolve(nest, args.name(1));
  std::vector<Order> order = nest.order;
  bool nested = false;
  for (const LoopRef& x : a) {
    for (const LoopRef& y : b) {
      if (x.statement != y.statement) continue;
      if (x.depth == y.depth) fail("the two loops are the same");
      order[x.statement] = swapped(nest.order[x.statement], x.depth, y.depth);
      nested = true;
    }
  }
  if (!nested) order = swap_places(order, a.front().statement, b.front().statement);
  return {with_order(nest, std::move(order)), ""};
}

std::vector<Step> candidates_of_interchange(const Nest& nest) {
  std::vector<Step> steps;
  for (const Order& order : nest.order) {
    for (size_t i = 0; i < order.loops.size(); ++i) {
      for (size_t j = i + 1; j < order.loops.size(); ++j) {
        Step step{"interchange", {order.loops[i].name, order.loops[j].name}};
        if (std::find(steps.begin(), steps.end(), step) == steps.end()) steps.push_back(step);
      }
    }
  }
  return steps;
}

}  // namespace

Transform interchange() {
  return {"interchange",
          Transform::Kind::program,
          {{Takes::loop}, {Takes::loop}},
          "for i: for j: S  ->  for j: for i: S",
          swap,
          candidates_of_interchange};
}

}  // namespace lathe::transforms
