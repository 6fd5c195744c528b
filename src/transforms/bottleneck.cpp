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
#include "nest/roles.h"
#include "transforms/transform_neural.h"

namespace lathe::transforms {
namespace {

/// Narrows the outermost loop of the target.
std::pair<Statement, Order> narrowed(const NeuralTarget& target, const Kept& kept) {
  std::vector<Loop> loops = target.order.loops;
  loops.front().extent /= kept.factor;
  bool dropped = loops.front().extent == 1;
  if (dropped) loops.erase(loops.begin());
  isl::space space = poly::tuples(target.statement.domain.ctx(), loops.size());
  size_t next = 0;
  isl::aff first = dropped ? poly::constant(space, 0) : poly::coordinate(space, next++);
  std::vector<isl::aff> old{kept.strided ? first.scale(kept.factor) : first};
  for (size_t i = 1; i < target.order.loops.size(); ++i) {
    old.push_back(poly::coordinate(space, next++));
  }
  return reindexed(target.statement, loops, poly::tuple(space, old), {target.order.at[0]});
}

Applied narrow(const Nest& nest, const Arguments& args) {
  NeuralTarget target = take_target(nest);
  const Loop& loop = target.order.loops.front();
  require_network_loop(loop);
  require_divisor(loop, args.number(0));
  bool written = poly::involves(target.statement.write.at, 0);
  bool strided = role_of(target.statement, nest.tensors(), 0) == CoordinateRole::position;
  Kept kept{0, args.number(0), strided};
  auto changed = narrowed(target, kept);
  std::string what = strided ? "one in " + std::to_string(kept.factor) : "the first ones";
  std::string note =
      fmt::format("{}: {} -> {}, {}", loop.name, loop.extent, loop.extent / kept.factor, what);
  const std::string& output = nest.tensors()[target.statement.write.tensor].name;
  Completion completion = completion_named(args.has(1) ? args.name(1) : "propagate");
  if (completion == Completion::reduce) {
    if (role_of(target.statement, nest.tensors(), 0) != CoordinateRole::channel) {
      fail(
          "reduce makes input channels, and loop '{}' does not count them alone; interchange one "
          "that does outermost, before the channels are in groups",
          loop.name);
    }
    Nest result = reduced(nest, target, changed, kept.depth, note);
    return {result, note};
  }
  if (!written) {
    if (args.has(1)) {
      fail(
          "loop '{}' does not index {}: every element is still written, and there is nothing to {}",
          loop.name, output, args.name(1));
    }
    return {assemble(nest, target, changed), note};
  }
  Nest result = complete(nest, target, changed, kept, completion, note);
  return {result, note};
}

std::vector<Step> candidates_of_bottleneck(const Nest& nest) {
  auto target = try_take_target(nest);
  if (!target) return {};
  const Loop& loop = target->order.loops.front();
  if (loop.name == batch_loop) return {};
  bool written = poly::involves(target->statement.write.at, 0);
  std::vector<Step> steps;
  for (long factor : divisors(loop.extent)) {
    Step step{"bottleneck", {factor}};
    if (applies(nest, step)) steps.push_back(step);
    // Not reduce: on a layer that other steps cut up, what is read of its input has no simple form,
    // and to count it can take minutes. Lists of blocks name it where it is wanted.
    for (const char* completion : {"expand", "deepen", "repeat"}) {
      Step completed{"bottleneck", {factor, completion}};
      if (written && applies(nest, completed)) steps.push_back(std::move(completed));
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
          narrow,
          candidates_of_bottleneck};
}

}  // namespace lathe::transforms
