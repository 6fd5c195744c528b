// optimize.cpp: "lathe optimize NETWORK": a faster network that keeps its capacity, with proof.
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "cli/verb_long.h"
#include "cli/verb_made.h"
#include "cli/verb_peers.h"
#include "cli/verb_report.h"
#include "cli/verb_scores.h"
#include "cli/verb_search_show.h"
#include "compile/embedded.h"
#include "compile/tuned.h"
#include "results/summary.h"
#include "search/equal_tuning.h"

namespace lathe::cli {
namespace {

struct Options {
  ScoreArguments score;
  std::string folder, strategy = "assign", rule = "two-sided";
  SpaceOptions space;
  std::string max_params, max_macs, constraint, against;
  double tolerance = -1, tune = 20;
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

/// Reads "latency=2ms", in seconds.
double parse_constraint(const std::string& text) {
  if (text.empty()) return std::numeric_limits<double>::infinity();
  constexpr const char* name = "latency=";
  static const std::map<std::string, double> scales{{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  if (text.starts_with(name)) {
    auto amount = parse_amount(text.substr(std::strlen(name)));
    auto scale = amount ? scales.find(amount->unit) : scales.end();
    if (scale != scales.end()) return amount->value * scale->second;
  }
  fail("--constraint {}: write what a run may take, as in latency=2ms", text);
}

NetworkLimits limits_of(const Options& options) {
  return {parse_limit("--max-params", options.max_params),
          parse_limit("--max-macs", options.max_macs), parse_constraint(options.constraint)};
}

GateRule rule_of(const Options& options) {
  GateRule rule = find_rule(options.rule);
  if (options.tolerance >= 0) rule.tolerance = options.tolerance;
  return rule;
}

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

nlohmann::json about(const SearchResult& result) {
  nlohmann::json all = to_json(result), about{{"network", result.network},
                                              {"threads", result.threads},
                                              {"original_ms", result.winner.original_ms},
                                              {"ms", result.winner.ms}};
  if (result.winner.verdict) about["verdict"] = all["winner"]["verdict"];
  return about;
}

/// Compiles a network as it was measured, and writes the bundle.
void write_result(const Options& options, const Graph& network, const SearchResult& result,
                  const CompileOptions& how, const std::string& report) {
  Making making{origin_of(options.score.network)};
  making.seed = options.score.network.seed;
  making.about = about(result);
  NetworkRecipe recipe = result.found ? result.winner.recipe : NetworkRecipe();
  make_bundle(network, recipe, making, how, options.folder + "/bundle", report);
}

/// Everything that a search needs, in the order in which it is made.
class NetworkSearch {
 public:
  explicit NetworkSearch(const Options& options)
      : options_(options),
        timed_(load_network(options.score.network)),
        identity_(identity_of(options, timed_)),
        journal_(options.folder, identity_),
        space_(network_space(timed_, wide(options.space))),
        scored_(load_untrained(options.score)),
        scorer_(make_scorer(options.score)),
        original_(initialised(timed_, options.score.network.seed)),
        bench_(original_, bench_options(options)),
        rule_(rule_of(options)),
        telling_(options.json, options.exact) {}

  int run() {
    TableOptions how{options_.score.network.seed,
                     [&](const TableProgress& progress) { telling_.show(progress); },
                     is_interrupted};
    if (!fill_tables(how)) return stopped();
    SearchLaboratory laboratory{
        timed_,  scored_,  scorer_,
        bench_,  journal_, [&](const Trial& trial, long n) { telling_.show(trial, n); },
        how.stop};
    SearchReport report = run_search(find_strategy(options_.strategy), input(), laboratory);
    std::optional<Winner> baseline;
    if (options_.strategy != "nas" && !report.stopped) {
      baseline = run_search(find_strategy("nas"), input(), laboratory).best;
    }
    return finish(report, baseline);
  }

 private:
  const Options& options_;
  Graph timed_;
  Journal::Identity identity_;
  Journal journal_;
  NetworkSpace space_;
  Graph scored_;
  Scorer scorer_;
  Graph original_;
  NetworkBench bench_;
  GateRule rule_;
  LayerTables tables_;
  SearchTelling telling_;

  /// Returns the options of a space of which some will be chosen.
  static SpaceOptions wide(SpaceOptions options) {
    constexpr size_t times = 3;
    options.most *= times;
    return options;
  }

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

  /// Returns false if it was stopped.
  bool fill_tables(const TableOptions& how) {
    FirstOrder first(scored_, scorer_, options_.score.network.seed);
    int workers = workers_of(options_.score);
    if (options_.space.most > 0) {
      auto few = screened(space_, options_.space.most, rule_, first, journal_, workers, how);
      if (!few) return false;
      space_ = std::move(*few);
    }
    if (options_.space.narrow) space_ = with_links(std::move(space_), timed_);
    return measure_layers(tables_, space_, timed_, bench_, journal_, how) &&
           score_layers(tables_, space_, first, journal_, workers, how);
  }

  int stopped() const {
    fmt::print("stopped; the same command goes on with it\n");
    return 1;
  }

  int finish(const SearchReport& report, const std::optional<Winner>& baseline) {
    SearchResult result = summarised(input(), report, journal_);
    EqualTuningOptions how{bench_options(options_), options_.tune, options_.score.network.seed,
                           is_interrupted, [&](const std::string& network, double elapsed) {
                             telling_.show_tuning(network, elapsed, options_.tune);
                           }};
    how.bench.seconds = 3;
    EqualTuning tuning(original_, options_.folder + "/tuned.db", journal_, how);
    if (result.found) measure_again(result, tuning);
    if (baseline) result.nas = ResultBaseline{baseline->time * 1e3, baseline->own * 1e3};
    if (result.nas && result.winner.tuned) measure_baseline(result, *baseline, tuning);
    set_origin(result);
    write_search_result(result, options_.folder);
    std::string page = write_report(options_.folder);
    write_result(options_, timed_, result, tuning.compiling(), page);
    if (options_.json) {
      nlohmann::json json = to_json(result);
      json["event"] = "end";
      fmt::print("{}\n", json.dump());
    } else {
      print_result(result, options_.folder);
    }
    return result.found ? 0 : 1;
  }

  std::optional<NetworkTimes> tuned_times(EqualTuning& tuning, const NetworkRecipe& recipe) {
    Graph graph = initialised(transformed(timed_, recipe), options_.score.network.seed);
    auto times = tuning.measure(graph, print(recipe));
    return times && times->failure.empty() ? times : std::nullopt;
  }

  /// Measures the winner again, both networks being tuned for the same time.
  void measure_again(SearchResult& result, EqualTuning& tuning) {
    auto times = tuned_times(tuning, result.winner.recipe);
    if (!times) return;
    result.original.ms = result.winner.original_ms = times->own * 1e3;
    result.winner.ms = times->time * 1e3;
    result.winner.spread = times->spread * 1e3;
    result.winner.tuned = options_.tune > 0;
    result.found = times->time < times->own;
  }

  void measure_baseline(SearchResult& result, const Winner& baseline, EqualTuning& tuning) {
    auto times = tuned_times(tuning, baseline.recipe);
    if (times) result.nas = ResultBaseline{times->time * 1e3, times->own * 1e3};
  }

  void set_origin(SearchResult& result) {
    result.lathe = lathe_version();
    result.network = options_.score.network.network;
    result.command = command_line();
    result.strategy = options_.strategy;
    result.identity = identity_;
    result.stopped = is_interrupted();
    result.threads = options_.threads;
    if (!options_.against.empty() && !result.stopped) {
      result.peers = peer_times({options_.score.network, options_.against, options_.threads});
    }
    result.seconds = telling_.seconds();
  }
};

int run(Options& options) {
  if (options.folder.empty()) options.folder = "runs/" + options.score.network.network;
  // What is wrong is said before anything is begun.
  find_strategy(options.strategy);
  find_rule(options.rule);
  limits_of(options);
  listen_to_interruptions();
  return NetworkSearch(options).run();
}

std::function<int()> prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  options->score.samples = 32;
  options->score.seeds = 2;
  options->space.most = 16;
  add_network_arguments(app, options->score.network);
  app.add_option("--work-dir", options->folder,
                 "where the search is kept; runs/NETWORK unless told");
  add_data_arguments(app, options->score);
  app.add_option("--strategy", options->strategy, "assign, evolve, random or nas");
  app.add_option("--rule", options->rule, "of the gate: two-sided, or paper");
  app.add_option("--tolerance", options->tolerance,
                 "points of accuracy that the gate may expect to be lost; 0.5 unless told")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--include", options->space.include, "layers that may change: a pattern");
  app.add_option("--exclude", options->space.exclude, "layers that may not");
  app.add_flag("--pointwise", options->space.pointwise, "1x1 convolutions may change, too");
  app.add_flag("--narrow", options->space.narrow,
               "channels may become fewer, with all that make and read them");
  app.add_option("--variants", options->space.most, "of each kind of layer; 0: all there are");
  app.add_option("--trials", options->trials, "networks that are drawn, where a strategy draws")
      ->check(CLI::Range(1L, 10000000L));
  app.add_option("--exact", options->exact, "networks that are evaluated exactly and measured")
      ->check(CLI::Range(1L, 100000L));
  app.add_option("--max-params", options->max_params, "weights of the result, as in 9M");
  app.add_option("--max-macs", options->max_macs, "products of the result, as in 300M");
  app.add_option("--constraint", options->constraint,
                 "latency=2ms: no slower than that, and as accurate as can be");
  app.add_option("--tune", options->tune,
                 "seconds for which the original and the result are tuned at the end; 0: not")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--against", options->against,
                 "compare with these on the original, too: best, onnxruntime, openvino, ...")
      ->check(CLI::IsMember(peer_names()));
  app.add_option("--threads", options->threads, "workers that the network will run with")
      ->check(CLI::Range(1, 256));
  app.add_option("--seed", options->score.network.seed, "of the search, weights and minibatches");
  app.add_flag("--json", options->json, "print events and the result as JSON, a line each");
  return [options] { return run(*options); };
}

}  // namespace

Verb optimize() { return {"optimize", "find a faster network that keeps its capacity", prepare}; }

}  // namespace lathe::cli
