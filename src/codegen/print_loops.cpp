// print_loops.cpp: loops as people write them. Interface: print() of loops.h.
#include <fmt/ranges.h>

#include "codegen/loops.h"
#include "nest/text.h"

namespace lathe {
namespace {

void print_node(const LoopNode& node, const std::vector<Tensor>& tensors, size_t indent,
                std::string& out) {
  std::string margin(indent, ' ');
  if (node.statement) {
    if (!node.condition.empty()) {
      out += fmt::format("{}if {}:\n", margin, node.condition);
      margin += "  ";
    }
    out += margin + print_body(*node.statement, tensors) + "\n";
    return;
  }
  const Loop& loop = *node.loop;
  std::string mark = loop.mark == Mark::serial ? "" : fmt::format("{} ", name_of(loop.mark));
  out += fmt::format("{}{}for {} < {}:\n", margin, mark, loop.name, loop.extent);
  for (const Prefetch& p : loop.prefetches) {
    out += fmt::format("{}  prefetch {} of {} + {}\n", margin, tensors[p.tensor].name, loop.name,
                       p.distance);
  }
  for (const LoopNode& inner : node.body) print_node(inner, tensors, indent + 2, out);
}

}  // namespace

std::string print(const LoopTree& tree) {
  std::string out;
  for (const LoopNode& node : tree.body) print_node(node, tree.tensors, 0, out);
  return out;
}

}  // namespace lathe
