// bottleneck.cpp: keeps 1/B of the outermost loop's range (the paper, section 5.1).
//
//   bottleneck(2):   for co < 64: S(co)  ->  for co < 32: S(co)        fewer filters
//                    for ci < 64: S(ci)  ->  for ci < 32: S(ci)        fewer inputs are read
//                    for oh < 56: S(oh)  ->  for oh < 28: S(2*oh)      every second row
//
// A loop that picks weights (a channel) keeps its first iterations; one that only picks positions
// keeps every B-th. Elements that are no longer written are completed by the second argument:
// propagate (if it is left out), expand, deepen or repeat. Input channels that are no longer read
// are lost, unless the second argument is reduce: then those that are read are made of all.
#include "transforms/transform_outermost.h"

namespace lathe::transforms {
namespace {

Applied keep_part(const Nest& nest, const Arguments& args) {
  NeuralTarget target = take_target(nest);
  const Loop& loop = target.order.loops.front();
  require_network_loop(loop);
  long factor = args.number(0);
  require_divisor(loop, factor);
  Kept kept{0, loop.extent / factor, counts_positions(nest, target) ? factor : 1};
  return keep_outermost(nest, target, kept, args.has(1) ? args.name(1) : "");
}

std::vector<Step> candidates_of_bottleneck(const Nest& nest) {
  auto target = try_take_target(nest);
  if (!target) return {};
  const Loop& loop = target->order.loops.front();
  if (loop.name == batch_loop) return {};
  std::vector<Step> steps;
  for (long factor : divisors(loop.extent)) {
    for (Step& step : completed_steps(nest, *target, {"bottleneck", {factor}})) {
      steps.push_back(std::move(step));
    }
  }
  return steps;
}

}  // namespace

Transform bottleneck() {
  return {"bottleneck",
          Transform::Kind::neural,
          {{Takes::factor}, {Takes::completion, true}},
          "for i < N: S(i)  ->  for i < N/B: S(i)",
          keep_part,
          candidates_of_bottleneck};
}

}  // namespace lathe::transforms
