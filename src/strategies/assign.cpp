// assign.cpp: the fastest network that the tables accept, over all layers at once; then what exact
// evaluation says of it, and again with what was learned.
//
// Times, Fisher Potentials, MACs and weights of a network are sums over its layers, so the choice
// is an integer program. The rule's prediction is no sum, but its parts are functions of sums:
// bounds on the sums are tried that keep it above the tolerance. Exact evaluation differs from the
// tables, mostly by the same amount for networks that are alike: that amount is added the next
// time.
#include <cmath>
#include <set>

#include "strategies/strategy.h"

namespace lathe::strategies {
namespace {

/// The parts of the rule's prediction that depend on sums: weights of |log fisher|, log macs and
/// log params.
struct Prediction {
  double fisher = 0, macs = 0, params = 0;
};

Prediction prediction_of(const GateRule& rule) {
  Prediction result;
  for (size_t i = 0; i < rule.features.size(); ++i) {
    const Feature& feature = rule.features[i];
    if (feature.metric == "fisher") result.fisher += rule.weights[i];
    if (feature.metric == "macs") result.macs += rule.weights[i];
    if (feature.metric == "params") result.params += rule.weights[i];
  }
  return result;
}

class AssigningSearcher : public Searcher {
 public:
  explicit AssigningSearcher(const StrategyInput& input)
      : input_(input), shifts_(input.space.sites.size(), 0) {}

  std::optional<Proposal> propose() override {
    constexpr double tighter = 0.15;  // points, where nothing was learned
    while (tried_ < input_.exact) {
      auto best = solve();
      if (!best) return std::nullopt;
      if (seen_.insert(*best).second) {
        ++tried_;
        last_ = *best;
        return Proposal{last_, true};
      }
      if (accepted_) return std::nullopt;  // the fastest passed, and nothing faster may
      points_ -= tighter;
      fisher_ *= 0.9;
    }
    return std::nullopt;
  }

  void observe(const Observation& observation) override {
    FirstJudgement first = judge_first(input_.rule, input_.space, input_.tables, last_);
    accepted_ = observation.accepted && observation.failure.empty();
    points_ = std::min(0.5, observation.predicted - first.predicted);
    shift_ = observation.log_ratio - first.log_ratio;
    for (size_t s = 0; s < shifts_.size(); ++s) {
      auto exact = observation.layers.find(input_.space.sites[s].layer);
      if (exact != observation.layers.end()) shifts_[s] = exact->second - moved(s, last_[s]);
    }
  }

 private:
  StrategyInput input_;
  double points_ = 0;           ///< what exact evaluation predicts beyond the tables
  double shift_ = 0;            ///< what it adds to the logarithm of the ratio of Fisher Potentials
  double fisher_ = 1;           ///< share of the bands that is used
  std::vector<double> shifts_;  ///< what it adds to that of each site
  long tried_ = 0;
  bool accepted_ = false;
  Assignment last_;
  std::set<Assignment> seen_;

  /// Returns the fastest assignment that the tables, corrected, accept.
  std::optional<Assignment> solve() const {
    std::optional<Assignment> best;
    double least = std::numeric_limits<double>::infinity();
    for (double share : {0.2, 0.5, 1.0}) {
      auto found = solve_within(share);
      if (!found) continue;
      double time = judge_first(input_.rule, input_.space, input_.tables, *found).time;
      if (time < least) {
        least = time;
        best = found;
      }
    }
    return best;
  }

  /// Solves it with the logarithm of the ratio within a share of the band.
  std::optional<Assignment> solve_within(double share) const {
    const LayerTables& tables = input_.tables;
    ChoiceProblem problem{allowed_times(), {}};
    double before = tables.other_score;
    for (const auto& scores : tables.scores) before += scores[0];
    double band = input_.rule.is_paper ? 0 : input_.rule.network_band * share * fisher_;
    ChoiceLimit fisher{tables.scores, before * std::exp(-band - shift_) - tables.other_score};
    if (!input_.rule.is_paper) {
      fisher.most = before * std::exp(band - shift_) - tables.other_score;
    }
    problem.limits.push_back(fisher);
    problem.limits.push_back(amounts(&LayerVariant::macs));
    problem.limits.push_back(amounts(&LayerVariant::weights));
    limit_macs(problem.limits[1], band);
    limit_most(problem.limits[1], input_.space.macs, &LayerVariant::macs, input_.limits.macs);
    limit_most(problem.limits[2], input_.space.weights, &LayerVariant::weights,
               input_.limits.weights);
    return cheapest(problem);
  }

  /// Returns how far a variant moves the score of its site, to first order.
  double moved(size_t site, size_t variant) const {
    const auto& scores = input_.tables.scores[site];
    return std::log(scores[variant] / scores[0]);
  }

  /// Returns the times; infinite of what a single layer may not become. A layer moves with those
  /// before and behind it, too: as it is, it is always allowed.
  ChoiceTable allowed_times() const {
    double band = input_.rule.layer_band * fisher_;
    ChoiceTable times = input_.tables.times;
    for (size_t s = 0; s < times.size(); ++s) {
      for (size_t v = 1; v < times[s].size(); ++v) {
        double far = moved(s, v);
        bool allowed =
            std::isfinite(far) && (input_.rule.is_paper || std::abs(far + shifts_[s]) <= band);
        if (!allowed) times[s][v] = std::numeric_limits<double>::infinity();
      }
    }
    return times;
  }

  ChoiceLimit amounts(long LayerVariant::*what) const {
    ChoiceLimit limit;
    for (size_t s = 0; s < input_.space.sites.size(); ++s) {
      limit.amounts.emplace_back();
      for (size_t v = 0; v < input_.tables.times[s].size(); ++v) {
        limit.amounts.back().push_back(static_cast<double>(input_.space.variant(s, v).*what));
      }
    }
    return limit;
  }

  /// Returns what the layers that cannot change add to a sum.
  double fixed(long all, long LayerVariant::*what) const {
    double rest = static_cast<double>(all);
    for (size_t s = 0; s < input_.space.sites.size(); ++s) {
      rest -= static_cast<double>(input_.space.variant(s, 0).*what);
    }
    return rest;
  }

  void limit_most(ChoiceLimit& limit, long all, long LayerVariant::*what, long most) const {
    if (most != std::numeric_limits<long>::max()) {
      limit.most = static_cast<double>(most) - fixed(all, what);
    }
  }

  /// Sets how few MACs there may be for the prediction to stay above what the rule allows.
  void limit_macs(ChoiceLimit& limit, double band) const {
    Prediction weights = prediction_of(input_.rule);
    if (input_.rule.is_paper || weights.macs <= 0) return;
    double points = input_.rule.intercept + points_ + weights.fisher * band;
    double least = (-input_.rule.tolerance - points) / weights.macs;
    if (least >= 0) least = 0;
    limit.least = std::exp(least) * static_cast<double>(input_.space.macs) -
                  fixed(input_.space.macs, &LayerVariant::macs);
  }
};

}  // namespace

Strategy assign() {
  return {"assign",
          "the fastest network over all layers at once, corrected by what is found exactly",
          [](const StrategyInput& input) -> std::unique_ptr<Searcher> {
            return std::make_unique<AssigningSearcher>(input);
          }};
}

}  // namespace lathe::strategies
