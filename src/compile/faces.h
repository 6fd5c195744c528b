// Runs compiled code on arrays. The code itself reads and writes plain buffers.
#pragma once

#include "compile/compile.h"

namespace lathe {

/// Checks that the arrays fit the inputs, calls "run" with their buffers and those of the outputs,
/// and returns the outputs.
std::vector<Array> run_on_arrays(const std::vector<CompiledFace>& inputs,
                                 const std::vector<CompiledFace>& outputs,
                                 const std::vector<Array>& arrays,
                                 const std::function<void(const void* const*, void* const*)>& run);

}  // namespace lathe
