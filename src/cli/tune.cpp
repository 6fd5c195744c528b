// tune.cpp: "lathe tune NETWORK": better schedules and layouts from measurement, kept for every
// other command.
#include <unistd.h>

#include "base/error.h"
#include "cli/verb_interruption.h"
#include "cli/verb_jobs.h"
#include "cli/verb_listener.h"
#include "cli/verb_network.h"
#include "cli/verb_precision.h"
#include "cli/verb_target.h"
#include "cli/verb_tune_show.h"
#include "data/folder.h"
#include "search/round_tuning.h"

namespace lathe::cli {
namespace {

struct TuneArgs {
  NetworkArguments network;
  PrecisionArguments precision;
  JobsArguments jobs;
  std::string budget, layers = "*", target = "native";
  int threads = 1;
  uint64_t seed = 1;
  bool resume = false, again = false, show = false, json = false;
};

/// Tells what tuning does: a line that changes on a terminal, a line for each gain elsewhere.
class Telling {
 public:
  explicit Telling(const TuneOptions& options)
      : options_(options), is_terminal_(isatty(STDERR_FILENO) != 0) {}
  ~Telling() { clear(); }

  void show(const TuneState& state) {
    if (state.better) {
      clear();
      const Found& found = *state.unit.found;
      fmt::print(stderr, "{:6.1f} s  {:<26} {:>9.4f} ms  {:>5.2f}x  {}\n", state.elapsed,
                 name_of_nodes(state.unit.nodes, 26), found.time * 1e3, found.own / found.time,
                 found.choice.schedule);
    }
    if (!is_terminal_) return;
    std::string left =
        options_.seconds > 0
            ? fmt::format("{:.0f} s left", std::max(0.0, options_.seconds - state.elapsed))
            : fmt::format("{} of {}", state.trials, options_.trials);
    double gain = state.unit.found ? state.unit.found->own / state.unit.found->time : 1;
    fmt::print(stderr, "\r{:<78.78}",
               fmt::format("tuning: {}, candidate {}, {} at {:.2f}x", left, state.trials,
                           name_of_nodes(state.unit.nodes, 26), gain));
    shown_ = true;
  }

  void show_layouts(long measured) {
    if (!is_terminal_) return;
    fmt::print(stderr, "\r{:<78.78}", fmt::format("layouts: measurement {}", measured));
    shown_ = true;
  }

 private:
  const TuneOptions& options_;
  bool is_terminal_, shown_ = false;

  void clear() {
    if (shown_) fmt::print(stderr, "\r{:78}\r", "");
    shown_ = false;
  }
};

/// Returns the network as it will run: layers in their precisions.
Graph network_of(const TuneArgs& options) {
  JobBar bar("calibrating");
  TuneJobOptions job{.network = options.network,
                     .precision = *precision_named(options.precision.precision),
                     .calibration = source_of(options.precision.calibration)};
  job.tune.threads = options.threads;
  return network_to_tune(job, bar.listener());
}

TunedWhere where_of(const TuneArgs& options, const Target& target) {
  return {options.threads, target.is_gpu() ? full_name(target) : ""};
}

int show(const TuneArgs& options) {
  Graph graph = network_of(options);
  Target target = target_or_machine(options.target);
  TuneReport report = tuned_network(graph, target, options.threads, options.layers);
  print_tuned(graph.name, where_of(options, target), report,
              options.json ? Print::json : Print::text);
  return 0;
}

/// Tells what rounds do, on a terminal.
void tell_rounds(RoundTuneOptions& how) {
  if (isatty(STDERR_FILENO) == 0) return;
  how.compiled = [](int round, size_t done, size_t all) {
    fmt::print(stderr, "\r{:<78.78}",
               fmt::format("round {}: {} of {} candidates compiled", round, done, all));
    if (done >= all) fmt::print(stderr, "\r{:78}\r", "");
  };
  how.measured = [](int round, size_t jobs) {
    fmt::print(stderr, "\r{:<78.78}\r", fmt::format("round {}: measuring {} jobs", round, jobs));
  };
}

/// Tunes for a GPU, which may be elsewhere.
int tune_for_gpu(const TuneArgs& options, const Graph& graph, const Target& target,
                 const TuneOptions& tune, TunedStore& store) {
  check_precision_on_gpu(options.precision.precision);
  RoundTuneOptions how{tune};
  tell_rounds(how);
  TemporaryFolder meanwhile("lathe-tune");
  JobFolder folder(folder_options(options.jobs, meanwhile.file("jobs")));
  RoundOutcome outcome = tune_in_rounds(graph, target, folder, store, how);
  if (outcome.report) {
    print_tuned(graph.name, where_of(options, target), *outcome.report,
                options.json ? Print::json : Print::text);
  } else if (!outcome.stopped && outcome.jobs > 0) {
    print_waiting(options.jobs, {outcome.jobs, outcome.is_new, outcome.bytes, outcome.round},
                  options.json);
  }
  return outcome.stopped ? interrupted_status : 0;
}

int run_tune(const TuneArgs& options) {
  if (options.resume && options.again) fail("--resume goes on, --again begins again: give one");
  TuneOptions how;
  set_budget(how, options.budget, !options.jobs.folder.empty());
  if (options.show) return show(options);
  Target target = measured_target(options.target, options.jobs);
  Graph graph = network_of(options);
  check_data(graph);
  how.threads = options.threads;
  how.seed = options.seed;
  how.layers = options.layers;
  how.begin = options.again ? TuneOptions::Begin::again : TuneOptions::Begin::resume;
  how.stop = is_interrupted;
  listen_to_interruptions();
  if (target.is_gpu()) {
    TunedStore store = open_tuned_store();
    return tune_for_gpu(options, graph, target, how, store);
  }
  TuneReport report;
  {
    Telling telling(how);
    how.progress = [&](const TuneState& state) { telling.show(state); };
    how.layout_progress = [&](long n) { telling.show_layouts(n); };
    report = tune_network(graph, how);
  }
  print_tuned(graph.name, where_of(options, target), report,
              options.json ? Print::json : Print::text);
  return report.stopped ? interrupted_status : 0;
}

std::function<int()> set_up_tune(Command& app) {
  auto options = std::make_shared<TuneArgs>();
  add_network_arguments(app, options->network);
  add_precision_arguments(app, options->precision);
  add_data_argument(app, options->precision.calibration);
  add_normalize_argument(app, options->precision.calibration);
  app.add_option("--budget TIME", options->budget,
                 "how long to search, like 90s or 10m; or how many candidates to try, like 500")
      ->otherwise("60s; with --jobs, about 70 candidates for each kind of layer");
  add_target_argument(app, options->target, "the machine that is tuned for");
  add_jobs_arguments(app, options->jobs);
  app.add_option("--threads", options->threads, "number of workers that the network will run with")
      ->check(range(1, 256));
  app.add_option("--layer PATTERN", options->layers,
                 "tune only layers of this name, like 'layer2.*'");
  app.add_flag("--resume", options->resume, "go on with what was found before, as is done anyway");
  app.add_flag("--again", options->again, "forget what was found before");
  app.add_option("--seed", options->seed, "seed of the search");
  app.add_flag("--show", options->show, "print what was found before, without a search");
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run_tune(*options); };
}

}  // namespace

Verb tune() {
  return {"tune", "find better schedules and layouts for a network by measuring", set_up_tune,
          "lathe tune resnet18 --budget 5m --threads 2"};
}

}  // namespace lathe::cli
