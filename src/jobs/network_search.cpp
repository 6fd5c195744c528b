// network_search.cpp: what a search knows and chooses. Interface: network_search.h.
#include "jobs/network_search.h"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "bundle/bundle.h"
#include "compile/embedded.h"
#include "compile/tuned.h"
#include "jobs/limits.h"
#include "jobs/peers.h"
#include "jobs/search_tasks.h"
#include "search/task_forms.h"

namespace lathe {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Journal::Identity identity_of(const OptimizeOptions& options, const Graph& network,
                              const GateRule& rule, const nlohmann::json& machine) {
  const ScoreArguments& score = options.score;
  Journal::Identity result{
      {"network", fmt::format("{} {:016x}", network.name, structural_hash(network))},
      {"version of Lathe", std::string(lathe_version())},
      {"machine", machine.is_null() ? tuned_target(options.gpu ? *options.gpu : native_target())
                                    : machine["machine"].get<std::string>()},
      {"data", score.data + " " + score.normalize + (is_by_outputs(score) ? ", by outputs" : "")},
      {"scoring",
       fmt::format("{} samples, {} seeds from {}", score.samples, score.seeds, score.network.seed)},
      {"rule", fmt::format("{} {:016x}, {} points", rule.name, hash_bytes(to_json(rule).dump()),
                           rule.tolerance)},
      {"number of threads", std::to_string(options.threads)}};
  if (options.precision != name_of(Precision::f32)) result["precision"] = options.precision;
  return result;
}

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

}  // namespace

NetworkSearch::NetworkSearch(const OptimizeOptions& options, const JobListener& listener,
                             RoundBench* rounds)
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
      pool_(pool_for(options, listener)),
      machine_(machine_of(pool_.get(), listener)),
      identity_(identity_of(options, timed_, rule_, machine_)),
      journal_(own_folder(options.folder), identity_),
      original_(precision_.timed(initialised(timed_, options.score.network.seed), {},
                                 precision_.original())) {
  base_ = precision_.original();
  if (pool_) {
    use_workers();
  } else if (rounds_ == nullptr) {
    here_ = std::make_unique<NetworkBench>(original_, bench_options());
  } else {
    folder_.keep();
    rounds_->begin(original_);
  }
  if (!options.known_in.empty()) journal_.adopt(options.known_in);
  if (!options.scores_in.empty()) journal_.adopt_scores(options.scores_in);
  compare_with_peers();
  measure_original();
  folder_.keep();
}

