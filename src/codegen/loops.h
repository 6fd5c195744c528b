// The loops of a nest, as every backend reads them: a tree of loops, conditions and statements
// whose accesses are functions of the loops around them.
#pragma once

#include <string>
#include <vector>

#include "nest/nest.h"

namespace lathe {

/// One node: a loop with a body, or a statement.
struct LoopNode {
  std::optional<Loop> loop;
  std::vector<LoopNode> body;
  std::optional<Statement> statement;  ///< its coordinates are the loops around it
  std::string condition;               ///< which iterations are instances; empty: all
};

struct LoopTree {
  std::vector<Tensor> tensors;
  std::vector<LoopNode> body;
};

/// Scans a nest into loops.
LoopTree scan(const Nest& nest);

/// Prints loops as people write them.
std::string print(const LoopTree& tree);

}  // namespace lathe
