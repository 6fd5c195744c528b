// What a search of a network could choose from, before anything is searched, as a job.
//
//   Profile found = profile_network({.network = {.network = "resnet34-cifar"}});
//   log_size(found.space)                           31: there are 10^31 networks
//   found.macs.least, found.macs.now                of the smallest network, and of this one
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>

#include "jobs/network_source.h"
#include "jobs/optimize.h"

namespace lathe {

struct ProfileOptions {
  NetworkArguments network;
  SpaceOptions space;
  size_t most = OptimizeOptions().space.most;  ///< variants of a kind to measure; 0: all
};

/// What a space has of one family.
struct FamilyCount {
  size_t variants = 0, scored = 0;
  double least = 1, most = 0;  ///< parts of the layer's MACs
};

using FamilyCounts = std::map<Family, FamilyCount>;

struct Profile {
  /// The least that something can be, and what it is now.
  struct Range {
    long least, now;
  };

  Graph network;
  NetworkSpace space;
  std::vector<FamilyCounts> families;  ///< of each kind
  Range macs, weights;
};

/// Finds what there is to choose from. Fails if no layer may change.
Profile profile_network(const ProfileOptions& options);

/// Converts it to JSON.
nlohmann::json to_json(const Profile& found);

}  // namespace lathe
