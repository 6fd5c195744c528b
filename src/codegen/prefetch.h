// Prefetches of a loop, as instructions.
#pragma once

#include "codegen/tile.h"
#include "codegen/writer.h"

namespace lathe {

/// Writes the prefetches of a loop at the beginning of its body. They ask for the cache lines that
/// the loop touches some iterations later, each line once.
void write_prefetches(const LoopNode& loop, const Bindings& bindings, const Nest& nest, Code& code,
                      CodeWriter& writer);

}  // namespace lathe
