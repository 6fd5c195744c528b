// Which marks of loops are for which machines.
#pragma once

#include "nest/nest.h"

namespace lathe {

/// Returns whether a mark maps a loop to the blocks or threads of a GPU: a CPU has neither.
bool is_for_gpu(Mark mark);

/// Returns the first loop of a nest with such a mark, if there is one.
const Loop* find_gpu_loop(const Nest& nest);

}  // namespace lathe
