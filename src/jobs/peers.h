// Comparison with other inference libraries, through the program bench/peers.
//
//   PeerReport report = measured_peers({.network = {.network = "resnet18"}, .peers = "best",
//                                       .lathe = "build/release/lathe"});
//   report.times.front()                            the fastest peer
#pragma once

#include "jobs/network_source.h"
#include "results/search_result.h"

namespace lathe {

/// Who is compared, and how.
struct PeerOptions {
  NetworkArguments network;
  std::string peers;  ///< "onnxruntime", ..., or "best": all but TVM, or "all"
  std::string lathe;  ///< the program; bench/peers is found beside its sources
  int threads = 1;
  double seconds = 2;
  std::string precision = "f32";  ///< "f16", "bf16", "int8"
  /// Messages of the program: shown on standard error, or kept for what is said of a failure.
  enum class Messages { kept, shown } messages = Messages::kept;
};

/// Another library that was not measured, and why.
struct PeerLeftOut {
  std::string name, reason;
};

/// What came of a comparison.
struct PeerReport {
  std::vector<ResultPeer> times;  ///< of those that were measured, the fastest first
  std::vector<PeerLeftOut> left_out;
  std::string all;  ///< the JSON that the program wrote
};

/// Returns the names that PeerOptions::peers may have.
std::vector<std::string> peer_names();

/// Finds the program that compares, beside the program lathe; fails where there is none.
std::string find_peers(const std::string& lathe);

/// Measures Lathe and its peers in one run, alternating. Fails where nothing can be compared, and
/// says why.
PeerReport measured_peers(const PeerOptions& options);

}  // namespace lathe
