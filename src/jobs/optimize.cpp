// optimize.cpp: a search as a whole. Interface: optimize.h.
#include "jobs/optimize.h"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/random.h"
#include "compile/embedded.h"
#include "compile/tuned.h"
#include "jobs/budget.h"
#include "jobs/fit.h"
#include "jobs/judging.h"
#include "jobs/limits.h"
#include "jobs/made_from.h"
#include "jobs/page.h"
#include "jobs/peers.h"
#include "jobs/precision.h"
#include "jobs/search_precision.h"
#include "jobs/work_folder.h"
#include "results/summary.h"
#include "search/equal_tuning.h"
#include "search/precision_tables.h"

namespace lathe {
namespace {

using Phase = Budget::Phase;

constexpr double infinity = std::numeric_limits<double>::infinity();

Journal::Identity identity_of(const OptimizeOptions& options, const Graph& network,
                              const GateRule& rule) {
  const ScoreArguments& score = options.score;
  Journal::Identity result{
      {"network", fmt::format("{} {:016x}", network.name, structural_hash(network))},
      {"version of Lathe", std::string(lathe_version())},
      {"machine", tuned_target(options.gpu ? *options.gpu : native_target())},
      {"data", score.data + " " + score.normalize + (is_by_outputs(score) ? ", by outputs" : "")},
      {"scoring",
       fmt::format("{} samples, {} seeds from {}", score.samples, score.seeds, score.network.seed)},
      {"rule", fmt::format("{} {:016x}, {} points", rule.name, hash_bytes(to_json(rule).dump()),
                           rule.tolerance)},
      {"number of threads", std::to_string(options.threads)}};
  if (options.precision != name_of(Precision::f32)) result["precision"] = options.precision;
  return result;
}

std::string bundle_in(const std::string& folder) { return folder + "/bundle"; }

GateRule with_tolerance(GateRule rule, double tolerance) {
  rule.tolerance = tolerance;
  return rule;
}

/// Returns the space that a strategy is for, before any of it is screened.
NetworkSpace space_for(const Strategy& strategy, const Graph& network, SpaceOptions options) {
  if (strategy.space == SpaceOf::blocks) return block_space(network, options);
  options.most *= scored_for_each;
  return network_space(network, options);
}

BenchOptions bench_options(const OptimizeOptions& options) {
  BenchOptions bench;
  bench.target = native_target();
  bench.threads = options.threads;
  bench.max_error = options.score.max_error;
  return bench;
}

nlohmann::json about(const SearchResult& result, const ScoreArguments& score) {
  nlohmann::json all = to_json(result), about{{"network", result.network},
                                              {"threads", result.threads},
                                              {"original_ms", result.winner.original_ms},
                                              {"ms", result.winner.ms},
                                              {"normalize", score.normalize},
                                              {"loss", score.loss}};
  if (result.winner.verdict) about["verdict"] = all["winner"]["verdict"];
  return about;
}

/// Everything that a search needs, in the order in which it is made. What is wrong with the options
/// is found here, before anything is searched.
class NetworkSearch {
 public:
  /// "rounds" measures on a GPU; null: networks are measured on this machine.
  NetworkSearch(const OptimizeOptions& options, const JobListener& listener, RoundBench* rounds)
      : options_(options),
        listener_(listener),
        rounds_(rounds),
        strategy_(find_strategy(options.strategy)),
        budget_(options.budget),
        space_(reachable_space(strategy_, load_network(options.score.network), options, listener)),
        judge_(options.judge ? options.judge : judge_for(options.score, options.rule, listener)),
        precision_(options.precision, options.score, *judge_, listener),
        timed_(judge_->network),
        rule_(with_tolerance(judge_->rule, options.rule.tolerance)),
        folder_(options.folder),
        identity_(identity_of(options, timed_, rule_)),
        journal_(own_folder(options.folder), identity_),
        original_(precision_.timed(initialised(timed_, options.score.network.seed), {},
                                   precision_.original())) {
    base_ = precision_.original();
    if (rounds_ == nullptr) {
      here_ = std::make_unique<NetworkBench>(original_, bench_options(options));
    } else {
      folder_.keep();
      rounds_->begin(original_);
    }
    if (!options.known_in.empty()) journal_.adopt(options.known_in);
    compare_with_peers();
    measure_original();
    folder_.keep();
  }

