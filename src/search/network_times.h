// Whole networks in turn, as they are compiled: how long each takes, and each node of it.
#pragma once

#include "compile/compile.h"

namespace lathe {

/// Returns the typical time of each network, in seconds.
std::vector<double> times_of_networks(const std::vector<Compiled>& networks, int threads);

/// Returns the typical time of each node of each network where it is, between its neighbours.
std::vector<std::map<std::string, double>> times_of_nodes(const std::vector<Compiled>& networks,
                                                          int threads);

}  // namespace lathe
