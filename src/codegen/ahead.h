// Loads ahead of their use. A thread of a GPU runs its instructions in their order, and waits where
// a value is missing: the more loads are under way by then, the less it waits.
#pragma once

#include "codegen/code.h"

namespace lathe {

/// Lets loads of what the kernel never changes begin earlier, among the instructions that run one
/// after the other: as long as no more than "most" elements are loaded and not yet used.
void load_ahead(Code& code, long most);

/// Returns which tensors a kernel writes.
std::vector<bool> written_tensors(const Code& code);

}  // namespace lathe
