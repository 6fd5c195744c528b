// optimize.cpp: "lathe optimize NETWORK": a faster network that keeps its capacity, with proof.
#include "jobs/optimize.h"

#include <sstream>

#include "base/error.h"
#include "cli/verb_command_line.h"
#include "cli/verb_interruption.h"
#include "cli/verb_jobs.h"
#include "cli/verb_peers.h"
#include "cli/verb_scores.h"
#include "cli/verb_search_show.h"
#include "cli/verb_space.h"
#include "cli/verb_target.h"
#include "cli/verb_workers.h"
#include "jobs/amount.h"
#include "jobs/fleet.h"
#include "jobs/search_precision.h"

namespace lathe::cli {
namespace {

struct OptimizeArgs {
  OptimizeOptions job;
  JobsArguments jobs;
  std::string target = "native";
  SpaceArguments space{.space = OptimizeOptions().space};
  std::string rule = "two-sided", max_params, max_macs, constraint, budget;
  double tolerance = -1;
  bool json = false, thorough = false;
};

OptimizeOptions job_of(const OptimizeArgs& options) {
  OptimizeOptions job = options.job;
  job.space = space_options(options.space);
  job.rule = find_rule(options.rule);
  if (options.tolerance >= 0) job.rule.tolerance = options.tolerance;
  job.limits = {parse_limit("--max-params", options.max_params),
                parse_limit("--max-macs", options.max_macs),
                parse_latency("--constraint", options.constraint)};
  job.budget = parse_budget("--budget", options.budget);
  if (options.thorough) job = thorough(job);
  Target target = measured_target(options.target, options.jobs);
  if (target.is_gpu()) {
    job.gpu = target;
    job.jobs = folder_options(options.jobs, "");
  }
  job.workers.python = workers_python();
  job.lathe = own_path();
  job.command = command_line();
  return job;
}

/// Returns the names in "old,new".
std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream words(text);
  for (std::string name; std::getline(words, name, ',');) names.push_back(name);
  return names;
}

std::vector<OptimizeResult> searched(const OptimizeArgs& options) {
  OptimizeOptions job = job_of(options);
  std::vector<std::string> machines = names_in(job.workers.kind);
  listen_to_interruptions();
  SearchTelling telling(options.json, job.exact);
  JobListener listener{[&](const JobEvent& event) { telling.show(event); }, is_interrupted};
  if (machines.size() > 1) return optimize_fleet(job, machines, listener);
  return {lathe::optimize(job, listener)};
}

/// Prints what was found; returns the exit status.
int told(const OptimizeArgs& options, const OptimizeResult& found) {
  if (found.waiting) {
    const RoundsWaiting& waiting = *found.waiting;
    print_waiting(options.jobs, {waiting.jobs, waiting.is_new, waiting.bytes, waiting.round},
                  options.json);
    return 0;
  }
  if (!found.result) {
    print_stopped(options.json);
  } else if (options.json) {
    nlohmann::json json = to_json(*found.result);
    json["event"] = "end";
    fmt::print("{}\n", json.dump());
  } else {
    print_result(*found.result, found.folder);
  }
  if (found.stopped) return interrupted_status;
  return is_success(*found.result) ? 0 : 1;
}

int run_optimize(const OptimizeArgs& options) {
  int status = 0;
  for (const OptimizeResult& found : searched(options)) {
    status = std::max(status, told(options, found));
  }
  return status;
}

std::vector<std::string> strategy_names() {
  std::vector<std::string> names;
  for (const Strategy& strategy : strategies::all()) names.push_back(strategy.name);
  return names;
}

std::function<int()> set_up_optimize(Command& app) {
  auto options = std::make_shared<OptimizeArgs>();
  OptimizeOptions& job = options->job;
  add_network_arguments(app, job.score.network);
  app.add_option("--work-dir FOLDER", job.folder, "where to keep the search")
      ->otherwise("runs/NETWORK")
      ->writes();
  add_data_arguments(app, job.score);
  add_loss_argument(app, job.score);
  app.add_option("--strategy", job.strategy, "how networks are chosen")
      ->check(one_of(strategy_names()));
  app.add_option("--rule", options->rule,
                 "of the gate: two-sided, paper, or a file of calibrate --write-rule; a trained "
                 "network is judged by the rule for such");
  app.add_option("--tolerance", options->tolerance,
                 "how many points of accuracy may be lost, as the gate predicts")
      ->otherwise("the rule's, 0.5")
      ->check(non_negative_number());
  app.add_option("--precision", job.precision,
                 "what layers compute in; any: whatever is fastest, layer by layer; int8 needs "
                 "--data and a trained network")
      ->check(one_of({"f32", "tf32", "f16", "bf16", "int8", any_precision}));
  add_space_arguments(app, options->space);
  app.add_option("--variants", options->space.space.most,
                 "measure so many variants of each kind of layer; 0 means all");
  app.add_option("--trials", job.trials, "how many networks to draw, where a strategy draws")
      ->check(range(1L, 10000000L));
  app.add_option("--exact", job.exact, "how many networks to score exactly and to measure")
      ->check(range(1L, 100000L));
  app.add_option("--max-params", options->max_params, "most weights of the result, like 9M");
  app.add_option("--max-macs", options->max_macs, "most multiplications of the result, like 300M");
  app.add_option("--constraint", options->constraint,
                 "latency=2ms: be no slower than that, and as accurate as can be");
  app.add_option(
         "--tune", job.tune,
         "how many seconds to tune the original and the result at the end; 0 means not at all")
      ->check(range(0.0, 1e6));
  app.add_option(
      "--budget TIME", options->budget,
      "how long the whole search may take, like 10m; with less time it looks at fewer variants "
      "and tunes for less long");
  app.add_flag("--thorough", options->thorough,
               "take an hour for what else takes ten minutes: more variants, samples, seeds and "
               "tuning, where these have their defaults");
  app.add_option("--against PEER", job.against, "also measure the original with other libraries")
      ->check(one_of(peer_names()));
  app.add_flag("!--no-blocks", job.blocks, "do not compare with what a list of blocks can do");
  add_target_argument(app, options->target, "the machine that networks are measured on");
  add_jobs_arguments(app, options->jobs);
  add_workers_arguments(app, job.workers);
  app.add_option("--threads", job.threads, "number of workers that the network will run with")
      ->check(range(1, 256));
  app.add_option("--seed", job.score.network.seed, "seed of the search, weights and minibatches");
  app.add_flag("--json", options->json, "print events and the result as JSON, a line each");
  return [options] { return run_optimize(*options); };
}

}  // namespace

Verb optimize() {
  return {"optimize", "find a faster network that keeps its capacity", set_up_optimize,
          "lathe optimize resnet18-cifar --tolerance 1 --work-dir runs/r18"};
}

}  // namespace lathe::cli
