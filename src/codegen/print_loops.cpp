// print_loops.cpp: loops as people write them. Interface: print() of loops.h.
#include <fmt/ranges.h>

#include "codegen/loops.h"
#include "nest/text.h"

namespace lathe {
namespace {

std::string print_piece(const std::vector<poly::Constraint>& piece,
                        const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (const poly::Constraint& c : piece) {
    parts.push_back(
        fmt::format("{} {} 0", poly::text(c.expression, names), c.equality ? "=" : ">="));
  }
  return fmt::format("{}", fmt::join(parts, " and "));
}

void print_node(const LoopNode& node, const LoopTree& tree, size_t indent, std::string& out) {
  std::string margin(indent, ' ');
  const auto& tensors = tree.nest.tensors();
  if (node.kind == LoopNode::Kind::statement) {
    const Order& order = tree.nest.order[node.statement];
    Statement s = rebased(tree.nest.statements()[node.statement], order).first;
    if (!node.guard.empty()) {
      std::vector<std::string> pieces;
      for (const auto& piece : node.guard) pieces.push_back(print_piece(piece, s.dims));
      out += fmt::format("{}if {}:\n", margin, fmt::join(pieces, " or "));
      margin += "  ";
    }
    out += margin + print_body(s, tensors) + "\n";
    return;
  }
  if (node.kind == LoopNode::Kind::barrier) {
    out += margin + "barrier\n";
    return;
  }
  std::string mark = node.mark == Mark::serial ? "" : fmt::format("{} ", name_of(node.mark));
  if (node.kind == LoopNode::Kind::range) {
    out += fmt::format("{}where {} <= {} < {}:\n", margin, node.from, node.name, node.to);
  } else if (node.extent() == 1) {
    out += fmt::format("{}{} = {}:\n", margin, node.name, node.from);
  } else if (node.from == 0) {
    out += fmt::format("{}{}for {} < {}:\n", margin, mark, node.name, node.to);
  } else {
    out += fmt::format("{}{}for {} <= {} < {}:\n", margin, mark, node.from, node.name, node.to);
  }
  for (const Prefetch& p : node.prefetches) {
    if (node.kind == LoopNode::Kind::range) break;
    out += fmt::format("{}  prefetch {} of {} + {}\n", margin, tensors[p.tensor].name, node.name,
                       p.distance);
  }
  for (const LoopNode& inner : node.body) print_node(inner, tree, indent + 2, out);
}

}  // namespace

std::string print(const LoopTree& tree) {
  std::string out;
  for (const auto& place : tree.places) {
    for (const LoopNode& node : place) print_node(node, tree, 0, out);
  }
  return out;
}

}  // namespace lathe
