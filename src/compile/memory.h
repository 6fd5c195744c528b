// Plans memory: all buffers lie in one arena, and those that live at different times may share a
// place.
#pragma once

#include <vector>

namespace lathe {

/// A buffer that is in use from step "first" to step "last".
struct Lifetime {
  long bytes;
  size_t first, last;
};

/// Where the buffers lie.
struct MemoryPlan {
  std::vector<long> offsets;  ///< of each buffer
  long bytes = 0;             ///< of the arena
  long live = 0;              ///< bytes in use at one time, at most: no plan needs less
};

/// Places buffers, each aligned to a cache line.
MemoryPlan plan_memory(const std::vector<Lifetime>& buffers);

}  // namespace lathe
