// Programs for other machines.
#pragma once

#include "backends/backend_network.h"

namespace lathe {

/// Links object files to a program that needs libc alone; "main" names the function that it begins
/// with. The libc of the host need not be on this machine.
void link_program(const Target& host, const std::vector<RuntimeObject>& objects,
                  const std::string& main, const std::string& program);

}  // namespace lathe