  OptimizeResult run() {
    bool done = is_kept_by_original(options_.limits, space_, own_);
    // There is nothing to choose then: layers stay as they were.
    if (done) leave_originals(space_);
    if (!fill_tables(!done)) return {options_.folder, true};
    if (done) return ended({}, {});
    refine_widths();
    if (precision_.is_any()) offer_precisions();
    SearchReport report =
        searched(strategy_, input(), strategy_.name, Phase::trying, precision_.original());
    return ended(report, compared());
  }

 private:
  /// What one way of choosing from the list of blocks came to, by the same gate.
  struct Baseline {
    std::string way;
    SearchReport report;
  };

  const OptimizeOptions& options_;
  const JobListener& listener_;
  RoundBench* rounds_;
  const Strategy& strategy_;
  Budget budget_;
  NetworkSpace space_;
  std::shared_ptr<SearchJudge> judge_;
  SearchPrecision precision_;
  const Graph& timed_;  // in f32
  GateRule rule_;
  WorkFolder folder_;
  Journal::Identity identity_;
  Journal journal_;
  Graph original_;
  std::unique_ptr<NetworkBench> here_;
  std::vector<ResultPeer> peers_;
  double own_ = 0;  // seconds of the original, where a constraint asks for them
  LayerTables tables_;
  Precision base_ = Precision::f32;           // in which variants are measured
  std::vector<PrecisionTable> in_precision_;  // the original in each precision, where any is wanted
  NetworkSpace blocks_;                       // the list of blocks, to compare with
  LayerTables block_tables_;

  NetworkMeasurer& bench() {
    if (rounds_ != nullptr) return *rounds_;
    return *here_;
  }

  /// Returns the folder of a search. Fails where its bundle holds what must not be replaced.
  static const std::string& own_folder(const std::string& folder) {
    std::error_code ignored;
    std::string bundle = bundle_in(folder);
    if (std::filesystem::exists(bundle, ignored)) check_bundle_folder(bundle);
    return folder;
  }

  static NetworkSpace reachable_space(const Strategy& strategy, const Graph& network,
                                      const OptimizeOptions& options, const JobListener& listener) {
    SpaceOptions how = options.space;
    how.progress = [&](size_t done, size_t all) {
      listener(WorkDone{"kinds of layers composed", done, all});
    };
    NetworkSpace space = space_for(strategy, network, how);
    // Links take away channels, which no variant alone does.
    check_reachable(options.limits,
                    options.space.narrow ? with_links(space, network, options.space) : space);
    return space;
  }

  static void leave_originals(NetworkSpace& space) {
    for (LayerKind& kind : space.kinds) kind.variants.resize(1);
  }

  StrategyInput input() const { return input(space_, tables_); }

  StrategyInput input(const NetworkSpace& space, const LayerTables& tables) const {
    return {space,
            tables,
            rule_,
            options_.limits,
            options_.trials,
            options_.exact,
            options_.score.network.seed};
  }

  /// Measures other libraries on the original, unless the journal knows them.
  void compare_with_peers() {
    if (options_.against.empty()) return;
    constexpr const char* subject = "peers";
    auto known = journal_.find(subject, options_.against);
    if (!known) {
      PeerReport report = measured_peers(
          {options_.score.network, options_.against, options_.lathe, options_.threads});
      Trial trial{.subject = subject, .recipe = options_.against};
      trial.details = nlohmann::json::array();
      for (const ResultPeer& peer : report.times) {
        trial.details.push_back({peer.name, peer.ms, peer.original_ms});
      }
      for (const PeerLeftOut& peer : report.left_out) {
        listener_(JobWarning{fmt::format("{} is left out: {}", peer.name, peer.reason)});
      }
      journal_.add(trial);
      known = trial;
    }
    for (const nlohmann::json& peer : known->details) peers_.push_back({peer[0], peer[1], peer[2]});
  }

