// Object files of assembly. Private to the folder; the tables themselves are in llvm_library.h.
#pragma once

#include <string>

#include "codegen/target.h"

namespace lathe {

/// Writes an object file of assembly that means the same on every target: symbols and data.
void write_assembly(const Target& target, const std::string& assembly,
                    const std::string& object_file);

}  // namespace lathe
