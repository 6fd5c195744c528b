// Kernels in LLVM's language. Private to the folder.
#pragma once

#include <llvm/IR/Module.h>

#include "codegen/code.h"

namespace lathe {

/// Adds the function of a kernel to a module.
void emit_function(llvm::Module& module, const std::string& symbol, const Code& code,
                   const Target& target);

}  // namespace lathe
