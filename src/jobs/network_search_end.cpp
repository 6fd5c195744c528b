// network_search_end.cpp: what a search measures again and writes at its end. Interface:
// network_search.h.
#include <cmath>
#include <nlohmann/json.hpp>

#include "compile/embedded.h"
#include "jobs/fit.h"
#include "jobs/limits.h"
#include "jobs/made_from.h"
#include "jobs/network_search.h"
#include "jobs/page.h"
#include "jobs/precision.h"
#include "results/summary.h"

namespace lathe {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

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

/// Networks as machines elsewhere measure them: as templates choose, for nothing is tuned there.
class UntunedElsewhere : public TunedMeasurer {
 public:
  UntunedElsewhere(WorkerBench& bench, CompileOptions how) : bench_(bench), how_(std::move(how)) {}

  std::optional<NetworkTimes> measure(const Graph& candidate, const std::string& recipe) override {
    return bench_.measure_made(parse_network_recipe(recipe), [&] { return candidate; });
  }
  CompileOptions compiling() const override { return how_; }

 private:
  WorkerBench& bench_;
  CompileOptions how_;
};

}  // namespace

EqualTuningOptions NetworkSearch::tuning_options(size_t networks) const {
  double tune = is_of_others() ? 0 : options_.tune;
  double seconds = budget_.tuning_seconds(tune, static_cast<int>(networks));
  EqualTuningOptions how{bench_options(), seconds, options_.score.network.seed,
                         [this] { return listener_.is_stopped(); },
                         [this, seconds](const std::string& network, double elapsed) {
                           listener_(TuningGoesOn{network, elapsed, seconds});
                         }};
  how.bench.seconds = 3;
  return how;
}

OptimizeResult NetworkSearch::ended(SearchReport report, const std::vector<Baseline>& baselines) {
  size_t networks = 2 + baselines.size() + 2 * (precision_.offered().size() - 1);
  EqualTuningOptions how = tuning_options(networks);
  EqualTuning equal(original_, options_.folder + "/tuned.db", journal_, how);
  std::unique_ptr<TunedMeasurer> untuned;
  if (is_of_others()) {
    CompileOptions compiling = equal.compiling();
    compiling.target = target_of_machine(machine_);
    untuned = std::make_unique<UntunedElsewhere>(*elsewhere_, compiling);
  }
  TunedMeasurer& tuning = untuned              ? *untuned
                          : rounds_ != nullptr ? static_cast<TunedMeasurer&>(*rounds_)
                                               : equal;
  if (rounds_ != nullptr) choose_by_wholes(report);
  std::optional<NetworkTimes> times;
  if (report.best) times = tuned_times(tuning, report.best->recipe, precision_.original());
  if (times) set_times(report, *times);
  SearchResult result = summarised(input(), report, journal_);
  bool is_tuned = rounds_ != nullptr || how.seconds > 0;  // 0 where machines elsewhere measure
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

void NetworkSearch::choose_by_wholes(SearchReport& report) {
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

std::optional<NetworkTimes> NetworkSearch::tuned_times(TunedMeasurer& tuning,
                                                       const NetworkRecipe& recipe,
                                                       Precision others) {
  Graph graph = initialised(transformed(timed_, recipe), options_.score.network.seed);
  bool is_own = others == precision_.original();
  std::string name = is_own ? print(recipe) : fmt::format("{}: {}", name_of(others), print(recipe));
  auto times = tuning.measure(precision_.timed(graph, recipe, others), name);
  return times && times->failure.empty() ? times : std::nullopt;
}

void NetworkSearch::set_times(SearchReport& report, const NetworkTimes& times) {
  report.best->own = times.own;
  report.best->time = times.time;
  report.best->spread = times.spread;
  report.best->checks = times.checks;
  report.best->original_checks = times.own_checks;
  if (times.time < times.own) return;
  report.best.reset();
  ++report.reasons["it is no faster than the original when both are tuned"];
}

void NetworkSearch::set_baselines(SearchResult& result, const std::vector<Baseline>& baselines,
                                  TunedMeasurer& tuning, bool tuned) {
  if (baselines.empty()) return;
  result.blocks = ResultBlocks{most_variants(blocks_), log_size(blocks_), {}};
  for (const Baseline& baseline : baselines) {
    ResultBaseline each = baseline_of(input(blocks_, block_tables_), baseline.report, baseline.way);
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

void NetworkSearch::set_precisions(SearchResult& result, TunedMeasurer& tuning) {
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

void NetworkSearch::set_origin(SearchResult& result) {
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

void NetworkSearch::write(const SearchResult& result, const CompileOptions& how,
                          const std::optional<Graph>& fitted) {
  write_search_result(result, options_.folder);
  std::string page = write_report(options_.folder, "", &timed_);
  Making making{origin_of(options_.score.network)};
  making.seed = options_.score.network.seed;
  if (rounds_ != nullptr || is_of_others()) making.machine = identity_.at("machine");
  if (rounds_ != nullptr) {
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
  make_bundle(network, recipe, making, how, bundle(), page, fitted ? &*fitted : nullptr,
              narrow ? &*narrow : nullptr);
}

}  // namespace lathe
