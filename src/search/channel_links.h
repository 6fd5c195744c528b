// Channels as a search sees them: which layers make and read them, and how many can be left.
//
//   space = with_links(space, network, options);
//   set_level(space, 0, 2, assignment);          the layers of link 0 have half of its channels
//   agrees(space, assignment)
//
// A link is one or several sets of coupled channels (program/channels.h) that become fewer at once:
// residual streams, the stem, what a layer inside a block makes. Sets that one layer reads one
// after the other, as concatenations make them, form one link; so what a layer reads has one level,
// too. A link has few levels: all channels, three quarters, half, a quarter, in steps of 8
// channels. The search chooses among those first, then among others near to what it chose
// (refined()).
//
// Layers that may not change otherwise are sites, too, if they make or read channels of a link: the
// stem, shortcuts, depthwise layers, the classifier. Their variants are all coupled.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "program/channels.h"

namespace lathe {

struct NetworkSpace;
struct SpaceOptions;

/// What each site becomes: the number of its variant.
using Assignment = std::vector<size_t>;

/// Coupled channels of a link.
struct LinkedSet {
  long channels;
  long step = 1;     ///< the difference of two numbers of channels that are tried
  long vectors = 0;  ///< weights for each channel that belong to no site: of normalisations
};

/// A site that makes or reads channels of a link.
struct LinkEnd {
  struct Part {
    size_t set;  ///< among the sets of the link
    long each;   ///< filters or inputs of the site for each channel
  };
  size_t site;
  std::vector<Part> parts;
  long others = 0;  ///< filters or inputs that stay
};

/// How many channels of each set of a link may be left. The first level is all of them.
using LinkLevels = std::vector<std::vector<long>>;

struct ChannelLink {
  std::string name;  ///< of the first layer that makes its channels
  std::vector<LinkEnd> makers, readers;
  std::vector<LinkedSet> sets;
  LinkLevels levels;
  std::vector<size_t> anchors;  ///< levels at which layers are measured; others are interpolated

  /// Returns how many filters or inputs an end has at a level.
  long left(const LinkEnd& end, size_t level) const;
};

/// Coupled channels, and why a search leaves them as they are; "" if they can become fewer.
struct SearchedSet {
  ChannelSet set;
  std::vector<std::string> makers, readers;  ///< layers
  std::string fixed;
};

/// Lists all sets of a network. The options say which layers are to stay as they are.
std::vector<SearchedSet> searched_sets(const Graph& network, const SpaceOptions& options);

/// Returns the space with all links; with the sites that only links change; and with the variants
/// that sites become at their levels, dense or in groups.
NetworkSpace with_links(NetworkSpace space, const Graph& network, const SpaceOptions& options);

/// Returns the levels that a link has at first: all channels, three quarters, half and a quarter.
LinkLevels usual_levels(const ChannelLink& link);

/// Returns the space with other levels of its links, and with the coupled variants of these.
NetworkSpace with_levels(NetworkSpace space, const std::vector<LinkLevels>& levels);

/// Filters of a site, and channels that it reads.
struct Widths {
  long filters, inputs;
  friend auto operator<=>(const Widths&, const Widths&) = default;
};

/// Returns the widths that a site has as one of its variants.
Widths widths_of(const NetworkSpace& space, size_t site, size_t variant);

/// Can a site become this variant of its kind? A coupled variant needs links that have such levels.
bool is_possible(const NetworkSpace& space, size_t site, size_t variant);

/// Returns the level of a link at which all its sites are; nothing if they have different channels.
std::optional<size_t> level_of(const NetworkSpace& space, const ChannelLink& link,
                               const Assignment& assignment);

/// Do the sites of each link have the same channels?
bool agrees(const NetworkSpace& space, const ChannelLink& link, const Assignment& assignment);
bool agrees(const NetworkSpace& space, const Assignment& assignment);

/// Puts the sites of a link to one of its levels; what they have of other links stays. A site keeps
/// its groups where they divide what is left. Returns false, and changes nothing, if a site has no
/// such variant.
bool set_level(const NetworkSpace& space, size_t link, size_t level, Assignment& assignment);

/// Returns networks that have every coupled variant that is an anchor, as far as possible. Links
/// that share a site get different levels, in all combinations.
std::vector<Assignment> coupled_assignments(const NetworkSpace& space);

/// Returns the weights that normalisations have less if the links are at their levels.
long vectors_saved(const NetworkSpace& space, const Assignment& assignment);

}  // namespace lathe
