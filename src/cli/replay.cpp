// replay.cpp: "lathe replay FILE.recipe -o FOLDER": makes a bundle again, byte for byte.
#include "jobs/replay.h"

#include <fmt/ranges.h>

#include "cli/verb_listener.h"
#include "cli/verb_network.h"

namespace lathe::cli {
namespace {

/// Says how a bundle stands beside the one that the recipe is of.
void print_comparison(const ReplayComparison& with) {
  if (!with.unreadable.empty()) {
    fmt::print("it is not compared: {}\n", with.unreadable);
  } else if (with.others.empty()) {
    fmt::print("all {} files are those of {}, byte for byte\n", with.same, with.folder);
  } else {
    fmt::print("{} of {} files are those of {}; these are not: {}\n", with.same, with.all,
               with.folder, fmt::join(with.others, " "));
  }
}

int run_replay(const ReplayOptions& options) {
  ReplayResult made;
  {
    JobBar bar("compiling");
    made = replay_bundle(options, bar.listener());
  }
  fmt::print("{}: {}, {} layers changed, for {}\n", options.folder, made.network, made.layers,
             made.target);
  if (made.comparison) print_comparison(*made.comparison);
  return 0;
}

std::function<int()> set_up_replay(Command& app) {
  auto options = std::make_shared<ReplayOptions>();
  app.add_option("RECIPE", options->recipe, "the winner.recipe of a bundle, or the bundle's folder")
      ->required();
  app.add_option("-o,--output FOLDER", options->folder,
                 "the folder to write: a new one, or a bundle")
      ->required()
      ->writes();
  app.add_option("--network FILE", options->network,
                 "where the network's file is now, if it was moved");
  return [options] { return run_replay(*options); };
}

}  // namespace

Verb replay() {
  return {"replay", "make the bundle of a search again from its recipe", set_up_replay,
          "lathe replay runs/r18/bundle -o again"};
}

}  // namespace lathe::cli
