// The space of networks: every layer that may change, and what it can become.
//
//   NetworkSpace space = network_space(graph, {.include = "layer[34].*"});
//   Assignment all_dense(space.sites.size(), 0);
//   transformed(graph, recipe_of(space, assignment))
//
// Layers of the same shape are one kind: they can become the same, and take the same time.
#pragma once

#include <functional>

#include "graph/graph.h"
#include "search/channel_links.h"
#include "search/layer_variants.h"
#include "transforms/transform_network.h"

namespace lathe {

/// Layers that do the same work on other data.
struct LayerKind {
  std::string description;             ///< "conv 3x3 64->128 /2"
  std::vector<LayerVariant> variants;  ///< the layer as it was first
  std::vector<size_t> sites;
  std::optional<CoupledLayer> coupled = std::nullopt;  ///< set by with_links()
  bool dependent = false;  ///< does it only change with its channels? Then all variants are coupled
};

/// A layer that may change.
struct LayerSite {
  std::string layer;
  size_t kind;
};

struct NetworkSpace {
  std::vector<LayerKind> kinds;
  std::vector<LayerSite> sites;  ///< in the network's order; then those that only links change
  std::vector<ChannelLink> links;
  long macs = 0, weights = 0;  ///< of the whole network as it was

  /// Returns a variant of a site, by its number.
  const LayerVariant& variant(size_t site, size_t choice) const;
};

struct SpaceOptions {
  std::string include = "*", exclude = "";  ///< patterns of layers' names
  bool pointwise = true;                    ///< may 1x1 convolutions change?
  /// May channels become fewer, together with all layers that make and read them? That measures
  /// and scores more layers. The default rule was fitted to fewer channels inside blocks, not to
  /// narrower streams.
  bool narrow = true;
  /// Channels become fewer in such steps where there are enough. Vectors should be no longer: a
  /// layer that leaves a part of each empty can be slower than one with more channels.
  long channel_step = 8;
  VariantOptions variants;
  FamilyChoice families;
  size_t most = 0;  ///< variants of a kind, of all families and amounts of work; 0: all
  /// Gets how many kinds of layers are done, and how many there are, until the last one is. One
  /// call at a time.
  std::function<void(size_t, size_t)> progress = nullptr;
};

/// Returns the options with variants of these families alone. Fails if one is named that there is
/// not.
SpaceOptions of_families(SpaceOptions options, const FamilyChoice& families);

/// Returns the space. Its sites are the convolutions, except those that read the network's input.
/// Fails if there are none.
NetworkSpace network_space(const Graph& network, const SpaceOptions& options = {});

/// Returns the space of the same layers, in which each can become what the list of blocks has for
/// it (block_list.h). The options about variants do not matter.
NetworkSpace block_space(const Graph& network, const SpaceOptions& options = {});

/// Ranks a variant of a kind by how far it is from the layer as it was. Both are given by their
/// number. Low ranks are preferred.
using VariantRank = std::function<double(size_t kind, size_t variant)>;

/// Returns the space with at most so many variants of each kind, which stand for the others
/// (screening.h). The layer itself is one of them. A variant of infinite rank is left out.
NetworkSpace narrowed(const NetworkSpace& space, size_t most, const VariantRank& rank = nullptr);

/// Returns the recipe that makes the network of an assignment.
NetworkRecipe recipe_of(const NetworkSpace& space, const Assignment& assignment);

/// Returns how many products the network of an assignment computes, and how many weights it has.
long macs_of(const NetworkSpace& space, const Assignment& assignment);
long weights_of(const NetworkSpace& space, const Assignment& assignment);

/// Returns the logarithm, to base 10, of how many networks the space has. A link counts by its
/// levels.
double log_size(const NetworkSpace& space);

}  // namespace lathe
