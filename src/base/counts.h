// Large numbers as people read them.
#pragma once

#include <string>

namespace lathe {

/// Prints a number with thousands separated: 115,605,504.
std::string print_count(long n);

}  // namespace lathe
