// LLVM's setup and its view of a target. Private to the folder.
#pragma once

#include <llvm/Target/TargetMachine.h>

#include <memory>

#include "codegen/target.h"

namespace lathe {

/// Sets LLVM up. It may be called more than once.
void initialise_llvm();

/// Returns what makes code for a target: position-independent, for both kinds of libraries.
std::unique_ptr<llvm::TargetMachine> make_machine(const Target& target);

}  // namespace lathe
