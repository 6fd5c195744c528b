// prefetch.cpp: asks for a tensor's elements some iterations before they are used.
//
//   prefetch(W, i, 2):   for i: S(i)  ->  for i: prefetch W of i + 2; S(i)
#include <algorithm>

#include "transforms/transform_loops.h"

namespace lathe::transforms {
namespace {

bool reads(const Statement& s, size_t tensor) {
  return std::any_of(s.reads.begin(), s.reads.end(),
                     [&](const Access& access) { return access.tensor == tensor; });
}

Applied ask_ahead(const Nest& nest, const Arguments& args) {
  size_t tensor = tensor_named(nest, args.name(0));
  long distance = args.has(2) ? args.number(2) : 1;
  std::vector<LoopRef> refs = resolve(nest, args.name(1));
  bool used = std::any_of(refs.begin(), refs.end(), [&](const LoopRef& ref) {
    return reads(nest.statements()[ref.statement], tensor);
  });
  if (!used) fail("no statement inside loop '{}' reads {}", args.name(1), args.name(0));
  auto ask = [&](Loop& loop) {
    std::erase_if(loop.prefetches, [&](const Prefetch& p) { return p.tensor == tensor; });
    loop.prefetches.push_back({tensor, distance});
  };
  return {with_loops(nest, args.name(1), ask), ""};
}

std::vector<Step> candidates_of_prefetch(const Nest& nest) {
  std::vector<Step> steps;
  for (size_t s = 0; s < nest.statements().size(); ++s) {
    for (const Access& access : nest.statements()[s].reads) {
      for (const Loop& loop : nest.order[s].loops) {
        Step step{"prefetch", {nest.tensors()[access.tensor].name, loop.name, 1L}};
        if (std::find(steps.begin(), steps.end(), step) == steps.end()) steps.push_back(step);
      }
    }
  }
  return steps;
}

}  // namespace

Transform prefetch() {
  return {"prefetch",
          Transform::Kind::program,
          {{Takes::tensor}, {Takes::loop}, {Takes::count, true}},
          "for i: S(i)  ->  for i: prefetch T of i + distance; S(i)",
          ask_ahead,
          candidates_of_prefetch};
}

}  // namespace lathe::transforms
