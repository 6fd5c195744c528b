// Comparison with other inference libraries, through the program bench/peers.
#pragma once

#include "cli/verb_network.h"
#include "results/search_result.h"

namespace lathe::cli {

struct Comparison {
  NetworkArguments network;
  std::string peers;  ///< "onnxruntime", ..., or "best": all but TVM, or "all"
  int threads = 1;
  double seconds = 2;
  bool json = false;
};

/// Returns the names that Comparison::peers may have.
std::vector<std::string> peer_names();

/// Measures Lathe and its peers in one run, alternating, and prints how they stand: the fastest
/// peer first.
int compare(const Comparison& comparison);

/// Returns how long the peers that were measured take, the fastest first. If there is nothing to
/// compare, a warning says why.
std::vector<ResultPeer> peer_times(const Comparison& comparison);

}  // namespace lathe::cli
