// Loads and stores of four neighbours, which many GPUs do at once if they lie where a multiple of
// four does. Compilers of OpenCL C do not see that by themselves: they know the address of nothing.
//
//   v1 = load W + 4*i        one access of four elements, where v1 is;
//   v2 = v1 * v0 + v2        no use of v3 stands before its own load, so it
//   v3 = load W + 4*i + 1    can be loaded earlier
//   ...
#pragma once

#include <array>

#include "codegen/code.h"

namespace lathe {

/// Four instructions that are done at once, where the first load or the last store stands.
struct Quad {
  std::array<const Instruction*, 4> parts;  ///< by their places in memory
  const Instruction* where = nullptr;
};

/// Returns the quads of a kernel: of f32, one lane each, in shared memory, or in global memory that
/// begins at a multiple of four elements. The pointers are into the code.
std::vector<Quad> find_quads(const Code& code);

}  // namespace lathe
