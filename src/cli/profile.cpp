// profile.cpp: "lathe profile NETWORK": what a search could choose from, before anything is
// searched.
#include "jobs/profile.h"

#include <algorithm>

#include "cli/verb_network.h"
#include "cli/verb_space.h"

namespace lathe::cli {
namespace {

struct ProfileArgs {
  ProfileOptions job;
  SpaceArguments space;
  bool json = false;
};

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
void print_families(const std::vector<FamilyCounts>& of_kinds, size_t most) {
  FamilyCounts counts;
  for (const FamilyCounts& of_kind : of_kinds) {
    for (const auto& [family, c] : of_kind) {
      FamilyCount& sum = counts[family];
      sum = {sum.variants + c.variants, sum.scored + c.scored, std::min(sum.least, c.least),
             std::max(sum.most, c.most)};
    }
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

int run_profile(ProfileArgs& options) {
  options.job.space = space_options(options.space);
  Profile found = profile_network(options.job);
  if (options.json) {
    fmt::print("{}\n", to_json(found).dump(2));
    return 0;
  }
  fmt::print("{}: {} of its layers may change, of {} kinds\n\n", found.network.name,
             found.space.sites.size(), found.space.kinds.size());
  print_kinds(found.space);
  print_families(found.families, options.job.most);
  if (options.job.space.narrow) print_channel_sets(found.network, options.job.space);
  fmt::print("\nnetworks  10^{:.0f}\n", log_size(found.space));
  fmt::print("MACs      {} to {}\n", print_short(found.macs.least), print_short(found.macs.now));
  fmt::print("weights   {} to {}\n", print_short(found.weights.least),
             print_short(found.weights.now));
  return 0;
}

std::function<int()> set_up_profile(Command& app) {
  auto options = std::make_shared<ProfileArgs>();
  add_network_arguments(app, options->job.network);
  add_space_arguments(app, options->space);
  app.add_option("--variants", options->job.most,
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
