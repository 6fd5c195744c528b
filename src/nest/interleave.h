// The interpreter with threads: runs a nest as a GPU may run it. Threads and blocks advance in an
// order that a seed draws; threads wait for each other only at barriers. It is the oracle for what
// barriers.h derives: with all barriers every seed gives what interpret() does, and a race shows
// for some seed.
#pragma once

#include "nest/barriers.h"
#include "nest/interpret.h"

namespace lathe {

/// Runs a nest that in_threads() made: reads inputs and weights from "buffers", and writes the
/// other tensors there. Each block has its own elements of shared tensors and each thread its own
/// of private ones; these are not written back.
void interleave(const Nest& threads, const std::vector<Barrier>& barriers, Buffers<long>& buffers,
                unsigned seed);

}  // namespace lathe