  /// Measures the original where a constraint asks for its time, and checks that it can be kept.
  void measure_original() {
    if (!std::isfinite(options_.limits.time)) return;
    constexpr const char* all = "seconds of the original";
    const char* rest = options_.space.narrow ? "seconds of what has no channels that can be fewer"
                                             : "seconds of what cannot change";
    if (!journal_.number(all) || !journal_.number(rest)) {
      NetworkTimes times;
      try {
        times = bench().measure(original_);
      } catch (const JobsWait&) {
        own_ = infinity;  // the tables ask for much more, and it is measured with them
        return;
      }
      if (!times.failure.empty()) fail("the original cannot be measured: {}", times.failure);
      journal_.set_number(all, times.own);
      journal_.set_number(rest, time_of_rest(linked(), times));
    }
    own_ = *journal_.number(all);
    check_reachable(options_.limits, *journal_.number(rest), own_);
  }

  TableOptions table_options(Phase phase) const {
    return {options_.score.network.seed,
            precision_.is_any() ? base_ : Precision::f32,
            finish_in(base_),
            [this](const TableProgress& at) {
              listener_(WorkDone{at.what, at.done, at.all});
            },
            [this] { return listener_.is_stopped(); },
            [this, phase] { return budget_.is_spent(phase); }};
  }

  /// Returns what gives networks the precision of their recipes, and all other layers this one.
  NetworkFinish finish_in(Precision others) const {
    if (precision_.is_plain()) return nullptr;
    return [this, others](const Graph& network, const NetworkRecipe& recipe) {
      return precision_.timed(network, recipe, others);
    };
  }

  /// Returns the space with links, if channels may become fewer.
  NetworkSpace linked() const {
    return options_.space.narrow ? with_links(space_, timed_, options_.space) : space_;
  }

  /// Fills the tables, of links too or of what layers become alone. Returns false if it was
  /// stopped.
  bool fill_tables(bool links) {
    int workers = workers_of(options_.score);
    bool is_list = strategy_.space == SpaceOf::blocks;  // of which nothing is left out
    if (options_.space.most > 0 && !is_list) {
      auto few = screened(space_, options_.space.most, rule_, *judge_->layers, journal_, workers,
                          table_options(Phase::looking));
      if (!few) return false;
      space_ = std::move(*few);
    }
    if (links && !is_list) space_ = linked();
    if (precision_.is_any()) {
      space_ = with_every_layer(std::move(space_), timed_);
      if (!measure_precisions()) return false;
    }
    tables_.mixing = std::make_shared<AssignmentMixing>(timed_, space_);
    return measure_tables() && score_layers(tables_, space_, *judge_->layers, journal_, workers,
                                            table_options(Phase::scoring));
  }

  /// Measures all variants; what is measured elsewhere together with those of the list of blocks.
  bool measure_tables() {
    try {
      return measure_layers(tables_, space_, timed_, bench(), journal_,
                            table_options(Phase::measuring));
    } catch (const JobsWait&) {
      if (options_.blocks && strategy_.space != SpaceOf::blocks) {
        measure_layers(block_tables_, block_space(timed_, options_.space), timed_, bench(),
                       journal_, table_options(Phase::comparing));
      }
      throw;
    }
  }

