// optimize.cpp: "lathe optimize NETWORK": a faster network that keeps its capacity, with proof.
#include <unistd.h>

#include <chrono>
#include <cmath>

#include "base/error.h"
#include "cli/verb_long.h"
#include "cli/verb_made.h"
#include "cli/verb_scores.h"
#include "compile/embedded.h"
#include "compile/tuned.h"
#include "strategies/strategy_run.h"

namespace lathe::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  ScoreArguments score;
  std::string folder, strategy = "assign", rule = "two-sided";
  SpaceOptions space;
  std::string max_params, max_macs;
  double tolerance = -1;
  long trials = 1000, exact = 6;
  int threads = 1;
  bool json = false;
};

/// Reads how much there may be of something: "9M", "1.2G", "500k" or a number.
long parse_limit(const std::string& option, const std::string& text) {
  if (text.empty()) return std::numeric_limits<long>::max();
  auto amount = parse_amount(text);
  static const std::map<std::string, double> scales{{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}};
  auto scale = amount ? scales.find(amount->unit) : scales.end();
  if (scale == scales.end()) {
    fail("{} {}: write a number, as in 9M, 1.2G or 500000", option, text);
  }
  return std::lround(amount->value * scale->second);
}

NetworkLimits limits_of(const Options& options) {
  return {parse_limit("--max-params", options.max_params),
          parse_limit("--max-macs", options.max_macs)};
}

GateRule rule_of(const Options& options) {
  GateRule rule = find_rule(options.rule);
  if (options.tolerance >= 0) rule.tolerance = options.tolerance;
  return rule;
}

/// Tells how far the search is: a line that changes on a terminal, plain lines elsewhere, events in
/// JSON if those are asked for.
class Telling {
 public:
  explicit Telling(bool json) : json_(json), is_terminal_(isatty(STDERR_FILENO) != 0) {}
  ~Telling() { clear(); }

  void show(const TableProgress& progress) {
    if (json_) {
      event({{"event", "progress"},
             {"what", progress.what},
             {"done", progress.done},
             {"of", progress.all}});
      return;
    }
    line(fmt::format("{} of {} {}", progress.done, progress.all, progress.what));
  }

  void show(const Trial& trial, long number) {
    bool exact = trial.details.contains("verdict");
    if (trial.outcome == Trial::Outcome::measured && trial.own / trial.time > best_) {
      best_ = trial.own / trial.time;
    }
    if (json_) {
      if (exact) {
        event({{"event", "trial"},
               {"number", number},
               {"outcome", name_of(trial.outcome)},
               {"reason", trial.reason},
               {"ms", trial.time * 1e3},
               {"original_ms", trial.own * 1e3}});
      }
      return;
    }
    if (exact) {
      clear();
      std::string what =
          trial.outcome == Trial::Outcome::measured
              ? fmt::format("{:.3f} ms, {:.2f}x", trial.time * 1e3, trial.own / trial.time)
              : trial.reason;
      fmt::print(stderr, "{:7.1f} s  network {}: {}, {}\n", seconds(), number,
                 name_of(trial.outcome), what);
    } else {
      line(fmt::format("{} networks judged, best {:.2f}x", number, best_));
    }
  }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  bool json_, is_terminal_, shown_ = false;
  double best_ = 1, told_ = -1e9;
  Clock::time_point begin_ = Clock::now();

  static void event(const nlohmann::json& json) { fmt::print("{}\n", json.dump()); }

  void line(const std::string& text) {
    constexpr double pause = 15;  // seconds between plain lines
    if (is_terminal_) {
      fmt::print(stderr, "\r{:<78.78}", text);
      shown_ = true;
    } else if (seconds() - told_ > pause) {
      told_ = seconds();
      fmt::print(stderr, "{:7.1f} s  {}\n", told_, text);
    }
  }

  void clear() {
    if (shown_) fmt::print(stderr, "\r{:78}\r", "");
    shown_ = false;
  }
};

Journal::Identity identity_of(const Options& options, const Graph& network) {
  const ScoreArguments& score = options.score;
  return {{"network", fmt::format("{} {:016x}", network.name, structural_hash(network))},
          {"version of Lathe", std::string(lathe_version())},
          {"machine", tuned_target(native_target())},
          {"data", score.data + " " + score.normalize},
          {"scoring", fmt::format("{} samples, {} seeds from {}", score.samples, score.seeds,
                                  score.network.seed)},
          {"rule", fmt::format("{}, {} points", options.rule, rule_of(options).tolerance)},
          {"number of threads", std::to_string(options.threads)}};
}

