// The machine that code is made for, as an option of verbs.
#pragma once

#include "cli/verb_command.h"

namespace lathe::cli {

/// Adds --target. "what" says which machine it is: "the machine to compile for".
void add_target_argument(Command& app, std::string& target, const std::string& what);

}  // namespace lathe::cli
