// importance.cpp: "lathe importance NETWORK": what a trained network owes to its channels, and the
// order that puts the most important ones first.
#include "jobs/importance.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "cli/verb_listener.h"
#include "cli/verb_scores.h"

namespace lathe::cli {
namespace {

struct ImportanceArgs {
  ImportanceOptions job;
  std::string by = "fisher", recipe;
  bool json = false;
};

/// Returns how many of the most important channels have this share of all importance.
size_t channels_with(const std::vector<double>& channels, double share) {
  std::vector<double> sorted = channels;
  std::sort(sorted.rbegin(), sorted.rend());
  double all = std::accumulate(sorted.begin(), sorted.end(), 0.0), sum = 0;
  size_t count = 0;
  while (count < sorted.size() && sum < share * all) sum += sorted[count++];
  return count;
}

void print_found(const ImportanceResult& found, const ImportanceArgs& options) {
  fmt::print("{:<32}{:>9}{:>12}{:>12}\n", "channels of", "channels", "half is in", "95 % in");
  for (const ChannelImportance& each : found.sets) {
    fmt::print("{:<32}{:>9}{:>12}{:>12}\n", each.layer, each.channels.size(),
               channels_with(each.channels, 0.5), channels_with(each.channels, 0.95));
  }
  fmt::print("\nby {}; {} of {} sets can be put into this order", options.by, found.order.size(),
             found.sets.size());
  if (options.recipe.empty()) {
    fmt::print("; -o FILE writes the steps that do so\n");
  } else {
    fmt::print(": {}\n", options.recipe);
  }
}

int run_importance(ImportanceArgs& options) {
  options.job.by = *importance_named(options.by);
  ImportanceResult found;
  {
    JobBar bar("minibatches");
    found = find_importance(options.job, bar.listener());
  }
  if (!options.recipe.empty()) write_network_recipe(found.order, options.recipe);
  if (options.json) {
    fmt::print("{}\n", to_json(found).dump());
  } else {
    print_found(found, options);
  }
  return 0;
}

std::function<int()> set_up_importance(Command& app) {
  auto options = std::make_shared<ImportanceArgs>();
  add_score_arguments(app, options->job.score);
  app.add_option("--by", options->by,
                 "how importance is told: by what the loss owes to a channel (fisher), to its "
                 "weights (taylor), or by the size of these (magnitude)")
      ->check(one_of({"fisher", "taylor", "magnitude"}));
  app.add_option("-o,--output FILE", options->recipe,
                 "write the steps that put the most important channels first (.recipe)")
      ->writes();
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run_importance(*options); };
}

}  // namespace

Verb importance() {
  return {"importance", "find the channels that a trained network owes most to", set_up_importance,
          "lathe importance model.onnx --data cifar10:DIR --normalize imagenet -o order.recipe"};
}

}  // namespace lathe::cli
