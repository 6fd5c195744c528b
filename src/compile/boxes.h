// Statements that copy a box of a tensor to another tensor.
#pragma once

#include "nest/nest.h"

namespace lathe {

/// Returns the names of the loops that walk the dimensions of an access. The name is "" for a
/// dimension that no loop walks alone. A statement with loops of these names can share them.
std::vector<std::string> loops_of(const Statement& statement, const Access& access);

/// Returns the statement that copies a box. The box begins at the first element of "from", and at
/// "corner" in "to". Each dimension has a loop of the name in "names", or of a new name where that
/// is "". Dimensions of one element have no loop.
Statement copy_of_box(const Nest& nest, const std::string& name, const std::vector<long>& extents,
                      const std::vector<std::string>& names, size_t from, size_t to,
                      const std::vector<long>& corner);

}  // namespace lathe
