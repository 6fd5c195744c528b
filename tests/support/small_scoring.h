// How tests of jobs score: the small network, with few samples and seeds.
#pragma once

#include "jobs/scoring.h"
#include "support/small_network.h"
#include "support/temporary.h"

namespace lathe::test {

/// Writes the small network into the folder, and says that it is scored quickly.
inline ScoreArguments small_scoring(const TemporaryDirectory& directory) {
  ScoreArguments result;
  result.network.network = directory.file("small.graph", small_network);
  result.samples = 4;
  result.seeds = 2;
  return result;
}

}  // namespace lathe::test