  /// Measures the original in each precision, and looks how good it is then. The fastest that loses
  /// no more than is allowed is the base: variants are measured in it. Returns false if it was
  /// stopped.
  bool measure_precisions() {
    for (Precision each : precision_.offered()) {
      if (listener_.is_stopped()) return false;
      listener_(WorkDone{"precisions tried", in_precision_.size(), precision_.offered().size()});
      Graph narrow = precision_.timed(original_, {}, each);
      PrecisionTable table = measured_in(each, space_, narrow, bench(), journal_);
      if (table.failure.empty()) table.points = points_of({}, each);
      if (!table.failure.empty()) {
        listener_(
            JobWarning{fmt::format("no layer is tried in {}: {}", name_of(each), table.failure)});
      }
      in_precision_.push_back(std::move(table));
    }
    double best = infinity;
    for (const PrecisionTable& table : in_precision_) {
      bool may = table.failure.empty() && table.points >= -rule_.tolerance;
      if (!may || table.time / table.own >= best) continue;
      best = table.time / table.own;
      base_ = table.precision;
    }
    return true;
  }

  /// Returns how many points of accuracy a network gains by its precision, as far as that is known;
  /// the journal keeps it.
  double points_of(const NetworkRecipe& recipe, Precision others) {
    std::string key =
        fmt::format("points of precision, others {}: {}", name_of(others), print(recipe));
    if (auto known = journal_.number(key)) return *known;
    auto judged = precision_.judged(recipe, others);
    double points = judged ? judged->points : 0;
    journal_.set_number(key, points);
    return points;
  }

  /// Lets each layer have any precision.
  void offer_precisions() {
    KnownSpace all = with_precisions(space_, tables_, in_precision_, base_);
    space_ = std::move(all.space);
    tables_ = std::move(all.tables);
    tables_.mixing = std::make_shared<AssignmentMixing>(timed_, space_);
  }

  /// Chooses how many channels are left by the tables alone, among few numbers; then looks at
  /// others near to those. A strategy that has no first choice by the tables chooses among the few.
  void refine_widths() {
    for (Spacing spacing : {Spacing::sixteenths, Spacing::steps}) {
      if (space_.links.empty()) return;
      StrategyInput in = input();
      in.readable = false;
      auto proposal = strategy_.begin(in)->propose();
      if (!proposal || !proposal->exact) return;
      KnownSpace near = refined(space_, tables_, proposal->assignment, spacing);
      space_ = std::move(near.space);
      tables_ = std::move(near.tables);
      tables_.mixing = std::make_shared<AssignmentMixing>(timed_, space_);
    }
  }

  /// Runs a strategy on tables; "name" is what listeners are told of it. Layers have the precision
  /// "others" where a recipe does not say.
  SearchReport searched(const Strategy& strategy, const StrategyInput& in, const std::string& name,
                        Phase phase, Precision others) {
    std::function<double(const NetworkRecipe&)> points;
    if (!precision_.is_plain() && judge_->is_trained) {
      points = [this, others](const NetworkRecipe& recipe) { return points_of(recipe, others); };
    }
    SearchLaboratory laboratory{timed_,
                                judge_->compare,
                                options_.score.network.seed,
                                finish_in(others),
                                points,
                                bench(),
                                journal_,
                                [&](const Trial& trial, long n) {
                                  listener_(NetworkTried{trial, n, name});
                                },
                                [&] { return listener_.is_stopped() || budget_.is_spent(phase); }};
    return run_search(strategy, in, laboratory);
  }

  /// Measures and scores the list of blocks, all of it; what the journal knows is not done again.
  /// Returns false if it was stopped.
  bool fill_block_tables() {
    if (strategy_.space == SpaceOf::blocks) {
      blocks_ = space_;
      block_tables_ = tables_;
      return true;
    }
    blocks_ = block_space(timed_, options_.space);
    block_tables_.mixing = std::make_shared<AssignmentMixing>(timed_, blocks_);
    TableOptions how = table_options(Phase::comparing);
    return measure_layers(block_tables_, blocks_, timed_, bench(), journal_, how) &&
           score_layers(block_tables_, blocks_, *judge_->layers, journal_,
                        workers_of(options_.score), how);
  }

