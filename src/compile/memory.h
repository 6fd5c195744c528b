// Memory planned ahead: buffers that live at different times share their place in one arena.
#pragma once

#include <vector>

namespace lathe {

/// A buffer that is in use from step "first" to step "last".
struct Lifetime {
  long bytes;
  size_t first, last;
};

struct MemoryPlan {
  std::vector<long> offsets;  ///< of each buffer
  long bytes = 0;             ///< of the arena
  long live = 0;              ///< the most that is in use at one time: no plan needs less
};

/// Places buffers, each aligned to a cache line.
MemoryPlan plan_memory(const std::vector<Lifetime>& buffers);

}  // namespace lathe
