// Text that fits a terminal.
#pragma once

#include <string>

namespace lathe {

/// Breaks "text" at spaces into lines of at most 80 columns, all but the first indented.
std::string wrapped(const std::string& text, size_t indent, size_t first_indent);

}  // namespace lathe