OptimizeResult NetworkSearch::run() {
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

std::unique_ptr<WorkerPool> NetworkSearch::pool_for(const OptimizeOptions& options,
                                                    const JobListener& listener) {
  if (options.workers.address.empty()) return nullptr;
  nlohmann::json search = to_json(TaskSearch{options.score, options.rule, options.threads});
  return std::make_unique<WorkerPool>(
      options.workers, search, about_this_machine(),
      [&listener](const std::string& text) { listener(JobWarning{text}); });
}

nlohmann::json NetworkSearch::machine_of(WorkerPool* pool, const JobListener& listener) {
  if (pool == nullptr) return nullptr;
  nlohmann::json machine = pool->machine([&] { return listener.is_stopped(); });
  if (machine.is_null()) throw JobStopped();
  return machine;
}

void NetworkSearch::use_workers() {
  scores_elsewhere_ = std::make_unique<WorkerScores>(
      *pool_, *judge_->layers, [this](const std::string& text) { listener_(JobWarning{text}); });
  elsewhere_ = std::make_unique<WorkerBench>(
      *pool_, [this] { return listener_.is_stopped(); }, [] { throw JobStopped(); });
}

std::vector<Comparison> NetworkSearch::compared(const NetworkRecipe& recipe) {
  if (!pool_) return judge_->compare(recipe);
  pool_->ask({{"do", "network"}, {"recipe", print(recipe)}});
  auto answer = pool_->next([this] { return listener_.is_stopped(); });
  if (!answer) throw JobStopped();
  if (!answer->failure.empty()) fail("{}", answer->failure);
  return comparisons_from_json(answer->result.at("comparisons"));
}

BenchOptions NetworkSearch::bench_options() const {
  BenchOptions bench;
  bench.target = native_target();
  bench.threads = options_.threads;
  bench.max_error = options_.score.max_error;
  return bench;
}

const std::string& NetworkSearch::own_folder(const std::string& folder) {
  std::error_code ignored;
  std::string bundle = folder + "/bundle";
  if (std::filesystem::exists(bundle, ignored)) check_bundle_folder(bundle);
  return folder;
}

NetworkSpace NetworkSearch::reachable_space(const Strategy& strategy, const Graph& network,
                                            const OptimizeOptions& options,
                                            const JobListener& listener) {
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

void NetworkSearch::leave_originals(NetworkSpace& space) {
  for (LayerKind& kind : space.kinds) kind.variants.resize(1);
}

StrategyInput NetworkSearch::input(const NetworkSpace& space, const LayerTables& tables) const {
  return {space,
          tables,
          rule_,
          options_.limits,
          options_.trials,
          options_.exact,
          options_.score.network.seed};
}

void NetworkSearch::compare_with_peers() {
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

void NetworkSearch::measure_original() {
  if (!std::isfinite(options_.limits.time)) return;
  constexpr const char* all = "seconds of the original";
  const char* rest = options_.space.narrow ? "seconds of what has no channels that can be fewer"
                                           : "seconds of what cannot change";
  if (!journal_.number(all) || !journal_.number(rest)) {
    NetworkTimes times;
    try {
      times = bench().measure_made({}, [this] { return original_; });
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

TableOptions NetworkSearch::table_options(Phase phase) const {
  return {options_.score.network.seed,
          precision_.is_any() ? base_ : Precision::f32,
          finish_in(base_),
          [this](const TableProgress& at) {
            listener_(WorkDone{at.what, at.done, at.all});
          },
          [this] { return listener_.is_stopped(); },
          [this, phase] { return budget_.is_spent(phase); }};
}

NetworkFinish NetworkSearch::finish_in(Precision others) const {
  if (precision_.is_plain()) return nullptr;
  return [this, others](const Graph& network, const NetworkRecipe& recipe) {
    return precision_.timed(network, recipe, others);
  };
}

NetworkSpace NetworkSearch::linked() const {
  return options_.space.narrow ? with_links(space_, timed_, options_.space) : space_;
}

bool NetworkSearch::fill_tables(bool links) {
  int workers = workers_of(options_.score);
  bool is_list = strategy_.space == SpaceOf::blocks;  // of which nothing is left out
  if (options_.space.most > 0 && !is_list) {
    auto few = screened(space_, options_.space.most, rule_, layers(), journal_, workers,
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
  return measure_tables() &&
         score_layers(tables_, space_, layers(), journal_, workers, table_options(Phase::scoring));
}

bool NetworkSearch::measure_tables() {
  try {
    return measure_variants(tables_, space_, Phase::measuring);
  } catch (const JobsWait&) {
    if (options_.blocks && strategy_.space != SpaceOf::blocks) {
      measure_variants(block_tables_, block_space(timed_, options_.space), Phase::comparing);
    }
    throw;
  }
}

bool NetworkSearch::measure_variants(LayerTables& tables, const NetworkSpace& space, Phase phase) {
  auto measure = [&] {
    return measure_layers(tables, space, timed_, bench(), journal_, table_options(phase));
  };
  return elsewhere_ ? elsewhere_->together(measure) : measure();
}

bool NetworkSearch::measure_precisions() {
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

double NetworkSearch::points_of(const NetworkRecipe& recipe, Precision others) {
  std::string key =
      fmt::format("points of precision, others {}: {}", name_of(others), print(recipe));
  if (auto known = journal_.number(key)) return *known;
  auto judged = precision_.judged(recipe, others);
  double points = judged ? judged->points : 0;
  journal_.set_number(key, points);
  return points;
}

void NetworkSearch::offer_precisions() {
  KnownSpace all = with_precisions(space_, tables_, in_precision_, base_);
  space_ = std::move(all.space);
  tables_ = std::move(all.tables);
  tables_.mixing = std::make_shared<AssignmentMixing>(timed_, space_);
}

void NetworkSearch::refine_widths() {
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

SearchReport NetworkSearch::searched(const Strategy& strategy, const StrategyInput& in,
                                     const std::string& name, Phase phase, Precision others) {
  std::function<double(const NetworkRecipe&)> points;
  if (!precision_.is_plain() && judge_->is_trained) {
    points = [this, others](const NetworkRecipe& recipe) { return points_of(recipe, others); };
  }
  SearchLaboratory laboratory{timed_,
                              [&](const NetworkRecipe& each) { return compared(each); },
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

bool NetworkSearch::fill_block_tables() {
  if (strategy_.space == SpaceOf::blocks) {
    blocks_ = space_;
    block_tables_ = tables_;
    return true;
  }
  blocks_ = block_space(timed_, options_.space);
  block_tables_.mixing = std::make_shared<AssignmentMixing>(timed_, blocks_);
  TableOptions how = table_options(Phase::comparing);
  return measure_variants(block_tables_, blocks_, Phase::comparing) &&
         score_layers(block_tables_, blocks_, layers(), journal_, workers_of(options_.score), how);
}

std::vector<NetworkSearch::Baseline> NetworkSearch::compared() {
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

}  // namespace lathe
