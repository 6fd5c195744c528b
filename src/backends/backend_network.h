// Networks as backends get them: steps that say what to launch, where tensors lie, and what a
// library is made of.
#pragma once

#include <array>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/target.h"
#include "runtime/runtime.h"

namespace lathe {

/// How many blocks run a kernel on a GPU, and how many threads each has: along x, y and z.
struct Grid {
  std::array<long, 3> blocks{1, 1, 1}, threads{1, 1, 1};
};

/// What is launched: a kernel, the places of its tensors, and how many iterations there are to
/// share. runtime.h says what the numbers are.
struct TableStep {
  std::string symbol;
  int32_t first, tensors;
  int64_t count;
  Grid grid = {};
};

/// An input or output.
struct TableFace {
  std::string name, element;
  std::vector<int64_t> shape;
  int64_t bytes;
};

/// What a network is to a device and in a library, but for the weights.
struct Tables {
  std::string name;  ///< in libraries a C identifier: the functions are called NAME_create, ...
  Target target;
  std::set<Extra> needs;  ///< those of the target's extras that kernels use
  std::vector<TableStep> steps;
  std::vector<lathe_place> places;
  std::vector<TableFace> inputs, outputs;
  int64_t arena_bytes = 0, scratch_bytes = 0, prepared_bytes = 0, first_step = 0;
};

/// A file of the runtime, compiled for the machine of a library.
struct RuntimeObject {
  std::string name;  ///< "pool.o"
  std::string_view bytes;
};

/// What a library is made of, and where its files go.
struct LibraryParts {
  std::vector<Tables> variants;  ///< one network for several shapes of its inputs
  std::span<const std::byte> weights;
  bool without_weights = false;           ///< a GPU's runtime makes up as many
  std::vector<std::string_view> kernels;  ///< what a Compiler made of all of them
  Target host;                            ///< the CPU that calls the library; often the target
  std::vector<RuntimeObject> runtime;     ///< for the host
  std::string folder;                     ///< for what is needed meanwhile: it is there, and empty
  std::string archive, shared;            ///< paths of the two files
};

}  // namespace lathe
