// network_space.cpp: the layers of a network that may change. Interface: network_space.h.
#include "search/network_space.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/parallel.h"
#include "program/channels.h"
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

/// Finds the sites that make and read the channels of a set; nothing where other layers do, or
/// where the channels cannot become fewer.
std::optional<ChannelLink> link_of(const Graph& network, const ChannelSet& set,
                                   const std::map<ValueId, size_t>& site_of_weight) {
  if (set.fixed || set.multiple != 1) return std::nullopt;
  ChannelLink link;
  for (const ChannelRange& m : set.members) {
    const Value& value = network.values[m.value];
    if (value.kind != Value::Kind::weight || value.type.shape.size() < 2) continue;
    auto site = site_of_weight.find(m.value);
    if (site == site_of_weight.end() || m.count != value.type.shape[m.dimension]) {
      return std::nullopt;
    }
    (m.dimension == 0 ? link.makers : link.readers).push_back(site->second);
  }
  return link.makers.empty() || link.readers.empty() ? std::nullopt : std::optional(link);
}

bool has(const std::vector<size_t>& sites, size_t site) {
  return std::find(sites.begin(), sites.end(), site) != sites.end();
}

bool makes(const std::vector<ChannelLink>& links, size_t site) {
  return std::any_of(links.begin(), links.end(),
                     [&](const auto& l) { return has(l.makers, site); });
}

bool reads(const std::vector<ChannelLink>& links, size_t site) {
  return std::any_of(links.begin(), links.end(),
                     [&](const auto& l) { return has(l.readers, site); });
}

Coupling coupling_of(const NetworkSpace& space, size_t site, size_t variant) {
  return space.variant(site, variant).coupling.value_or(Coupling());
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

NetworkSpace with_links(NetworkSpace space, const Graph& network) {
  std::map<ValueId, size_t> site_of_weight;
  std::vector<Call> calls;  // of the sites
  for (size_t s = 0; s < space.sites.size(); ++s) {
    auto node = std::find_if(network.nodes.begin(), network.nodes.end(),
                             [&](const Node& n) { return n.name == space.sites[s].layer; });
    calls.push_back(call_of(network, *node));
    const Shape &x = network.values[node->inputs[0]].type.shape,
                &w = network.values[node->inputs[1]].type.shape;
    if (x[1] == w[1]) site_of_weight.emplace(node->inputs[1], s);
  }
  for (const ChannelSet& set : channel_sets(network)) {
    if (auto link = link_of(network, set, site_of_weight)) space.links.push_back(*link);
  }
  for (LayerKind& kind : space.kinds) {
    auto any = [&](auto test) {
      return std::any_of(kind.sites.begin(), kind.sites.end(),
                         [&](size_t site) { return test(space.links, site); });
    };
    for (LayerVariant& variant :
         coupled_variants_of(calls[kind.sites.front()], any(makes), any(reads))) {
      kind.variants.push_back(std::move(variant));
    }
  }
  return space;
}

bool is_possible(const NetworkSpace& space, size_t site, size_t variant) {
  Coupling coupling = coupling_of(space, site, variant);
  return (coupling.filters == 1 || makes(space.links, site)) &&
         (coupling.inputs == 1 || reads(space.links, site));
}

bool agrees(const NetworkSpace& space, const ChannelLink& link, const Assignment& assignment) {
  long left = coupling_of(space, link.makers.front(), assignment[link.makers.front()]).filters;
  auto as_many = [&](long Coupling::*what) {
    return [&space, &assignment, left, what](size_t site) {
      return coupling_of(space, site, assignment[site]).*what == left;
    };
  };
  return std::all_of(link.makers.begin(), link.makers.end(), as_many(&Coupling::filters)) &&
         std::all_of(link.readers.begin(), link.readers.end(), as_many(&Coupling::inputs));
}

bool agrees(const NetworkSpace& space, const Assignment& assignment) {
  return std::all_of(space.links.begin(), space.links.end(),
                     [&](const ChannelLink& link) { return agrees(space, link, assignment); });
}

void shrink(const NetworkSpace& space, const std::vector<ChannelLink>& links, size_t nth,
            Assignment& assignment) {
  for (size_t s = 0; s < space.sites.size(); ++s) {
    bool fewer_filters = makes(links, s), fewer_inputs = reads(links, s);
    if (!fewer_filters && !fewer_inputs) continue;
    size_t found = 0;
    for (size_t v = 1; v < space.kinds[space.sites[s].kind].variants.size(); ++v) {
      Coupling coupling = coupling_of(space, s, v);
      bool fits = (coupling.filters > 1) == fewer_filters && (coupling.inputs > 1) == fewer_inputs;
      if (fits && found++ <= nth) assignment[s] = v;
    }
  }
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
  return sum_over(space, assignment, space.weights, &LayerVariant::weights);
}

double log_size(const NetworkSpace& space) {
  double sum = static_cast<double>(space.links.size()) * std::log10(2);
  for (const LayerSite& site : space.sites) {
    const auto& all = space.kinds[site.kind].variants;
    auto alone = std::count_if(all.begin(), all.end(), [](const auto& v) { return !v.coupling; });
    sum += std::log10(static_cast<double>(alone));
  }
  return sum;
}

}  // namespace lathe
