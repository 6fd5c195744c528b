// network_space.cpp: the layers of a network that may change. Interface: network_space.h.
#include "search/network_space.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "base/error.h"
#include "base/parallel.h"
#include "program/layers.h"
#include "search/block_list.h"
#include "search/screening.h"

namespace lathe {
namespace {

long sum_over(const NetworkSpace& space, const Assignment& assignment, long all,
              long LayerVariant::*what) {
  for (size_t s = 0; s < space.sites.size(); ++s) {
    all += space.variant(s, assignment[s]).*what - space.variant(s, 0).*what;
  }
  return all;
}

}  // namespace

const LayerVariant& NetworkSpace::variant(size_t site, size_t choice) const {
  return kinds[sites[site].kind].variants[choice];
}

namespace {

/// Returns the space, what each kind of layer can become being said by "variants".
NetworkSpace space_of(const Graph& network, const SpaceOptions& options,
                      const std::function<std::vector<LayerVariant>(const Call&)>& variants) {
  NetworkSpace space;
  std::map<std::string, size_t> kinds;
  std::vector<Call> calls;  // of the kinds
  std::vector<Layer> layers = layers_of(network);
  for (const Layer& layer : layers) {
    space.macs += layer.cost.macs;
    space.weights += layer.weights;
  }
  LayerChoice choice{options.include, options.exclude, options.pointwise};
  for (size_t n : changeable_layers(network, choice)) {
    const Layer& layer = layers[n];
    const Node& node = network.nodes[n];
    auto [at, is_new] = kinds.try_emplace(layer.key, space.kinds.size());
    if (is_new) {
      calls.push_back(call_of(network, node));
      space.kinds.push_back({layer.description, {}, {}});
    }
    space.kinds[at->second].sites.push_back(space.sites.size());
    space.sites.push_back({layer.name, at->second});
  }
  if (space.sites.empty()) {
    fail("'{}' has no convolution that may change: none is called '{}'{}{}", network.name,
         options.include, options.exclude.empty() ? "" : " but not '" + options.exclude + "'",
         options.pointwise ? "" : ", or all are 1x1");
  }
  std::mutex mutex;
  size_t done = 0;
  for_each_index(calls.size(), processors(), [&](size_t k) {
    space.kinds[k].variants = variants(calls[k]);
    std::lock_guard lock(mutex);
    bool is_last = ++done == calls.size();
    if (options.progress && !is_last) options.progress(done, calls.size());
  });
  return space;
}

}  // namespace

NetworkSpace block_space(const Graph& network, const SpaceOptions& options) {
  return space_of(network, options, blocks_of);
}

SpaceOptions of_families(SpaceOptions options, const FamilyChoice& families) {
  check_families(families);
  options.families = families;
  // A list that names the family asks for it; one that does not, does not.
  if (!families.only.empty()) options.narrow = families.has(Family::narrow);
  if (!families.has(Family::narrow)) options.narrow = false;
  return options;
}

NetworkSpace network_space(const Graph& network, const SpaceOptions& options) {
  check_families(options.families);
  NetworkSpace space = space_of(network, options, [&](const Call& call) {
    std::vector<LayerVariant> all = variants_of(call, options.variants);
    std::erase_if(all, [&](const LayerVariant& v) { return !options.families.has(v.family); });
    return all;
  });
  return options.most == 0 ? space : narrowed(space, options.most);
}

NetworkSpace narrowed(const NetworkSpace& space, size_t most, const VariantRank& rank) {
  NetworkSpace result = space;
  for (size_t k = 0; k < space.kinds.size(); ++k) {
    const auto& all = space.kinds[k].variants;
    if (all.size() <= most) continue;
    VariantDistance distance = nullptr;
    if (rank) distance = [&](size_t v) { return rank(k, v); };
    result.kinds[k].variants.clear();
    for (size_t v : representatives(all, most, distance)) {
      result.kinds[k].variants.push_back(all[v]);
    }
  }
  return result;
}

NetworkRecipe recipe_of(const NetworkSpace& space, const Assignment& assignment) {
  NetworkRecipe recipe;
  for (size_t s = 0; s < space.sites.size(); ++s) {
    const LayerVariant& variant = space.variant(s, assignment[s]);
    if (!variant.said().empty()) {
      recipe.push_back({pattern_of(space.sites[s].layer), variant.said()});
    }
  }
  return recipe;
}

long macs_of(const NetworkSpace& space, const Assignment& assignment) {
  return sum_over(space, assignment, space.macs, &LayerVariant::macs);
}

long weights_of(const NetworkSpace& space, const Assignment& assignment) {
  return sum_over(space, assignment, space.weights, &LayerVariant::weights) -
         vectors_saved(space, assignment);
}

double log_size(const NetworkSpace& space) {
  double sum = 0;
  for (const ChannelLink& link : space.links) {
    sum += std::log10(static_cast<double>(link.levels.size()));
  }
  for (const LayerSite& site : space.sites) {
    const auto& all = space.kinds[site.kind].variants;
    auto alone = std::count_if(all.begin(), all.end(), [](const auto& v) { return !v.coupling; });
    sum += std::log10(static_cast<double>(alone));
  }
  return sum;
}

}  // namespace lathe
