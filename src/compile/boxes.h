// Statements over boxes that are added to a nest: copies, and numbers everywhere.
#pragma once

#include "nest/nest.h"

namespace lathe {

/// Returns the names of the loops that walk the dimensions of an access one by one; "" where a
/// dimension is not walked by one loop alone. Loops of the same names can be merged.
std::vector<std::string> loops_of(const Statement& statement, const Access& access);

/// Returns the statement that copies a box of "from", which begins at its first element, to "to",
/// where it begins at "corner". Dimensions of one element have no loop; the others have the names,
/// or one of their own where that is "".
Statement copy_of_box(const Nest& nest, const std::string& name, const std::vector<long>& extents,
                      const std::vector<std::string>& names, size_t from, size_t to,
                      const std::vector<long>& corner);

}  // namespace lathe