  /// Chooses from the list of blocks: at random, as searches over blocks do, and by the same
  /// integer program that chooses among what steps compose. What the search itself did is left out.
  std::vector<Baseline> compared() {
    std::vector<Baseline> result;
    if (!options_.blocks || listener_.is_stopped() || !fill_block_tables()) return result;
    // A list of which a part was measured would be no fair one.
    if (budget_.is_spent(Phase::comparing)) return result;
    const std::pair<const char*, const char*> ways[] = {{"sampled", "nas"}, {"assigned", "assign"}};
    for (auto [way, strategy] : ways) {
      if (strategy_.name == strategy && strategy_.space == SpaceOf::blocks) continue;
      if (listener_.is_stopped()) break;
      result.push_back({way, searched(find_strategy(strategy), input(blocks_, block_tables_),
                                      fmt::format("blocks {}", way), Phase::comparing, base_)});
    }
    return result;
  }

  EqualTuningOptions tuning_options(size_t networks) const {
    double seconds = budget_.tuning_seconds(options_.tune, static_cast<int>(networks));
    EqualTuningOptions how{bench_options(options_), seconds, options_.score.network.seed,
                           [this] { return listener_.is_stopped(); },
                           [this, seconds](const std::string& network, double elapsed) {
                             listener_(TuningGoesOn{network, elapsed, seconds});
                           }};
    how.bench.seconds = 3;
    return how;
  }

  /// Measures what was found again, all being tuned for the same time; writes result and bundle.
  OptimizeResult ended(SearchReport report, const std::vector<Baseline>& baselines) {
    size_t networks = 2 + baselines.size() + 2 * (precision_.offered().size() - 1);
    EqualTuningOptions how = tuning_options(networks);
    EqualTuning equal(original_, options_.folder + "/tuned.db", journal_, how);
    TunedMeasurer& tuning = rounds_ != nullptr ? static_cast<TunedMeasurer&>(*rounds_) : equal;
    if (rounds_ != nullptr) choose_by_wholes(report);
    std::optional<NetworkTimes> times;
    if (report.best) times = tuned_times(tuning, report.best->recipe, precision_.original());
    if (times) set_times(report, *times);
    SearchResult result = summarised(input(), report, journal_);
    bool is_tuned = rounds_ != nullptr || how.seconds > 0;
    result.winner.tuned = result.found && times && is_tuned;
    set_baselines(result, baselines, tuning, is_tuned);
    if (rounds_ != nullptr) rounds_->expect_all();
    if (report.best && strategy_.space == SpaceOf::steps && !rule_.is_paper) {
      result.families = families_of(input(), report.best->assignment);
    }
    result.limits = limits_reached(input(), result, report.fastest_accepted);
    set_origin(result);
    std::optional<Graph> fitted;
    if (judge_->is_trained && result.found) {
      Agreement own = judge_->agreement(),
                now = precision_.judged(result.winner.recipe, precision_.original())->agreement;
      result.accuracy = {own.percent, now.percent, own.samples};
      if (is_by_outputs(options_.score)) result.accuracy->of = "outputs";
      fitted = judge_->fit(result.winner.recipe).fit.network;
    }
    set_precisions(result, tuning);
    write(result, tuning.compiling(), fitted);
    bool stopped = result.stopped;
    return {options_.folder, stopped, std::nullopt, std::move(result)};
  }

  /// Measures the networks that are fastest by their units as wholes: the fastest of these is best.
  void choose_by_wholes(SearchReport& report) {
    constexpr size_t few = 3;
    std::vector<Winner> fastest;
    for (const Winner& each : report.passed) {
      if (!each.recipe.empty()) fastest.push_back(each);
    }
    std::stable_sort(fastest.begin(), fastest.end(),
                     [](const Winner& a, const Winner& b) { return a.time < b.time; });
    if (fastest.size() > few) fastest.resize(few);
    // Where the time is given, the most accurate was chosen.
    if (std::isfinite(options_.limits.time)) fastest.clear();
    double least = infinity;
    for (const Winner& each : fastest) {
      auto times = tuned_times(*rounds_, each.recipe, precision_.original());
      if (!times || times->time >= least) continue;
      least = times->time;
      report.best = each;
    }
  }

