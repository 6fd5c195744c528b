// bind.cpp: maps a loop to the blocks and threads of a GPU.
//
//   bind(i, block.x):   for i: S(i)  ->  block.x for i: S(i)
//
// vthread interleaves its iterations in one thread, so that threads touch memory in strides.
#include <algorithm>

#include "transforms/transform_loops.h"

namespace lathe::transforms {
namespace {

bool is_bound(const Order& order, Mark axis) {
  return std::any_of(order.loops.begin(), order.loops.end(),
                     [&](const Loop& loop) { return loop.mark == axis; });
}

Applied map(const Nest& nest, const Arguments& args) {
  Mark axis = *mark_named(args.name(1));
  for (const LoopRef& ref : resolve(nest, args.name(0))) {
    for (const Loop& loop : nest.order[ref.statement].loops) {
      if (loop.mark != axis || axis == Mark::vthread) continue;
      fail("loop '{}' is bound to {} already", loop.name, args.name(1));
    }
  }
  return {marked(nest, args.name(0), axis), ""};
}

std::vector<Step> candidates_of_bind(const Nest& nest) {
  std::vector<Step> steps;
  for (const std::string& name : loop_names(nest)) {
    std::vector<LoopRef> refs = resolve(nest, name);
    if (nest.order[refs[0].statement].loops[refs[0].depth].mark != Mark::serial) continue;
    for (Mark axis : {Mark::block_x, Mark::block_y, Mark::block_z, Mark::thread_x, Mark::thread_y,
                      Mark::thread_z, Mark::vthread}) {
      bool taken = std::any_of(refs.begin(), refs.end(), [&](const LoopRef& ref) {
        return is_bound(nest.order[ref.statement], axis);
      });
      if (!taken) steps.push_back({"bind", {name, std::string(name_of(axis))}});
    }
  }
  return steps;
}

}  // namespace

Transform bind() {
  return {"bind",
          Transform::Kind::program,
          {{Takes::loop}, {Takes::axis}},
          "for i: S  ->  block.x for i: S",
          map,
          candidates_of_bind};
}

}  // namespace lathe::transforms
