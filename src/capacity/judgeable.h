// Whether a network can be judged before it is trained. It is asked first, before long work.
#pragma once

#include "graph/graph.h"

namespace lathe {

/// Fails, and says why, if scores of the network as it begins would mean nothing: it is no
/// classifier, it has no convolution, or its blocks add up what nothing normalises, as in files
/// whose exporter folded the batch normalisations.
void check_judgeable(const Graph& network);

}  // namespace lathe
