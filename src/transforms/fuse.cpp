// fuse.cpp: two loops, one directly inside the other, become one.
//
//   fuse(i, j):   for i < N: for j < M: S(i, j)  ->  for i_j < N*M: S(i_j / M, i_j % M)
//
// Fusing x.o and x.i gives x back. A third argument names the new loop.
#include <algorithm>

#include "transforms/transform_loops.h"

namespace lathe::transforms {
namespace {

std::string fused_name(const std::string& outer, const std::string& inner) {
  bool halves = outer.ends_with(".o") && inner.ends_with(".i");
  std::string stem = outer.substr(0, outer.size() - 2);
  if (halves && inner.substr(0, inner.size() - 2) == stem) return stem;
  return outer + "_" + inner;
}

Order fused(const Order& order, size_t depth, const std::string& name) {
  const Loop &outer = order.loops[depth], &inner = order.loops[depth + 1];
  long width = inner.extent;
  Loop loop{name, outer.extent * width, outer.value.scale(width).add(inner.value), outer.mark,
            outer.prefetches};
  return replace_loops(order, depth, 2, {loop}, [&](const std::vector<isl::aff>& one) {
    return std::vector<isl::aff>{poly::quotient(one[0], width), poly::remainder(one[0], width)};
  });
}

Applied join(const Nest& nest, const Arguments& args) {
  std::vector<LoopRef> outer = resolve(nest, args.name(0)), inner = resolve(nest, args.name(1));
  std::vector<Order> order = nest.order;
  bool any = false;
  for (const LoopRef& a : outer) {
    for (const LoopRef& b : inner) {
      if (a.statement != b.statement) continue;
      const Order& now = nest.order[a.statement];
      const std::string &x = now.loops[a.depth].name, &y = now.loops[b.depth].name;
      if (b.depth != a.depth + 1) {
        fail("loop '{}' is not directly inside '{}'; interchange it there first", y, x);
      }
      std::string name = args.has(2) ? args.name(2) : fused_name(x, y);
      if (find_loop(now, name) && name != x && name != y) {
        fail("there is a loop '{}' already; give another name as third argument", name);
      }
      order[a.statement] = fused(now, a.depth, name);
      any = true;
    }
  }
  if (!any) fail("no statement is inside both loops");
  return {with_order(nest, std::move(order)), ""};
}

/// Can the two loops become one in all statements that are inside both?
bool fit(const Nest& nest, const std::string& outer, const std::string& inner) {
  return std::all_of(nest.order.begin(), nest.order.end(), [&](const Order& order) {
    auto a = find_loop(order, outer), b = find_loop(order, inner);
    return !a || !b || (*b == *a + 1 && !find_loop(order, fused_name(outer, inner)));
  });
}

std::vector<Step> candidates_of_fuse(const Nest& nest) {
  std::vector<Step> steps;
  for (const Order& order : nest.order) {
    for (size_t i = 0; i + 1 < order.loops.size(); ++i) {
      const std::string &outer = order.loops[i].name, &inner = order.loops[i + 1].name;
      Step step{"fuse", {outer, inner}};
      bool known = std::find(steps.begin(), steps.end(), step) != steps.end();
      if (!known && fit(nest, outer, inner)) steps.push_back(step);
    }
  }
  return steps;
}

}  // namespace

Transform fuse() {
  return {"fuse",
          Transform::Kind::program,
          {{Takes::loop}, {Takes::loop}, {Takes::name, true}},
          "for i < N: for j < M: S(i, j)  ->  for f < N*M: S(f/M, f%M)",
          join,
          candidates_of_fuse};
}

}  // namespace lathe::transforms