  /// Measures a network that is tuned as long as the original. Layers that the recipe says nothing
  /// of have the precision "others".
  std::optional<NetworkTimes> tuned_times(TunedMeasurer& tuning, const NetworkRecipe& recipe,
                                          Precision others) {
    Graph graph = initialised(transformed(timed_, recipe), options_.score.network.seed);
    bool is_own = others == precision_.original();
    std::string name =
        is_own ? print(recipe) : fmt::format("{}: {}", name_of(others), print(recipe));
    auto times = tuning.measure(precision_.timed(graph, recipe, others), name);
    return times && times->failure.empty() ? times : std::nullopt;
  }

  /// Sets the times of the best network to those that were measured at the end. One that is no
  /// faster than the original then is not the best.
  static void set_times(SearchReport& report, const NetworkTimes& times) {
    report.best->own = times.own;
    report.best->time = times.time;
    report.best->spread = times.spread;
    report.best->checks = times.checks;
    report.best->original_checks = times.own_checks;
    if (times.time < times.own) return;
    report.best.reset();
    ++report.reasons["it is no faster than the original when both are tuned"];
  }

  /// Measures the best of the list of blocks as the winner is measured, tuned for the same time.
  void set_baselines(SearchResult& result, const std::vector<Baseline>& baselines,
                     TunedMeasurer& tuning, bool tuned) {
    if (baselines.empty()) return;
    result.blocks = ResultBlocks{most_variants(blocks_), log_size(blocks_), {}};
    for (const Baseline& baseline : baselines) {
      ResultBaseline each =
          baseline_of(input(blocks_, block_tables_), baseline.report, baseline.way);
      std::optional<NetworkTimes> times;
      if (baseline.report.best) times = tuned_times(tuning, baseline.report.best->recipe, base_);
      if (times) {
        each.ms = times->time * 1e3;
        each.original_ms = times->own * 1e3;
        each.tuned = tuned;
      }
      result.blocks->ways.push_back(std::move(each));
    }
  }

  /// Measures the original, and what the winner's other steps make of it, in each precision, as the
  /// winner is measured.
  void set_precisions(SearchResult& result, TunedMeasurer& tuning) {
    if (!precision_.is_any() || in_precision_.empty()) return;
    NetworkRecipe steps = without_precisions(result.winner.recipe);
    result.precisions.emplace();
    for (const PrecisionTable& table : in_precision_) {
      if (!table.failure.empty()) continue;
      ResultPrecision each{.precision = name_of(table.precision)};
      auto times = tuned_times(tuning, {}, table.precision);
      each.ms = (times ? times->time : table.time) * 1e3;
      each.original_ms = (times ? times->own : table.own) * 1e3;
      if (judge_->is_trained) each.accuracy = judge_->agreement().percent + table.points;
      if (!steps.empty()) times = tuned_times(tuning, steps, table.precision);
      if (!steps.empty() && times) {
        each.winner_ms = times->time * 1e3;
        each.winner_original_ms = times->own * 1e3;
      }
      result.precisions->push_back(std::move(each));
    }
  }

  void set_origin(SearchResult& result) {
    result.lathe = lathe_version();
    result.network = options_.score.network.network;
    result.command = options_.command;
    result.strategy = options_.strategy;
    result.identity = identity_;
    result.stopped = listener_.is_stopped();
    result.threads = options_.threads;
    result.peers = peers_;
    result.seconds = budget_.elapsed();
  }

