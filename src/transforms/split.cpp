// split.cpp: strip-mining: one loop becomes two.
//
//   split(i, 4):   for i < N: S(i)  ->  for i.o < N/4: for i.i < 4: S(4*i.o + i.i)
//
// The factor need not divide the loop: iterations that stand for no instance are not executed.
#include "transforms/transform_loops.h"

namespace lathe::transforms {
namespace {

Applied strip_mine(const Nest& nest, const Arguments& args) {
  long factor = args.number(1);
  std::vector<Order> order = nest.order;
  for (const LoopRef& ref : resolve(nest, args.name(0))) {
    const Loop& loop = nest.order[ref.statement].loops[ref.depth];
    if (factor >= loop.extent) {
      fail("loop '{}' has {} iterations; the factor must be smaller", loop.name, loop.extent);
    }
    order[ref.statement] = split_loop(nest.order[ref.statement], ref.depth, factor);
  }
  return {with_order(nest, std::move(order)), ""};
}

/// The divisors of a loop, and the powers of two up to 64 that leave a remainder.
std::vector<Step> candidates_of_split(const Nest& nest) {
  std::vector<Step> steps;
  for (const std::string& name : loop_names(nest)) {
    if (!can_be_split(nest, name)) continue;
    long extent = least_extent(nest, name);
    for (long factor = 2; factor < extent; ++factor) {
      bool power = factor <= 64 && (factor & (factor - 1)) == 0;
      if (power || extent % factor == 0) steps.push_back({"split", {name, factor}});
    }
  }
  return steps;
}

}  // namespace

Transform split() {
  return {"split",
          Transform::Kind::program,
          {{Takes::loop}, {Takes::factor}},
          "for i < N: S(i)  ->  for i.o < N/f: for i.i < f: S(f*i.o + i.i)",
          strip_mine,
          candidates_of_split};
}

}  // namespace lathe::transforms
