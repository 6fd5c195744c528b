// Comparison with other inference libraries, through the program bench/peers.
#pragma once

#include <string>

namespace lathe::cli {

struct Comparison {
  std::string network;
  std::string peer;  ///< "onnxruntime", ..., or "best": all that are installed
  int threads = 1;
  double seconds = 2;
  bool json = false;
};

/// Measures Lathe and its peers in one run, alternating, and prints how they stand.
int compare(const Comparison& comparison);

}  // namespace lathe::cli