  /// Writes the result and the page, and compiles the network as it was measured for the bundle.
  /// The recipe of a trained network begins with the order of its channels, so that it is for the
  /// network as the user has it.
  void write(const SearchResult& result, const CompileOptions& how,
             const std::optional<Graph>& fitted) {
    write_search_result(result, options_.folder);
    std::string page = write_report(options_.folder, "", &timed_);
    Making making{origin_of(options_.score.network)};
    making.seed = options_.score.network.seed;
    if (rounds_ != nullptr) {
      making.machine = identity_.at("machine");
      if (options_.jobs.host != "native") making.host = options_.jobs.host;
    }
    making.about = about(result, options_.score);
    if (fitted) making.fitted = {options_.score.data, options_.score.normalize, fitted_samples};
    NetworkRecipe recipe = result.found ? judge_->order : NetworkRecipe();
    recipe.insert(recipe.end(), result.winner.recipe.begin(), result.winner.recipe.end());
    Graph network = load_network(options_.score.network);
    std::optional<Graph> narrow;
    if (!precision_.is_plain()) {
      const CalibrationSource& from = precision_.calibration();
      making.precision = {precision_.original(), from.data,
                          from.data.empty() ? "" : options_.score.normalize, from.images};
      Graph changed = initialised(fitted ? *fitted : transformed(network, recipe), making.seed);
      narrow = precision_.made(changed, result.winner.recipe, precision_.original());
    }
    make_bundle(network, recipe, making, how, bundle_in(options_.folder), page,
                fitted ? &*fitted : nullptr, narrow ? &*narrow : nullptr);
  }
};

}  // namespace

namespace {

/// Searches with networks that are measured on a GPU. Where that is elsewhere, the search ends when
/// it knows what is to be measured next, and goes on in the next call.
OptimizeResult optimize_for_gpu(const OptimizeOptions& options, const JobListener& listener) {
  check_precision_on_gpu(options.precision);
  WorkFolder work(options.folder);
  JobFolderOptions jobs = options.jobs;
  if (jobs.folder.empty()) jobs.folder = options.folder + "/jobs";
  JobFolder folder(jobs);
  TunedStore store(options.folder + "/tuned.db");
  RoundBenchOptions how;
  how.seed = options.score.network.seed;
  how.threads = options.threads;
  how.max_error = options.score.max_error;
  how.stop = [&] { return listener.is_stopped(); };
  how.progress = [&](size_t done, size_t all) {
    listener(WorkDone{"candidates compiled", done, all});
  };
  RoundBench rounds(folder, *options.gpu, store, how);
  while (true) {
    try {
      OptimizeResult result = NetworkSearch(options, listener, &rounds).run();
      work.keep();
      return result;
    } catch (const JobsWait&) {
      work.keep();
      RoundsWaiting waiting = rounds.next_round();
      if (!waiting.stopped && waiting.jobs == 0) continue;
      if (waiting.stopped) throw JobStopped();
      if (!rounds.run()) return {options.folder, false, waiting};
      if (listener.is_stopped()) throw JobStopped();
    }
  }
}

}  // namespace

OptimizeOptions thorough(OptimizeOptions options) {
  auto raise = [](auto& value, const auto& usual, auto large) {
    if (value == usual) value = large;
  };
  OptimizeOptions usual;
  raise(options.space.most, usual.space.most, size_t{60});
  raise(options.exact, usual.exact, 20L);
  raise(options.score.samples, usual.score.samples, 64L);
  raise(options.score.seeds, usual.score.seeds, 3L);
  raise(options.tune, usual.tune, 180.0);
  return options;
}

OptimizeResult optimize(OptimizeOptions options, const JobListener& listener) {
  if (options.folder.empty()) options.folder = work_folder_of(options.score.network.network);
  try {
    if (options.gpu) return optimize_for_gpu(options, listener);
    long lanes = native_target().lanes(size_of(Element::f32));
    options.space.channel_step = std::max(options.space.channel_step, lanes);
    return NetworkSearch(options, listener, nullptr).run();
  } catch (const JobStopped&) {
    return {options.folder, true};
  }
}

bool is_success(const SearchResult& result) {
  bool asked = std::any_of(result.limits.begin(), result.limits.end(),
                           [](const ResultLimit& limit) { return limit.what == "latency"; });
  bool all_met = std::all_of(result.limits.begin(), result.limits.end(),
                             [](const ResultLimit& limit) { return limit.met; });
  return result.found || (asked && all_met);
}

}  // namespace lathe
