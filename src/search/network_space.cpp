// network_space.cpp: the layers of a network that may change. Interface: network_space.h.
#include "search/network_space.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/parallel.h"
#include "program/layers.h"
#include "search/block_list.h"

namespace lathe {
namespace {

long sum_over(const NetworkSpace& space, const Assignment& assignment, long all,
              long LayerVariant::*what) {
  for (size_t s = 0; s < space.sites.size(); ++s) {
    all += space.variant(s, assignment[s]).*what - space.variant(s, 0).*what;
  }
  return all;
}

/// Layers that are halved more often than this are not looked at where only some variants are: no
/// network that rules were fitted to has one, so nothing is known of how it would learn.
constexpr long most_halvings = 4;

/// Returns so many variants, the layer itself among them, by their ranks.
std::vector<LayerVariant> spread(const std::vector<LayerVariant>& all, size_t most,
                                 const std::function<double(size_t)>& rank) {
  struct Ranked {
    double rank;
    size_t steps, variant;
    auto operator<=>(const Ranked&) const = default;
  };
  std::map<long, std::vector<Ranked>> by_macs;
  for (size_t v = 1; v < all.size(); ++v) {
    double part = static_cast<double>(all[v].macs) / static_cast<double>(all[0].macs);
    long halvings = std::lround(-std::log2(part));
    if (halvings > most_halvings || !std::isfinite(rank(v))) continue;
    by_macs[halvings].push_back({rank(v), all[v].recipe.size(), v});
  }
  for (auto& [halvings, variants] : by_macs) std::sort(variants.begin(), variants.end());
  std::vector<LayerVariant> chosen{all[0]};
  for (size_t round = 0, before = 0; chosen.size() < most && chosen.size() > before; ++round) {
    before = chosen.size();
    for (const auto& [halvings, variants] : by_macs) {
      if (round < variants.size() && chosen.size() < most) {
        chosen.push_back(all[variants[round].variant]);
      }
    }
  }
  return chosen;
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
    fail("'{}' has no convolution that may change: none is called '{}'{}", network.name,
         options.include, options.pointwise ? "" : ", or all are 1x1 (--pointwise)");
  }
  int workers = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  for_each_index(calls.size(), workers,
                 [&](size_t k) { space.kinds[k].variants = variants(calls[k]); });
  return space;
}

}  // namespace

NetworkSpace block_space(const Graph& network, const SpaceOptions& options) {
  return space_of(network, options, blocks_of);
}

NetworkSpace network_space(const Graph& network, const SpaceOptions& options) {
  NetworkSpace space = space_of(
      network, options, [&](const Call& call) { return variants_of(call, options.variants); });
  if (options.most == 0) return space;
  return narrowed(space, options.most, [&](size_t kind, size_t variant) {
    return static_cast<double>(space.kinds[kind].variants[variant].recipe.size());
  });
}

NetworkSpace narrowed(const NetworkSpace& space, size_t most, const VariantRank& rank) {
  NetworkSpace result = space;
  for (size_t k = 0; k < space.kinds.size(); ++k) {
    const auto& all = space.kinds[k].variants;
    if (all.size() <= most) continue;
    result.kinds[k].variants = spread(all, most, [&](size_t v) { return rank(k, v); });
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
