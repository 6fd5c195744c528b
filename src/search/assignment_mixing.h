// How the channels of a network mix, for any choice of its layers' variants (program/mixing.h). It
// takes milliseconds, as no network is made: only the relations of channels are exchanged.
#pragma once

#include <mutex>
#include <optional>
#include <set>

#include "program/mixing.h"
#include "search/network_space.h"

namespace lathe {

class AssignmentMixing {
 public:
  AssignmentMixing(const Graph& network, const NetworkSpace& space);

  /// Returns a share of the network of an assignment, as if each variant were one operator. So
  /// where a stage begins with a layer that has a 1x1 convolution behind it, the stage begins
  /// behind that. Channels that a coupled variant takes away count as repeated. Several threads may
  /// ask.
  ///
  ///   mixing.of(assignment, &Mixing::neighbours)
  double of(const Assignment& assignment, double Mixing::*share) const;
  /// Returns the mixing of the network as it was.
  const Mixing& original() const { return original_; }

 private:
  NetworkMixing network_;
  Mixing original_;
  std::vector<size_t> nodes_;                                         // of the sites
  std::vector<size_t> kinds_;                                         // of the sites
  std::vector<Call> layers_;                                          // of the kinds
  std::vector<std::vector<Recipe>> made_;                             // of the kinds and variants
  mutable std::mutex mutex_;                                          // of what is known
  mutable std::set<BitMatrix> relations_;                             // each once
  mutable std::map<std::pair<size_t, size_t>, const BitMatrix*> of_;  // kinds and variants
  /// The relations of sites; null: as it was. Many variants have the same.
  using Relations = std::vector<const BitMatrix*>;
  std::vector<std::vector<size_t>> inside_;                     // the sites of each stage
  mutable std::vector<std::map<Relations, double>> connected_;  // in each stage
  /// Of the nodes of neighbours: sites, if they are any.
  std::vector<std::pair<std::optional<size_t>, std::optional<size_t>>> neighbours_;
  using Pair = std::pair<const BitMatrix*, const BitMatrix*>;
  mutable std::vector<std::map<Pair, double>> connected_by_;  // each pair of neighbours
  mutable std::map<Relations, double> dead_, across_;

  double connected(const Relations& all, const NetworkMixing::Changes& changes) const;
  double neighbours(const Relations& all, const NetworkMixing::Changes& changes) const;

  const BitMatrix* relation(size_t kind, size_t variant) const;

  /// Returns what is known for a key; where nothing is, finds it out and keeps it.
  template <class Key, class Find>
  double known(std::map<Key, double>& results, Key key, const Find& find) const;
};

}  // namespace lathe