nlohmann::json about(const Options& options, const Graph& network, const Winner& winner) {
  return {{"network", network.name},    {"seed", options.score.network.seed},
          {"threads", options.threads}, {"original_ms", winner.own * 1e3},
          {"ms", winner.time * 1e3},    {"verdict", winner.verdict}};
}

/// Compiles a network as it was measured, and writes the bundle.
void write_result(const Options& options, const Graph& network, const Winner& winner) {
  CompileOptions how;
  how.target = native_target();
  how.target.workers = options.threads;
  Making making{origin_of(options.score.network)};
  making.seed = options.score.network.seed;
  making.about = about(options, network, winner);
  make_bundle(network, winner.recipe, making, how, options.folder + "/bundle");
}

void print_reasons(const SearchReport& report) {
  for (const auto& [reason, count] : report.reasons) fmt::print("  {:>6}  {}\n", count, reason);
}

void print_summary(const NetworkSpace& space, const SearchReport& report,
                   const std::optional<Winner>& baseline, const Options& options, double seconds) {
  const Winner& winner = *report.best;
  auto line = [](const char* what, const std::string& text) {
    fmt::print("{:<14}{}\n", what, text);
  };
  line("latency", fmt::format("{:.3f} ms, was {:.3f} ms: {:.2f} times faster", winner.time * 1e3,
                              winner.own * 1e3, winner.own / winner.time));
  if (baseline) {
    line("blocks alone", fmt::format("{:.2f} times faster, by a choice from a list of blocks (nas)",
                                     baseline->own / baseline->time));
  }
  line("weights", fmt::format("{}, was {}", print_short(weights_of(space, winner.assignment)),
                              print_short(space.weights)));
  line("MACs", fmt::format("{}, was {}", print_short(macs_of(space, winner.assignment)),
                           print_short(space.macs)));
  const nlohmann::json& verdict = winner.verdict;
  line("capacity",
       fmt::format("fisher {:.3g} times the original's ({:.3g} to {:.3g}); accepted, "
                   "{:.0f} % sure",
                   verdict["ratio"].get<double>(), verdict["interval"][0].get<double>(),
                   verdict["interval"][1].get<double>(), 100 * verdict["sure"].get<double>()));
  if (verdict.contains("predicted")) {
    line("prediction",
         fmt::format("accuracy {:+.2f} points, give or take {:.2f}",
                     verdict["predicted"].get<double>(), verdict["uncertainty"].get<double>()));
  }
  line("tried", fmt::format("{} networks: {} refused, {} failed", report.tried, report.refused,
                            report.failed));
  line("took", fmt::format("{:.0f} s", seconds));
  line("bundle", options.folder + "/bundle");
}

/// Everything that a search needs, in the order in which it is made.
class Session {
 public:
  explicit Session(const Options& options)
      : options_(options),
        timed_(load_network(options.score.network)),
        journal_(options.folder, identity_of(options, timed_)),
        space_(network_space(timed_, {options.space.include, options.space.exclude})),
        scored_(load_untrained(options.score)),
        scorer_(make_scorer(options.score)),
        bench_(initialised(timed_, options.score.network.seed), bench_options(options)),
        rule_(rule_of(options)) {}

  int run() {
    Telling telling(options_.json);
    TableOptions how{options_.score.network.seed,
                     [&](const TableProgress& progress) { telling.show(progress); },
                     is_interrupted};
    FirstOrder first(scored_, scorer_, options_.score.network.seed);
    int workers = workers_of(options_.score);
    if (options_.space.most > 0) {
      auto few = screened(space_, options_.space.most, rule_, first, journal_, workers, how);
      if (!few) return stopped();
      space_ = std::move(*few);
    }
    if (!measure_layers(tables_, space_, timed_, bench_, journal_, how)) return stopped();
    if (!score_layers(tables_, space_, first, journal_, workers, how)) return stopped();
    SearchLaboratory laboratory{
        timed_,  scored_,  scorer_,
        bench_,  journal_, [&](const Trial& trial, long n) { telling.show(trial, n); },
        how.stop};
    SearchReport report = run_search(find_strategy(options_.strategy), input(), laboratory);
    std::optional<Winner> baseline;
    if (options_.strategy != "nas" && !report.stopped) {
      baseline = run_search(find_strategy("nas"), input(), laboratory).best;
    }
    return finish(report, baseline, telling.seconds());
  }

