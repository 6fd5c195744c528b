// LLVM's setup and its view of a target. Private to the folder.
#pragma once

#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <set>

#include "codegen/target.h"

namespace lathe {

/// Sets LLVM up. It may be called more than once.
void initialise_llvm();

/// Returns what makes code for a target: position-independent, for both kinds of libraries.
std::unique_ptr<llvm::TargetMachine> make_machine(const Target& target);

/// Returns the instructions that a function may use which needs these extras, as LLVM names them.
std::string features_for(const Target& target, const std::set<Extra>& needs);

}  // namespace lathe
