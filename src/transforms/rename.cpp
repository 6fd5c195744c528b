// rename.cpp: gives a loop another name, so that it can be told from others, or be merged with
// them.
//
//   rename(i, j):   for i: S(i)  ->  for j: S(j)
#include "transforms/transform_loops.h"

namespace lathe::transforms {
namespace {

Applied rename_loop(const Nest& nest, const Arguments& args) {
  std::vector<Order> order = nest.order;
  for (const LoopRef& ref : resolve(nest, args.name(0))) {
    if (find_loop(order[ref.statement], args.name(1))) {
      fail("statement '{}' has a loop '{}' already", nest.statements()[ref.statement].name,
           args.name(1));
    }
    order[ref.statement].loops[ref.depth].name = args.name(1);
  }
  return {with_order(nest, std::move(order)), ""};
}

/// A name is nothing that a search could prefer.
std::vector<Step> candidates_of_rename(const Nest&) { return {}; }

}  // namespace

Transform rename() {
  return {"rename",
          Transform::Kind::program,
          {{Takes::loop}, {Takes::name}},
          "for i: S(i)  ->  for j: S(j)",
          rename_loop,
          candidates_of_rename};
}

}  // namespace lathe::transforms
