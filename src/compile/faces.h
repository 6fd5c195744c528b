// Arrays in and out of compiled code, which reads and writes plain buffers.
#pragma once

#include "compile/compile.h"

namespace lathe {

/// Checks that arrays are what the inputs want, runs "run" on their buffers, and returns what it
/// wrote into those of the outputs.
std::vector<Array> run_on_arrays(const std::vector<CompiledFace>& inputs,
                                 const std::vector<CompiledFace>& outputs,
                                 const std::vector<Array>& arrays,
                                 const std::function<void(const void* const*, void* const*)>& run);

}  // namespace lathe
