// Which marks of loops are for which machines.
#pragma once

#include <vector>

#include "nest/nest.h"

namespace lathe {

/// Returns whether a mark maps a loop to the blocks or threads of a GPU: a CPU has neither.
bool is_for_gpu(Mark mark);

/// Is it one of block.x, block.y, block.z?
bool is_block(Mark mark);
/// Is it one of thread.x, thread.y, thread.z? A vthread is a loop of one thread.
bool is_thread(Mark mark);
/// Is it one of these six?
bool is_axis(Mark mark);

/// Returns the six axes: block.z, block.y, block.x, then the threads in this order.
const std::vector<Mark>& grid_axes();

/// Returns the first loop of a nest that is bound to a GPU, if there is one.
const Loop* find_gpu_loop(const Nest& nest);

/// Returns the first loop of a nest that is bound to blocks or threads, if there is one.
const Loop* find_axis(const Nest& nest);

}  // namespace lathe
