// profile.cpp: what a search could choose from, as a job. Interface: profile.h.
#include "jobs/profile.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "jobs/limits.h"

namespace lathe {
namespace {

/// Counts the variants of a kind, all of them and those that a search would score.
FamilyCounts counts_of(const LayerKind& all, const LayerKind& scored) {
  FamilyCounts counts;
  for (size_t v = 1; v < all.variants.size(); ++v) {
    FamilyCount& count = counts[all.variants[v].family];
    double part =
        static_cast<double>(all.variants[v].macs) / static_cast<double>(all.variants[0].macs);
    count.least = std::min(count.least, part);
    count.most = std::max(count.most, part);
    ++count.variants;
  }
  for (size_t v = 1; v < scored.variants.size(); ++v) ++counts[scored.variants[v].family].scored;
  return counts;
}

nlohmann::json to_json(const FamilyCounts& counts) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [family, count] : counts) {
    json[name_of(family)] = {{"variants", count.variants},
                             {"scored", count.scored},
                             {"macs", {count.least, count.most}}};
  }
  return json;
}

}  // namespace

Profile profile_network(const ProfileOptions& options) {
  Profile found{.network = load_network(options.network)};
  found.space = network_space(found.network, options.space);
  NetworkSpace scored =
      options.most == 0 ? found.space : narrowed(found.space, options.most * scored_for_each);
  if (options.space.narrow) {
    found.space = with_links(std::move(found.space), found.network, options.space);
    scored = with_links(std::move(scored), found.network, options.space);
  }
  for (size_t k = 0; k < found.space.kinds.size(); ++k) {
    found.families.push_back(counts_of(found.space.kinds[k], scored.kinds[k]));
  }
  found.macs = {least_macs(found.space), found.space.macs};
  found.weights = {least_weights(found.space), found.space.weights};
  return found;
}

nlohmann::json to_json(const Profile& found) {
  nlohmann::json kinds = nlohmann::json::array();
  for (size_t k = 0; k < found.space.kinds.size(); ++k) {
    const LayerKind& kind = found.space.kinds[k];
    nlohmann::json variants = nlohmann::json::array();
    for (const LayerVariant& variant : kind.variants) {
      variants.push_back({{"recipe", label_of(variant)},
                          {"meaning", variant.meaning},
                          {"family", name_of(variant.family)},
                          {"macs", variant.macs},
                          {"weights", variant.weights}});
    }
    nlohmann::json layers = nlohmann::json::array();
    for (size_t s : kind.sites) layers.push_back(found.space.sites[s].layer);
    kinds.push_back({{"description", kind.description},
                     {"layers", layers},
                     {"families", to_json(found.families[k])},
                     {"variants", variants}});
  }
  return {{"log10_networks", log_size(found.space)},
          {"macs", {found.macs.least, found.macs.now}},
          {"weights", {found.weights.least, found.weights.now}},
          {"kinds", kinds}};
}

}  // namespace lathe
