// transform_outermost.cpp: keeping a part of the outermost loop. Interface: transform_outermost.h.
#include "transforms/transform_outermost.h"

#include "nest/roles.h"

namespace lathe {
namespace {

/// Narrows the outermost loop of the target.
std::pair<Statement, Order> narrowed(const NeuralTarget& target, const Kept& kept) {
  std::vector<Loop> loops = target.order.loops;
  loops.front().extent = kept.left;
  bool dropped = kept.left == 1;
  if (dropped) loops.erase(loops.begin());
  isl::space space = poly::tuples(target.statement.domain.ctx(), loops.size());
  size_t next = 0;
  isl::aff first = dropped ? poly::constant(space, 0) : poly::coordinate(space, next++);
  std::vector<isl::aff> old{first.scale(kept.stride)};
  for (size_t i = 1; i < target.order.loops.size(); ++i) {
    old.push_back(poly::coordinate(space, next++));
  }
  return reindexed(target.statement, loops, poly::tuple(space, old), {target.order.at[0]});
}

void require_channels(const Nest& nest, const NeuralTarget& target) {
  if (role_of(target.statement, nest.tensors(), 0) == CoordinateRole::channel) return;
  fail(
      "reduce makes input channels, and loop '{}' does not count them alone; interchange one "
      "that does outermost, before the channels are in groups",
      target.order.loops.front().name);
}

}  // namespace

bool counts_positions(const Nest& nest, const NeuralTarget& target) {
  return role_of(target.statement, nest.tensors(), 0) == CoordinateRole::position;
}

Applied keep_outermost(const Nest& nest, const NeuralTarget& target, const Kept& kept,
                       const std::string& named) {
  const Loop& loop = target.order.loops.front();
  auto changed = narrowed(target, kept);
  std::string what = kept.stride > 1 ? fmt::format("one in {}", kept.stride) : "the first ones";
  std::string note = fmt::format("{}: {} -> {}, {}", loop.name, loop.extent, kept.left, what);
  Completion completion = completion_named(named.empty() ? "propagate" : named);
  if (completion == Completion::reduce) {
    require_channels(nest, target);
    Nest result = reduced(nest, target, changed, kept.depth, note);
    return {result, note};
  }
  bool indexes = poly::involves(target.statement.write.at, 0);
  if (!indexes || writes_all(target, changed.first)) {
    if (!named.empty()) {
      fail("loop '{}' {} {}: every element is still written, and there is nothing to {}", loop.name,
           indexes ? "comes several times to each element of" : "does not index",
           nest.tensors()[target.statement.write.tensor].name, named);
    }
    return {assemble(nest, target, changed), note};
  }
  Nest result = complete(nest, target, changed, kept, completion, note);
  return {result, note};
}

std::vector<Step> completed_steps(const Nest& nest, const NeuralTarget& target, const Step& step) {
  std::vector<Step> steps;
  if (applies(nest, step)) steps.push_back(step);
  if (!poly::involves(target.statement.write.at, 0)) return steps;
  // Not reduce: on a layer that other steps cut up, what is read of its input has no simple form,
  // and to count it can take minutes. Lists of blocks name it where it is wanted.
  for (const char* completion : {"expand", "deepen", "repeat"}) {
    Step completed = step;
    completed.args.emplace_back(completion);
    if (applies(nest, completed)) steps.push_back(std::move(completed));
  }
  return steps;
}

}  // namespace lathe
