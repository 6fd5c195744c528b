// How the channels of a network mix, for any choice of its layers' variants (program/mixing.h). It
// takes milliseconds, as no network is made: only the relations of channels are exchanged.
#pragma once

#include "program/mixing.h"
#include "search/network_space.h"

namespace lathe {

class AssignmentMixing {
 public:
  AssignmentMixing(const Graph& network, const NetworkSpace& space);

  /// Returns the mixing of the network of an assignment. Channels that a coupled variant takes away
  /// count as repeated.
  Mixing of(const Assignment& assignment) const;

 private:
  NetworkMixing network_;
  std::vector<size_t> nodes_;                      // of the sites
  std::vector<size_t> kinds_;                      // of the sites
  std::vector<std::vector<BitMatrix>> relations_;  // of the kinds and variants
};

}  // namespace lathe
