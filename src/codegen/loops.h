// The loops of a nest as a tree of loops and statements. Offsets in memory are functions of the
// loops around a statement.
//
// Full tiles and partial tiles are separate loops. If only some iterations of a loop meet a
// condition, the loop is cut into several loops, and the condition disappears. A condition that no
// cut removes becomes a guard of the statement.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "codegen/guard.h"
#include "codegen/layout.h"
#include "nest/barriers.h"
#include "nest/nest.h"

namespace lathe {

/// One node: a loop, some iterations of the parallel loop around it, a statement, or a barrier that
/// all threads of a block reach before one passes it.
struct LoopNode {
  enum class Kind { loop, range, statement, barrier };
  Kind kind = Kind::loop;

  // Of a loop: it counts from "from" to "to" - 1. Of a range: which iterations have this body.
  size_t depth = 0;  ///< how many loops are around it; it is this coordinate of offsets
  std::string name;
  long from = 0, to = 0;
  Mark mark = Mark::serial;
  std::vector<Prefetch> prefetches;
  std::vector<LoopNode> body;

  // Of a statement.
  size_t statement = 0;  ///< its number in the nest
  poly::Affine write;
  std::vector<poly::Affine> reads;
  Guard guard;

  long extent() const { return to - from; }
};

struct LoopTree {
  Nest nest;
  std::vector<Layout> layouts;                ///< of each tensor
  std::vector<std::vector<LoopNode>> places;  ///< outermost places, in the order they run in
  std::vector<bool> handed = {};              ///< tensors that threads hand on at barriers
};

/// Scans a nest into loops. Without layouts its tensors are row-major.
LoopTree scan(const Nest& nest, std::vector<Layout> layouts = {});

/// Scans a nest that in_threads() made, with its barriers. A loop of blocks or threads around a
/// barrier is never cut: all threads must reach it.
LoopTree scan(const Nest& threads, std::vector<Layout> layouts, const Synchronised& synchronised);

/// Is there a barrier inside these nodes?
bool has_barrier(const std::vector<LoopNode>& nodes);

/// Returns the tensors that statements inside these nodes write.
std::set<size_t> written_in(const std::vector<LoopNode>& nodes, const Nest& nest);

/// Returns the statements inside these nodes that read or write a tensor, each as often as it
/// stands there.
std::multiset<size_t> touching(size_t tensor, const std::vector<LoopNode>& nodes, const Nest& nest);

/// Can the loop at "depth" around these nodes become the lanes of vectors? Every access of the
/// statements inside must move by the same distance from each lane to the next.
bool can_be_lanes(const std::vector<LoopNode>& nodes, size_t depth, const Nest& nest);

/// Prints loops as people write them.
std::string print(const LoopTree& tree);

}  // namespace lathe
