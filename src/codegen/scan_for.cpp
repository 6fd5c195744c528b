// scan_for.cpp: loops as a kind of machine runs them. Interface: scan_for() of code.h.
//
// For a GPU, spaces are settled by the nest as its steps left it. Then storage is made smaller: now
// iterations, blocks and threads share it. So the barriers come last.
#include "base/error.h"
#include "codegen/by_loops.h"
#include "codegen/code.h"
#include "codegen/contract.h"
#include "codegen/phantoms.h"
#include "nest/threads.h"

namespace lathe {
namespace {

Nest with_spaces(const Nest& nest, const std::vector<Space>& spaces) {
  std::vector<Tensor> tensors = nest.tensors();
  for (size_t t = 0; t < tensors.size(); ++t) {
    if (tensors[t].role == Role::local) tensors[t].space = spaces[t];
  }
  auto meaning = std::make_shared<Meaning>(std::move(tensors), nest.statements(), nest.order);
  return {nest.name, std::move(meaning), nest.order};
}

/// The lanes of a vector loop run at once, but threads wait for each other between the iterations
/// of a loop that has a barrier: such a loop runs in order.
void put_in_order(std::vector<LoopNode>& nodes) {
  for (LoopNode& node : nodes) {
    if (node.mark == Mark::vector && has_barrier(node.body)) node.mark = Mark::serial;
    put_in_order(node.body);
  }
}

}  // namespace

LoopTree scan_for(const Target& target, const Nest& nest, const std::vector<Layout>& layouts) {
  if (!target.is_gpu()) {
    Stored stored = contracted(nest, layouts);
    return scan(stored.nest, stored.layouts);
  }
  Nest blocks = target.has_warps() ? nest : in_blocks(nest);
  Stored stored = contracted(with_spaces(blocks, settled_spaces(in_threads(blocks))), layouts);
  stored = indexed_by_loops(stored.nest, stored.layouts);
  Nest threads = in_threads(stored.nest);
  Synchronised found = synchronised(threads, Copies::own);
  if (found.violation) {
    fail("{}; {}", explain(*found.violation, threads), witness(*found.violation, threads));
  }
  LoopTree tree = scan(threads, stored.layouts, found);
  for (std::vector<LoopNode>& place : tree.places) put_in_order(place);
  allow_phantoms(tree, target);
  return tree;
}

}  // namespace lathe
