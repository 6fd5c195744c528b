// profile.cpp: "lathe profile NETWORK": what a search could choose from, before anything is
// searched.
#include <algorithm>
#include <cmath>
#include <map>

#include "cli/verb_network.h"
#include "cli/verb_space.h"
#include "jobs/limits.h"
#include "jobs/optimize.h"

namespace lathe::cli {
namespace {

struct ProfileArgs {
  NetworkArguments network;
  SpaceArguments space;
  size_t most = OptimizeOptions().space.most;
  bool json = false;
};

/// The least that something can be, and what it is now.
struct Range {
  long least, now;
};

/// What a space has of one family.
struct FamilyCount {
  size_t variants = 0, scored = 0;
  double least = 1, most = 0;  // parts of the layer's MACs
};

using FamilyCounts = std::map<Family, FamilyCount>;

/// Counts the variants of a kind, all of them and those that a search would score.
void count_kind(const LayerKind& all, const LayerKind& scored, FamilyCounts& counts) {
  for (size_t v = 1; v < all.variants.size(); ++v) {
    FamilyCount& count = counts[all.variants[v].family];
    double part =
        static_cast<double>(all.variants[v].macs) / static_cast<double>(all.variants[0].macs);
    count.least = std::min(count.least, part);
    count.most = std::max(count.most, part);
    ++count.variants;
  }
  for (size_t v = 1; v < scored.variants.size(); ++v) ++counts[scored.variants[v].family].scored;
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

nlohmann::json report(const NetworkSpace& space, const NetworkSpace& scored, const Range& macs,
                      const Range& weights) {
  nlohmann::json kinds = nlohmann::json::array();
  for (size_t k = 0; k < space.kinds.size(); ++k) {
    const LayerKind& kind = space.kinds[k];
    nlohmann::json variants = nlohmann::json::array();
    for (const LayerVariant& variant : kind.variants) {
      variants.push_back({{"recipe", label_of(variant)},
                          {"meaning", variant.meaning},
                          {"family", name_of(variant.family)},
                          {"macs", variant.macs},
                          {"weights", variant.weights}});
    }
    nlohmann::json layers = nlohmann::json::array();
    for (size_t s : kind.sites) layers.push_back(space.sites[s].layer);
    FamilyCounts counts;
    count_kind(kind, scored.kinds[k], counts);
    kinds.push_back({{"description", kind.description},
                     {"layers", layers},
                     {"families", to_json(counts)},
                     {"variants", variants}});
  }
  return {{"log10_networks", log_size(space)},
          {"macs", {macs.least, macs.now}},
          {"weights", {weights.least, weights.now}},
          {"kinds", kinds}};
}

/// Prints "first" or "first and 7 more".
std::string some_of(const std::vector<std::string>& names) {
  if (names.empty()) return "-";
  size_t more = names.size() - 1;
  return more == 0 ? names[0] : fmt::format("{} and {} more", names[0], more);
}

/// Prints which channels can become fewer, and why others cannot.
void print_channel_sets(const Graph& network, const SpaceOptions& options) {
  std::vector<SearchedSet> sets = searched_sets(network, options);
  auto free = std::count_if(sets.begin(), sets.end(),
                            [](const SearchedSet& set) { return set.fixed.empty(); });
  fmt::print("\n{} of {} sets of channels can become fewer, with all that make and read them\n\n",
             free, sets.size());
  fmt::print("{:>8}  {:<26} {:<26} {}\n", "channels", "made by", "read by", "fixed by");
  for (const SearchedSet& set : sets) {
    std::string line = fmt::format("{:>8}  {:<26} {:<26} {}", set.set.channels, some_of(set.makers),
                                   some_of(set.readers), set.fixed);
    fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  }
}

void print_kinds(const NetworkSpace& space) {
  fmt::print("{:<34} {:>6} {:>9}  {:>10} {:>12}\n", "kind", "layers", "variants", "least MACs",
             "least weights");
  for (const LayerKind& kind : space.kinds) {
    auto by = [&](long LayerVariant::*what) {
      return [what](const LayerVariant& a, const LayerVariant& b) { return a.*what < b.*what; };
    };
    const auto& all = kind.variants;
    long m = std::min_element(all.begin(), all.end(), by(&LayerVariant::macs))->macs;
    long w = std::min_element(all.begin(), all.end(), by(&LayerVariant::weights))->weights;
    fmt::print("{:<34} {:>6} {:>9}  {:>10} {:>12}\n", kind.description, kind.sites.size(),
               all.size(), fmt::format("1/{:.0f}", double(all[0].macs) / double(m)),
               fmt::format("1/{:.0f}", double(all[0].weights) / double(w)));
  }
}

/// Prints how many variants of each family there are, and how many of them a search scores.
void print_families(const NetworkSpace& space, const NetworkSpace& scored, size_t most) {
  FamilyCounts counts;
  for (size_t k = 0; k < space.kinds.size(); ++k) {
    count_kind(space.kinds[k], scored.kinds[k], counts);
  }
  fmt::print("\n{:<22} {:>9} {:>9} {:>12}   {}\n", "family", "variants", "searched", "not searched",
             "MACs that are left");
  auto percent = [](double part) { return fmt::format("{:.3g}", 100 * part); };
  for (const auto& [family, c] : counts) {
    fmt::print("{:<22} {:>9} {:>9} {:>12}   {} to {} %\n", name_of(family), c.variants, c.scored,
               c.variants - c.scored, percent(c.least), percent(c.most));
  }
  std::string measured = most == 0 ? "all" : fmt::format("the {} that promise most", most);
  fmt::print("\nWhat is searched is scored; of each kind, {} are measured.\n", measured);
}

int run_profile(const ProfileArgs& options) {
  Graph network = load_network(options.network);
  SpaceOptions how = space_options(options.space);
  NetworkSpace space = network_space(network, how);
  NetworkSpace scored = options.most == 0 ? space : narrowed(space, options.most * scored_for_each);
  if (how.narrow) {
    space = with_links(std::move(space), network, how);
    scored = with_links(std::move(scored), network, how);
  }
  Range macs{least_macs(space), space.macs}, weights{least_weights(space), space.weights};
  if (options.json) {
    fmt::print("{}\n", report(space, scored, macs, weights).dump(2));
    return 0;
  }
  fmt::print("{}: {} of its layers may change, of {} kinds\n\n", network.name, space.sites.size(),
             space.kinds.size());
  print_kinds(space);
  print_families(space, scored, options.most);
  if (how.narrow) print_channel_sets(network, how);
  fmt::print("\nnetworks  10^{:.0f}\n", log_size(space));
  fmt::print("MACs      {} to {}\n", print_short(macs.least), print_short(macs.now));
  fmt::print("weights   {} to {}\n", print_short(weights.least), print_short(weights.now));
  return 0;
}

std::function<int()> set_up_profile(Command& app) {
  auto options = std::make_shared<ProfileArgs>();
  add_network_arguments(app, options->network);
  add_space_arguments(app, options->space);
  app.add_option("--variants", options->most,
                 "say what a search looks at that measures so many variants of each kind of layer");
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run_profile(*options); };
}

}  // namespace

Verb profile() {
  return {"profile", "say what a search could choose from, by meaning", set_up_profile,
          "lathe profile resnet34-cifar"};
}

}  // namespace lathe::cli
