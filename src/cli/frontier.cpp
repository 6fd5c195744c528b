// frontier.cpp: "lathe frontier NETWORK": several faster networks, for more and more accuracy that
// may be lost.
#include "jobs/frontier.h"

#include "cli/verb_command_line.h"
#include "cli/verb_interruption.h"
#include "cli/verb_peers.h"
#include "cli/verb_scores.h"
#include "cli/verb_search_show.h"
#include "cli/verb_space.h"

namespace lathe::cli {
namespace {

struct FrontierArgs {
  FrontierOptions job;
  SpaceArguments space{.space = OptimizeOptions().space};
  bool json = false;
};

std::string print_prediction_of(const SearchResult& result) {
  const auto& verdict = result.winner.verdict;
  if (!verdict) return "";
  if (verdict->predicted) return fmt::format("{:+.2f}", *verdict->predicted);
  if (!verdict->prediction) return "";
  return fmt::format("{:+.1f} to {:+.1f}", verdict->prediction->at(0), verdict->prediction->at(1));
}

void print_frontier(const FrontierResult& found) {
  fmt::print("{:>9}{:>10}{:>9}{:>10}{:>10}{:>14}{:>10}\n", "may lose", "ms", "times", "MACs",
             "weights", "predicted", "untuned");
  for (const FrontierPoint& point : found.points) {
    const ResultWinner& winner = point.result.winner;
    const auto& accuracy = point.result.accuracy;
    fmt::print("{:>9.2f}{:>10.3f}{:>9.2f}{:>10}{:>10}{:>14}{:>10}\n", point.tolerance, winner.ms,
               winner.original_ms / winner.ms, print_short(winner.macs),
               print_short(winner.weights), print_prediction_of(point.result),
               accuracy ? fmt::format("{:.1f} %", accuracy->before) : "");
  }
  if (found.points.empty()) return;
  fmt::print("\npicture   {0}/frontier.svg\nbundles   {0}/1/bundle to {0}/{1}/bundle\n",
             found.folder, found.points.size());
}

int run_frontier(FrontierArgs& options) {
  OptimizeOptions& search = options.job.search;
  search.space = space_options(options.space);
  search.lathe = own_path();
  search.command = command_line();
  search.blocks = false;
  listen_to_interruptions();
  FrontierResult found;
  {
    SearchTelling telling(options.json, search.exact);
    found = find_frontier(options.job,
                          {[&](const JobEvent& event) { telling.show(event); }, is_interrupted});
  }
  if (!options.json) print_frontier(found);
  if (found.stopped) {
    print_stopped(options.json);
    return interrupted_status;
  }
  bool any = std::any_of(found.points.begin(), found.points.end(),
                         [](const FrontierPoint& point) { return point.result.found; });
  return any ? 0 : 1;
}

std::function<int()> set_up_frontier(Command& app) {
  auto options = std::make_shared<FrontierArgs>();
  OptimizeOptions& search = options->job.search;
  add_network_arguments(app, search.score.network);
  app.add_option("--work-dir FOLDER", search.folder, "where to keep the searches")
      ->otherwise("runs/NETWORK")
      ->writes();
  add_data_arguments(app, search.score);
  add_loss_argument(app, search.score);
  app.add_option("--points", options->job.points, "how many networks")->check(range(1L, 100L));
  app.add_option("--from", options->job.least, "accuracy that the first may lose, in points")
      ->check(non_negative_number());
  app.add_option("--to", options->job.most, "accuracy that the last may lose, in points")
      ->check(non_negative_number());
  add_space_arguments(app, options->space);
  app.add_option("--variants", options->space.space.most,
                 "measure so many variants of each kind of layer; 0 means all");
  app.add_option("--exact", search.exact, "how many networks to judge exactly, for each point")
      ->check(range(1L, 100000L));
  app.add_option("--tune", search.tune, "how many seconds to tune each network; 0: not at all")
      ->check(range(0.0, 1e6));
  app.add_option("--against PEER", search.against, "also measure the original with other libraries")
      ->check(one_of(peer_names()));
  app.add_option("--threads", search.threads, "number of workers that the network will run with")
      ->check(range(1, 256));
  app.add_option("--seed", search.score.network.seed,
                 "seed of the search, weights and minibatches");
  app.add_flag("--json", options->json, "print events as JSON, a line each");
  return [options] { return run_frontier(*options); };
}

}  // namespace

Verb frontier() {
  return {"frontier", "find faster networks for more and more accuracy that may be lost",
          set_up_frontier,
          "lathe frontier model.onnx --data cifar10:DIR --points 6 --work-dir run"};
}

}  // namespace lathe::cli
