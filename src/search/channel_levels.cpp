// channel_levels.cpp: how many channels of links are left, and what sites become then. Interface:
// channel_links.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "search/network_space.h"

namespace lathe {
namespace {

/// Shares of the channels that the first levels leave, in quarters.
constexpr std::array<long, 4> quarters{4, 3, 2, 1};
/// Groups that fewer channels are put into: few, as all of them are measured.
constexpr std::array<long, 3> group_counts{1, 2, 4};
/// Anchors at which layers in groups are measured: all channels, and half of them.
constexpr size_t anchors_in_groups = 2;
/// Colours of links that one plan of measurements tells apart.
constexpr size_t most_colours = 4;

Widths widths_of(const LayerKind& kind, const LayerVariant& variant) {
  if (variant.coupling) return {variant.coupling->filters, variant.coupling->inputs};
  return kind.coupled ? Widths{kind.coupled->filters(), kind.coupled->inputs()} : Widths{0, 0};
}

/// A link that a site takes part in, and how.
struct SiteEnd {
  size_t link;
  const LinkEnd* end;
};

/// What a site makes and reads of links.
struct SiteEnds {
  std::optional<SiteEnd> made, read;

  bool is_one_link() const { return made && read && made->link == read->link; }
};

std::vector<SiteEnds> ends_of_sites(const NetworkSpace& space) {
  std::vector<SiteEnds> result(space.sites.size());
  for (size_t l = 0; l < space.links.size(); ++l) {
    for (const LinkEnd& end : space.links[l].makers) result[end.site].made = SiteEnd{l, &end};
    for (const LinkEnd& end : space.links[l].readers) result[end.site].read = SiteEnd{l, &end};
  }
  return result;
}

/// Calls use(level of what is made, level of what is read, widths) for all that a site can have.
template <class Use>
void for_each_level(const NetworkSpace& space, const SiteEnds& ends, Widths whole, const Use& use) {
  auto levels = [&](const std::optional<SiteEnd>& end) {
    return end ? space.links[end->link].levels.size() : size_t{1};
  };
  for (size_t a = 0; a < levels(ends.made); ++a) {
    for (size_t b = 0; b < levels(ends.read); ++b) {
      if (ends.is_one_link() && a != b) continue;
      Widths widths = whole;
      if (ends.made) widths.filters = space.links[ends.made->link].left(*ends.made->end, a);
      if (ends.read) widths.inputs = space.links[ends.read->link].left(*ends.read->end, b);
      use(a, b, widths);
    }
  }
}

/// Is this level among the first so many anchors of a link?
bool is_anchor(const NetworkSpace& space, const std::optional<SiteEnd>& end, size_t level,
               size_t most) {
  if (!end) return true;
  const std::vector<size_t>& anchors = space.links[end->link].anchors;
  auto last = anchors.begin() + static_cast<long>(std::min(most, anchors.size()));
  return std::find(anchors.begin(), last, level) != last;
}

/// Adds the coupled variants of a kind: at all levels of its sites, dense and in groups.
void add_variants(const NetworkSpace& space, const std::vector<SiteEnds>& ends, LayerKind& kind) {
  Widths whole = widths_of(kind, kind.variants.front());
  std::map<std::pair<Widths, long>, bool> wanted;  // widths and groups: is it an anchor?
  for (size_t site : kind.sites) {
    for_each_level(space, ends[site], whole, [&](size_t a, size_t b, Widths widths) {
      for (long groups : group_counts) {
        if (groups > 1 && kind.dependent) continue;
        size_t most = groups > 1 ? anchors_in_groups : quarters.size();
        bool anchor = is_anchor(space, ends[site].made, a, most) &&
                      is_anchor(space, ends[site].read, b, most);
        bool& known = wanted[{widths, groups}];
        known = known || anchor;
      }
    });
  }
  for (const auto& [what, anchor] : wanted) {
    const auto& [widths, groups] = what;
    auto variant = kind.coupled->variant({widths.filters, widths.inputs, groups, anchor});
    if (variant) kind.variants.push_back(std::move(*variant));
  }
}

/// Adds the layer in shuffled groups, with all its channels: what is interpolated lies between.
void add_groups(LayerKind& kind) {
  for (long groups : group_counts) {
    auto variant = kind.coupled->shuffled(groups);
    if (!variant || kind.dependent) continue;
    bool known = std::any_of(kind.variants.begin(), kind.variants.end(),
                             [&](const LayerVariant& v) { return v.recipe == variant->recipe; });
    if (!known) kind.variants.push_back(std::move(*variant));
  }
}

/// Returns the variant of a site that has these widths, if there is one: with as many groups as the
/// present one, or nearly. What is no plain group counts by its work.
std::optional<size_t> variant_with(const NetworkSpace& space, size_t site, Widths widths,
                                   size_t now) {
  const LayerKind& kind = space.kinds[space.sites[site].kind];
  auto groups_of = [&](size_t variant) {
    const auto& coupled = kind.coupled;
    return coupled ? coupled->groups_of(kind.variants[variant]) : std::nullopt;
  };
  long less = kind.variants[0].macs / std::max(1L, kind.variants[now].macs);
  long groups = groups_of(now).value_or(less);
  bool whole = widths == widths_of(space, site, 0);
  if (whole && !kind.variants[now].coupling) return now;
  std::optional<size_t> best;
  for (size_t v = 0; v < kind.variants.size(); ++v) {
    const LayerVariant& variant = kind.variants[v];
    bool plain = v == 0 || groups_of(v);
    if (widths_of(kind, variant) != widths || !plain) continue;
    auto far = [&](size_t each) { return std::abs(groups_of(each).value_or(1) - groups); };
    if (!best || far(v) < far(*best)) best = v;
  }
  return best;
}

/// Gives links that share a site different colours, as far as there are enough.
std::vector<size_t> coloured(const NetworkSpace& space) {
  std::vector<std::vector<size_t>> neighbours(space.links.size());
  for (const SiteEnds& ends : ends_of_sites(space)) {
    if (!ends.made || !ends.read || ends.is_one_link()) continue;
    neighbours[ends.made->link].push_back(ends.read->link);
    neighbours[ends.read->link].push_back(ends.made->link);
  }
  std::vector<size_t> colours(space.links.size(), most_colours);
  for (size_t l = 0; l < colours.size(); ++l) {
    std::array<long, most_colours> used{};
    for (size_t n : neighbours[l]) {
      if (colours[n] < most_colours) ++used[colours[n]];
    }
    colours[l] = static_cast<size_t>(std::min_element(used.begin(), used.end()) - used.begin());
  }
  return colours;
}

/// Returns the anchor of each colour in a run of a plan. Any two colours meet at every pair of
/// anchors in one of its runs: a, b, a + b and a + 2b take all pairs of values modulo 3.
std::array<size_t, most_colours> anchors_of_run(size_t a, size_t b, size_t anchors) {
  return {a, b, (a + b) % anchors, (a + 2 * b) % anchors};
}

/// Returns the assignment in which links are at levels, all its sites in so many groups where they
/// can be.
Assignment at_levels(const NetworkSpace& space, const std::vector<size_t>& levels, long groups) {
  Assignment assignment(space.sites.size(), 0);
  for (size_t s = 0; s < space.sites.size(); ++s) {
    const LayerKind& kind = space.kinds[space.sites[s].kind];
    if (!kind.coupled || groups == 1) continue;
    for (size_t v = 0; v < kind.variants.size(); ++v) {
      const LayerVariant& variant = kind.variants[v];
      if (!variant.coupling && kind.coupled->groups_of(variant) == groups) assignment[s] = v;
    }
  }
  for (size_t l = 0; l < levels.size(); ++l) set_level(space, l, levels[l], assignment);
  return assignment;
}

}  // namespace

long ChannelLink::left(const LinkEnd& end, size_t level) const {
  long sum = end.others;
  for (const LinkEnd::Part& part : end.parts) sum += part.each * levels[level][part.set];
  return sum;
}

LinkLevels usual_levels(const ChannelLink& link) {
  LinkLevels levels;
  for (long share : quarters) {
    std::vector<long> left;
    for (const LinkedSet& set : link.sets) {
      double steps =
          static_cast<double>(set.channels * share) / 4.0 / static_cast<double>(set.step);
      long count = std::max(1L, std::lround(steps)) * set.step;
      left.push_back(share == quarters.front() ? set.channels : std::min(count, set.channels));
    }
    if (levels.empty() || left != levels.back()) levels.push_back(left);
  }
  return levels;
}

NetworkSpace with_levels(NetworkSpace space, const std::vector<LinkLevels>& levels) {
  for (size_t l = 0; l < space.links.size(); ++l) {
    ChannelLink& link = space.links[l];
    link.levels = levels[l];
    // All channels, half of them, and the fewest: what lies between is interpolated.
    link.anchors = {0};
    if (link.levels.size() > 3) link.anchors.push_back(link.levels.size() - 2);
    if (link.levels.size() > 1) link.anchors.push_back(link.levels.size() - 1);
  }
  std::vector<SiteEnds> ends = ends_of_sites(space);
  for (LayerKind& kind : space.kinds) {
    std::erase_if(kind.variants, [](const LayerVariant& v) { return v.coupling.has_value(); });
    bool linked = std::any_of(kind.sites.begin(), kind.sites.end(),
                              [&](size_t site) { return ends[site].made || ends[site].read; });
    if (!linked || !kind.coupled) continue;
    add_groups(kind);
    add_variants(space, ends, kind);
  }
  return space;
}

Widths widths_of(const NetworkSpace& space, size_t site, size_t variant) {
  return widths_of(space.kinds[space.sites[site].kind], space.variant(site, variant));
}

bool is_possible(const NetworkSpace& space, size_t site, size_t variant) {
  if (!space.variant(site, variant).coupling) return true;
  Widths wanted = widths_of(space, site, variant);
  bool found = false;
  for_each_level(space, ends_of_sites(space)[site], widths_of(space, site, 0),
                 [&](size_t, size_t, Widths widths) { found = found || widths == wanted; });
  return found;
}

std::optional<size_t> level_of(const NetworkSpace& space, const ChannelLink& link,
                               const Assignment& assignment) {
  auto is_at = [&](size_t level) {
    auto fits = [&](const std::vector<LinkEnd>& ends, long Widths::*what) {
      return std::all_of(ends.begin(), ends.end(), [&](const LinkEnd& end) {
        return widths_of(space, end.site, assignment[end.site]).*what == link.left(end, level);
      });
    };
    return fits(link.makers, &Widths::filters) && fits(link.readers, &Widths::inputs);
  };
  for (size_t level = 0; level < link.levels.size(); ++level) {
    if (is_at(level)) return level;
  }
  return std::nullopt;
}

bool agrees(const NetworkSpace& space, const ChannelLink& link, const Assignment& assignment) {
  return level_of(space, link, assignment).has_value();
}

bool agrees(const NetworkSpace& space, const Assignment& assignment) {
  return std::all_of(space.links.begin(), space.links.end(),
                     [&](const ChannelLink& link) { return agrees(space, link, assignment); });
}

bool set_level(const NetworkSpace& space, size_t number, size_t level, Assignment& assignment) {
  const ChannelLink& link = space.links[number];
  std::map<size_t, Widths> wanted;
  auto want = [&](const std::vector<LinkEnd>& ends, long Widths::*what) {
    for (const LinkEnd& end : ends) {
      auto widths = wanted.try_emplace(end.site, widths_of(space, end.site, assignment[end.site]));
      widths.first->second.*what = link.left(end, level);
    }
  };
  want(link.makers, &Widths::filters);
  want(link.readers, &Widths::inputs);
  Assignment changed = assignment;
  for (const auto& [site, widths] : wanted) {
    auto variant = variant_with(space, site, widths, assignment[site]);
    if (!variant) return false;
    changed[site] = *variant;
  }
  assignment = std::move(changed);
  return true;
}

std::vector<Assignment> coupled_assignments(const NetworkSpace& space) {
  std::vector<size_t> colours = coloured(space);
  std::vector<Assignment> result;
  for (long groups : group_counts) {
    size_t anchors = groups > 1 ? anchors_in_groups : anchors_in_groups + 1;
    for (size_t run = 1; run < anchors * anchors; ++run) {
      auto of_colour = anchors_of_run(run / anchors, run % anchors, anchors);
      std::vector<size_t> levels;
      for (size_t l = 0; l < colours.size(); ++l) {
        const std::vector<size_t>& own = space.links[l].anchors;
        levels.push_back(own[std::min(of_colour[colours[l]], own.size() - 1)]);
      }
      Assignment assignment = at_levels(space, levels, groups);
      bool is_new = std::find(result.begin(), result.end(), assignment) == result.end();
      if (is_new && !space.links.empty()) result.push_back(std::move(assignment));
    }
  }
  return result;
}

long vectors_saved(const NetworkSpace& space, const Assignment& assignment) {
  long saved = 0;
  for (const ChannelLink& link : space.links) {
    auto level = level_of(space, link, assignment);
    for (size_t s = 0; level && s < link.sets.size(); ++s) {
      saved += link.sets[s].vectors * (link.sets[s].channels - link.levels[*level][s]);
    }
  }
  return saved;
}

}  // namespace lathe
