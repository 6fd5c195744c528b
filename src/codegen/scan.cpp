// scan.cpp: Nest to loops. Interface: scan() of loops.h.
#include "codegen/loops.h"
#include "nest/text.h"

namespace lathe {
namespace {

LoopNode statement_node(const Nest& nest, size_t index) {
  auto [statement, order] = rebased(nest.statements()[index], nest.order[index]);
  return {std::nullopt,
          {},
          statement,
          print_constraints(statement.domain, extents(order), statement.dims)};
}

LoopNode node_of(const Nest& nest, const Place& place) {
  if (!place.is_loop) return statement_node(nest, place.statements.front());
  LoopNode node{nest.order[place.statements.front()].loops[place.depth], {}, std::nullopt, ""};
  for (const Place& inner : place.body) node.body.push_back(node_of(nest, inner));
  return node;
}

}  // namespace

LoopTree scan(const Nest& nest) {
  LoopTree tree{nest.tensors(), {}};
  for (const Place& place : places(nest.order)) tree.body.push_back(node_of(nest, place));
  return tree;
}

}  // namespace lathe
