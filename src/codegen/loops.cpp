// loops.cpp: questions about scanned loops. Interface: loops.h.
#include "codegen/loops.h"

#include <algorithm>

namespace lathe {
namespace {

using poly::Affine;

/// Is the loop at "depth" inside a floor of "a"?
bool is_in_floor(const Affine& a, size_t depth) {
  return std::any_of(a.floors.begin(), a.floors.end(), [&](const Affine::Floor& floor) -> bool {
    return poly::involved(floor.of)[depth];
  });
}

bool is_guarded_by(const LoopNode& node, size_t depth) {
  for (const auto& piece : node.guard) {
    for (const poly::Constraint& c : piece) {
      if (poly::involved(c.expression)[depth]) return true;
    }
  }
  return false;
}

bool reads(const Statement& statement, size_t tensor) {
  return std::any_of(statement.reads.begin(), statement.reads.end(),
                     [&](const Access& access) { return access.tensor == tensor; });
}

}  // namespace

std::set<size_t> written_in(const std::vector<LoopNode>& nodes, const Nest& nest) {
  std::set<size_t> result;
  for (const LoopNode& node : nodes) {
    if (node.kind == LoopNode::Kind::statement) {
      result.insert(nest.statements()[node.statement].write.tensor);
    } else {
      result.merge(written_in(node.body, nest));
    }
  }
  return result;
}

std::multiset<size_t> touching(size_t tensor, const std::vector<LoopNode>& nodes,
                               const Nest& nest) {
  std::multiset<size_t> result;
  for (const LoopNode& node : nodes) {
    if (node.kind != LoopNode::Kind::statement) {
      result.merge(touching(tensor, node.body, nest));
      continue;
    }
    const Statement& s = nest.statements()[node.statement];
    if (s.write.tensor == tensor || reads(s, tensor)) result.insert(node.statement);
  }
  return result;
}

bool has_barrier(const std::vector<LoopNode>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const LoopNode& node) {
    return node.kind == LoopNode::Kind::barrier || has_barrier(node.body);
  });
}

bool can_be_lanes(const std::vector<LoopNode>& nodes, size_t depth, const Nest& nest) {
  return std::all_of(nodes.begin(), nodes.end(), [&](const LoopNode& node) {
    if (node.kind != LoopNode::Kind::statement) return can_be_lanes(node.body, depth, nest);
    bool floors = is_in_floor(node.write, depth) ||
                  std::any_of(node.reads.begin(), node.reads.end(),
                              [&](const Affine& read) { return is_in_floor(read, depth); });
    if (floors || is_guarded_by(node, depth)) return false;
    if (node.write.coefficients[depth] != 0) return true;
    // All lanes update one element: their sum is taken, unless one needs what another left.
    const Statement& s = nest.statements()[node.statement];
    return s.update != Update::assign && !reads(s, s.write.tensor);
  });
}

}  // namespace lathe
