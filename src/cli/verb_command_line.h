// The command that this is, for what keeps it.
#pragma once

#include <string>

namespace lathe {

/// Returns the command that this is, as a shell would read it: "lathe optimize ...".
std::string command_line();

}  // namespace lathe
