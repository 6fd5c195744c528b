// Functions that a GPU has no instruction for, and no library. Private to the folder.
#pragma once

#include <llvm/IR/Module.h>

#include <string>

namespace lathe {

/// Returns a function of the C library on f64, by its name: exp, log, pow, sin, cos, tan, asin,
/// acos, atan, tanh, erf, fmod. The module gets it when it is first asked for. Results are within a
/// few units in the last place; pow, within 1e-13; sin, cos and tan, as long as the angle has few
/// turns: below a billion.
llvm::Function* nvptx_function(llvm::Module& module, const std::string& name);

}  // namespace lathe