 private:
  const Options& options_;
  Graph timed_;
  Journal journal_;
  NetworkSpace space_;
  Graph scored_;
  Scorer scorer_;
  NetworkBench bench_;
  GateRule rule_;
  LayerTables tables_;

  static BenchOptions bench_options(const Options& options) {
    BenchOptions bench;
    bench.threads = options.threads;
    bench.max_error = options.score.tuned.max_error;
    return bench;
  }

  StrategyInput input() const {
    return {space_,
            tables_,
            rule_,
            limits_of(options_),
            options_.trials,
            options_.exact,
            options_.score.network.seed};
  }

  int stopped() const {
    fmt::print("stopped; the same command goes on with it\n");
    return 1;
  }

  int finish(const SearchReport& report, const std::optional<Winner>& baseline, double seconds) {
    bool faster = report.best && report.best->time < report.best->own;
    Winner winner =
        faster ? *report.best : Winner{Assignment(space_.sites.size(), 0), {}, 0, 0, {}};
    write_result(options_, timed_, winner);
    if (options_.json) {
      nlohmann::json json{{"event", "end"},          {"found", faster},
                          {"tried", report.tried},   {"refused", report.refused},
                          {"failed", report.failed}, {"reasons", report.reasons},
                          {"seconds", seconds},      {"bundle", options_.folder + "/bundle"}};
      if (faster) json["winner"] = about(options_, timed_, winner);
      if (faster) json["winner"]["recipe"] = to_json(winner.recipe);
      fmt::print("{}\n", json.dump());
      return faster ? 0 : 1;
    }
    if (faster) {
      print_summary(space_, report, baseline, options_, seconds);
      return 0;
    }
    fmt::print("nothing faster was found in {} networks; the bundle holds the original\n",
               report.tried);
    print_reasons(report);
    return 1;
  }
};

int run(Options& options) {
  if (options.folder.empty()) options.folder = "runs/" + options.score.network.network;
  // What is wrong is said before anything is begun.
  find_strategy(options.strategy);
  find_rule(options.rule);
  limits_of(options);
  listen_to_interruptions();
  return Session(options).run();
}

std::function<int()> prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  options->score.samples = 32;
  options->score.seeds = 2;
  options->space.most = 16;
  add_network_arguments(app, options->score.network);
  app.add_option("--work-dir", options->folder,
                 "where the search is kept; runs/NETWORK unless told");
  app.add_option("--data", options->score.data,
                 "images with labels: cifar10:DIR, npy:X.npy,Y.npy or synthetic:SEED");
  app.add_option("--normalize", options->score.normalize, "of images: none, imagenet or cifar");
  app.add_option("--samples", options->score.samples, "images of a minibatch")
      ->check(CLI::Range(2L, 4096L));
  app.add_option("--seeds", options->score.seeds, "draws of weights and minibatches")
      ->check(CLI::Range(1L, 10000L));
  app.add_option("--strategy", options->strategy, "assign, evolve, random or nas");
  app.add_option("--rule", options->rule, "of the gate: two-sided, or paper");
  app.add_option("--tolerance", options->tolerance,
                 "points of accuracy that the gate may expect to be lost; 0.5 unless told")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--include", options->space.include, "layers that may change: a pattern");
  app.add_option("--exclude", options->space.exclude, "layers that may not");
  app.add_option("--variants", options->space.most, "of each kind of layer; 0: all there are");
  app.add_option("--trials", options->trials, "networks that are drawn, where a strategy draws")
      ->check(CLI::Range(1L, 10000000L));
  app.add_option("--exact", options->exact, "networks that are evaluated exactly and measured")
      ->check(CLI::Range(1L, 100000L));
  app.add_option("--max-params", options->max_params, "weights of the result, as in 9M");
  app.add_option("--max-macs", options->max_macs, "products of the result, as in 300M");
  app.add_option("--threads", options->threads, "workers that the network will run with")
      ->check(CLI::Range(1, 256));
  app.add_option("--seed", options->score.network.seed, "of the search, weights and minibatches");
  app.add_flag("--json", options->json, "print events and the result as JSON, a line each");
  return [options] { return run(*options); };
}

}  // namespace

Verb optimize() { return {"optimize", "find a faster network that keeps its capacity", prepare}; }

}  // namespace lathe::cli
