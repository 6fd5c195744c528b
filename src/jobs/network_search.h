// A search of a network, step by step: space, tables, choice, and what is made of the winner. Its
// interface to others is optimize() (optimize.h).
//
//   NetworkSearch search(options, listener, nullptr);      what is wrong with the options is said
//   OptimizeResult result = search.run();                  goes on where the journal ends
#pragma once

#include <memory>

#include "base/random.h"
#include "jobs/budget.h"
#include "jobs/optimize.h"
#include "jobs/search_precision.h"
#include "jobs/search_tasks.h"
#include "jobs/work_folder.h"
#include "search/equal_tuning.h"
#include "search/precision_tables.h"
#include "search/worker_bench.h"
#include "search/worker_scores.h"
#include "strategies/strategy_run.h"

namespace lathe {

/// Everything that a search needs, in the order in which it is made. What is wrong with the options
/// is found here, before anything is searched.
class NetworkSearch {
 public:
  /// "rounds" measures on a GPU; null: networks are measured on this machine.
  NetworkSearch(const OptimizeOptions& options, const JobListener& listener, RoundBench* rounds);

  OptimizeResult run();

 private:
  using Phase = Budget::Phase;

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
  std::unique_ptr<WorkerPool> pool_;  // of other machines; null: there are none
  nlohmann::json machine_;            // that they measure on (search_tasks.h)
  Journal::Identity identity_;
  Journal journal_;
  Graph original_;
  std::unique_ptr<NetworkBench> here_;
  std::unique_ptr<WorkerScores> scores_elsewhere_;
  std::unique_ptr<WorkerBench> elsewhere_;
  std::vector<ResultPeer> peers_;
  double own_ = 0;  // seconds of the original, where a constraint asks for them
  LayerTables tables_;
  Precision base_ = Precision::f32;           // in which variants are measured
  std::vector<PrecisionTable> in_precision_;  // the original in each precision, where any is wanted
  NetworkSpace blocks_;                       // the list of blocks, to compare with
  LayerTables block_tables_;

  NetworkMeasurer& bench() {
    if (rounds_ != nullptr) return *rounds_;
    if (elsewhere_) return *elsewhere_;
    return *here_;
  }

  LayerScores& layers() {
    if (scores_elsewhere_) return *scores_elsewhere_;
    return *judge_->layers;
  }

  /// Finds other machines that work for this search; null: none are wanted.
  static std::unique_ptr<WorkerPool> pool_for(const OptimizeOptions& options,
                                              const JobListener& listener);
  /// Returns what machine networks are measured on, where others measure.
  static nlohmann::json machine_of(WorkerPool* pool, const JobListener& listener);
  /// Are networks measured on machines unlike this one? Nothing is tuned there.
  bool is_of_others() const { return pool_ && machine_ != about_this_machine(); }

  /// Lets others score and measure.
  void use_workers();

  /// Compares a network with the original by all metrics of the rule.
  std::vector<Comparison> compared(const NetworkRecipe& recipe);

  /// Measures the variants of a space. Returns false if it was stopped.
  bool measure_variants(LayerTables& tables, const NetworkSpace& space, Phase phase);

  std::string bundle() const { return options_.folder + "/bundle"; }
  BenchOptions bench_options() const;

  /// Returns the folder of a search. Fails where its bundle holds what must not be replaced.
  static const std::string& own_folder(const std::string& folder);

  static NetworkSpace reachable_space(const Strategy& strategy, const Graph& network,
                                      const OptimizeOptions& options, const JobListener& listener);

  static void leave_originals(NetworkSpace& space);

  StrategyInput input() const { return input(space_, tables_); }
  StrategyInput input(const NetworkSpace& space, const LayerTables& tables) const;

  /// Measures other libraries on the original, unless the journal knows them.
  void compare_with_peers();

  /// Measures the original where a constraint asks for its time, and checks that it can be kept.
  void measure_original();

  TableOptions table_options(Phase phase) const;

  /// Returns what gives networks the precision of their recipes, and all other layers this one.
  NetworkFinish finish_in(Precision others) const;

  /// Returns the space with links, if channels may become fewer.
  NetworkSpace linked() const;

  /// Fills the tables, of links too or of what layers become alone. Returns false if it was
  /// stopped.
  bool fill_tables(bool links);

  /// Measures all variants; what is measured elsewhere together with those of the list of blocks.
  bool measure_tables();

  /// Measures the original in each precision, and looks how good it is then. The fastest that loses
  /// no more than is allowed is the base: variants are measured in it. Returns false if it was
  /// stopped.
  bool measure_precisions();

  /// Returns how many points of accuracy a network gains by its precision, as far as that is known;
  /// the journal keeps it.
  double points_of(const NetworkRecipe& recipe, Precision others);

  /// Lets each layer have any precision.
  void offer_precisions();

  /// Chooses how many channels are left by the tables alone, among few numbers; then looks at
  /// others near to those. A strategy that has no first choice by the tables chooses among the few.
  void refine_widths();

  /// Runs a strategy on tables; "name" is what listeners are told of it. Layers have the precision
  /// "others" where a recipe does not say.
  SearchReport searched(const Strategy& strategy, const StrategyInput& in, const std::string& name,
                        Phase phase, Precision others);

  /// Measures and scores the list of blocks, all of it; what the journal knows is not done again.
  /// Returns false if it was stopped.
  bool fill_block_tables();

  /// Chooses from the list of blocks: at random, as searches over blocks do, and by the same
  /// integer program that chooses among what steps compose. What the search itself did is left out.
  std::vector<Baseline> compared();

  // What comes after the search (network_search_end.cpp):

  EqualTuningOptions tuning_options(size_t networks) const;

  /// Measures what was found again, all being tuned for the same time; writes result and bundle.
  OptimizeResult ended(SearchReport report, const std::vector<Baseline>& baselines);

  /// Measures the networks that are fastest by their units as wholes: the fastest of these is best.
  void choose_by_wholes(SearchReport& report);

  /// Measures a network that is tuned as long as the original. Layers that the recipe says nothing
  /// of have the precision "others".
  std::optional<NetworkTimes> tuned_times(TunedMeasurer& tuning, const NetworkRecipe& recipe,
                                          Precision others);

  /// Sets the times of the best network to those that were measured at the end. One that is no
  /// faster than the original then is not the best.
  static void set_times(SearchReport& report, const NetworkTimes& times);

  /// Measures the best of the list of blocks as the winner is measured, tuned for the same time.
  void set_baselines(SearchResult& result, const std::vector<Baseline>& baselines,
                     TunedMeasurer& tuning, bool tuned);

  /// Measures the original, and what the winner's other steps make of it, in each precision, as the
  /// winner is measured.
  void set_precisions(SearchResult& result, TunedMeasurer& tuning);

  void set_origin(SearchResult& result);

  /// Writes the result and the page, and compiles the network as it was measured for the bundle.
  /// The recipe of a trained network begins with the order of its channels, so that it is for the
  /// network as the user has it.
  void write(const SearchResult& result, const CompileOptions& how,
             const std::optional<Graph>& fitted);
};

}  // namespace lathe
