// profile.cpp: "lathe profile NETWORK": what a search could choose from, before anything is
// searched.
#include <algorithm>
#include <cmath>

#include "cli/verb_network.h"
#include "jobs/limits.h"

namespace lathe::cli {
namespace {

struct ProfileArgs {
  NetworkArguments network;
  SpaceOptions space;
  bool json = false;
};

/// The least that something can be, and what it is now.
struct Range {
  long least, now;
};

nlohmann::json report(const NetworkSpace& space, const Range& macs, const Range& weights) {
  nlohmann::json kinds = nlohmann::json::array();
  for (const LayerKind& kind : space.kinds) {
    nlohmann::json variants = nlohmann::json::array();
    for (const LayerVariant& variant : kind.variants) {
      variants.push_back({{"recipe", label_of(variant)},
                          {"meaning", variant.meaning},
                          {"macs", variant.macs},
                          {"weights", variant.weights}});
    }
    nlohmann::json layers = nlohmann::json::array();
    for (size_t s : kind.sites) layers.push_back(space.sites[s].layer);
    kinds.push_back(
        {{"description", kind.description}, {"layers", layers}, {"variants", variants}});
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
  fmt::print("{:>8}  {:<38} {:<38} {}\n", "channels", "made by", "read by", "fixed by");
  for (const SearchedSet& set : sets) {
    std::string line = fmt::format("{:>8}  {:<38} {:<38} {}", set.set.channels, some_of(set.makers),
                                   some_of(set.readers), set.fixed);
    fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  }
}

int run_profile(const ProfileArgs& options) {
  Graph network = load_network(options.network);
  NetworkSpace space = network_space(network, options.space);
  if (options.space.narrow) space = with_links(std::move(space), network, options.space);
  Range macs{least_macs(space), space.macs}, weights{least_weights(space), space.weights};
  if (options.json) {
    fmt::print("{}\n", report(space, macs, weights).dump(2));
    return 0;
  }
  fmt::print("{}: {} of its layers may change, of {} kinds\n\n", network.name, space.sites.size(),
             space.kinds.size());
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
  if (options.space.narrow) print_channel_sets(network, options.space);
  fmt::print("\nnetworks  10^{:.0f}\n", log_size(space));
  fmt::print("MACs      {} to {}\n", print_short(macs.least), print_short(macs.now));
  fmt::print("weights   {} to {}\n", print_short(weights.least), print_short(weights.now));
  return 0;
}

std::function<int()> set_up_profile(Command& app) {
  auto options = std::make_shared<ProfileArgs>();
  add_network_arguments(app, options->network);
  app.add_option("--include PATTERN", options->space.include,
                 "change only layers of this name, like 'layer[34].*'");
  app.add_option("--exclude PATTERN", options->space.exclude, "leave layers of this name alone");
  app.add_flag("--pointwise", options->space.pointwise, "also change 1x1 convolutions");
  add_narrow_flag(app, options->space.narrow);
  app.add_option("--neural", options->space.variants.neural,
                 "use at most so many neural steps in a recipe")
      ->check(range(1, 4));
  app.add_option("--draws", options->space.variants.draws,
                 "draw so many recipes of several neural steps; 0 means all, which takes minutes");
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run_profile(*options); };
}

}  // namespace

Verb profile() {
  return {"profile", "say how many networks a search could choose from", set_up_profile,
          "lathe profile resnet34-cifar --narrow"};
}

}  // namespace lathe::cli
