// Can a network be judged before it is trained? This is asked before long work begins.
#pragma once

#include "graph/graph.h"

namespace lathe {

/// Fails, and says why, if scores of the untrained network would mean nothing. That is so if it is
/// no classifier, if it has no convolution, or if its blocks add up values that nothing normalises,
/// as in files whose exporter folded the batch normalisations.
void check_judgeable(const Graph& network);

}  // namespace lathe
