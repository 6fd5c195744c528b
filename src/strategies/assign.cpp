// assign.cpp: the fastest network that the tables accept, over all layers at once; then what exact
// evaluation says of it, and again with what was learned.
//
// Times, MACs and weights of a network are sums over its layers, and so, nearly, is the logarithm
// of the ratio of its scores. So the choice is an integer program. Two things are wrong with it,
// and both are corrected:
//
// - What the rule predicts is not linear. It is made linear at a solution, that solution is judged
//   by the tables, and the program is solved again.
// - The tables are not exact. What exact evaluation says beyond them is learned from each network
//   that was tried. Another network is taken to differ in the same way, in proportion to how much
//   smaller it became.
#include <algorithm>
#include <cmath>
#include <set>

#include "strategies/strategy.h"
#include "strategies/strategy_links.h"
#include "strategies/strategy_shuffle.h"

namespace lathe::strategies {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// A solution that was tried already, and was refused, says that the tables promise too much. Then
// what they promise is cut in small steps, so that the next solution is near the last one:

/// Points by which a prediction is lowered each time: less than a third of the default tolerance.
constexpr double points_less = 0.15;
/// Share of the rule's bands that is left each time: seven times leave about a half.
constexpr double bands_left = 0.9;
/// How often that is done: by then an eighth of the bands is left.
constexpr int attempts = 20;

/// Points by which exact evaluation may raise the predictions of the tables. It may lower them by
/// any amount, but a lucky network must not make all others look good.
constexpr double most_praise = 0.5;

/// Programs that are made linear and solved one after the other, unless a solution repeats.
constexpr int rounds = 8;
/// Shares of the network's band that a program may use. A prediction counts the band as used up, so
/// a narrow one leaves more points for the layers; which is better depends on the network.
constexpr double band_shares[] = {0.3, 1.0};
/// Share of what measures size at which the first program is made linear; the next ones are at
/// solutions.
constexpr double first_size = 0.5;
/// Part of the points to spare that the next program may spend. All of them would overshoot, as
/// what it is made linear by moves with the solution.
constexpr double spent = 0.7;

/// What one judgement of a network says beyond another.
struct Moves {
  double network = 0;          ///< log_ratio of its scores
  std::vector<double> layers;  ///< of each site
  double points = 0;           ///< predicted
};

class AssigningSearcher : public Searcher {
 public:
  explicit AssigningSearcher(const StrategyInput& input)
      : input_(input), sites_(input.space.sites.size()), exact_{0, std::vector<double>(sites_), 0} {
    // Each variant alone in the network: what it does to the whole.
    Assignment assignment(sites_, 0);
    for (size_t s = 0; s < sites_; ++s) {
      alone_.emplace_back();
      moved_.emplace_back();
      for (size_t v = 0; v < input.tables.times[s].size(); ++v) {
        assignment[s] = v;
        Comparison bands = compared_first(input.tables, assignment).front();
        bool known = !bands.log_ratios.empty() && std::isfinite(bands.log_ratios.front());
        alone_.back().push_back(known ? bands.log_ratios.front() : 0);
        size_t place = input.tables.places[s];
        double moved = place == no_place ? 0 : bands.layers[place].log_ratio;
        moved_.back().push_back(known ? moved : infinity);
      }
      assignment[s] = 0;
    }
  }

  std::optional<Proposal> propose() override {
    if (tried_ == input_.exact) return std::nullopt;
    for (int attempt = 0; attempt < attempts; ++attempt) {
      auto best = solve();
      if (!best) return std::nullopt;
      if (seen_.insert(*best).second) {
        ++tried_;
        last_ = *best;
        return Proposal{last_, true};
      }
      if (accepted_) return std::nullopt;  // the fastest passed, and nothing faster may
      exact_.points -= points_less / std::max(1.0, size_of(*best));
      bands_ *= bands_left;
    }
    return std::nullopt;
  }

  void observe(const Observation& observation) override {
    FirstJudgement first = judged_first(last_);
    accepted_ = observation.accepted && observation.failure.empty();
    double size = std::max(1.0, size_of(last_));
    exact_.points = std::min(most_praise, observation.predicted - first.predicted) / size;
    exact_.network = (observation.log_ratio - first.log_ratio) / size;
    slower_ = observation.time / first.time;
    for (size_t s = 0; s < sites_; ++s) {
      auto layer = observation.layers.find(input_.space.sites[s].layer);
      if (layer != observation.layers.end()) exact_.layers[s] = layer->second - first.layers[s];
    }
  }

 private:
  StrategyInput input_;
  size_t sites_;
  ChoiceTable alone_;  ///< log_ratio of the network in which only that site is changed
  ChoiceTable moved_;  ///< that of the site; infinite if it cannot be chosen
  Moves exact_;        ///< what exact evaluation says beyond the tables, for each unit of size
  double slower_ = 1;  ///< how many times as long it takes as they say
  double bands_ = 1;   ///< share of the rule's bands that is used
  long tried_ = 0;
  bool accepted_ = false;
  Assignment last_;
  std::set<Assignment> seen_;

  /// Is a time given? Then the prediction is to be as high as can be.
  bool in_time() const { return std::isfinite(input_.limits.time); }

  FirstJudgement judged_first(const Assignment& assignment) const {
    return judge_first(input_.rule, input_.space, input_.tables, assignment);
  }

  /// Returns how much smaller a site becomes.
  double size(size_t site, size_t variant) const {
    auto macs = [&](size_t v) { return static_cast<double>(input_.space.variant(site, v).macs); };
    return std::log(macs(0) / macs(variant));
  }

  double size_of(const Assignment& assignment) const {
    double sum = 0;
    for (size_t s = 0; s < sites_; ++s) sum += size(s, assignment[s]);
    return sum;
  }

  /// Where a program was made linear, and what was wrong with it there.
  struct Linear {
    double band;                 ///< that log_ratio of the network may use
    std::vector<double> shares;  ///< of the original's score that the network has, by each metric
    Moves error;                 ///< what a judgement says beyond sums over sites
    double margin = 0;  ///< points that are kept back, or that there are beyond what it says
  };

  /// Returns the fastest assignment found that the tables, corrected, accept.
  std::optional<Assignment> solve() const {
    std::optional<Assignment> best;
    double least = infinity;
    for (double share : band_shares) {
      Linear at{input_.rule.network_band * share * bands_,
                first_shares(),
                {0, std::vector<double>(sites_), 0}};
      std::optional<Assignment> last;
      for (int round = 0; round < rounds; ++round) {
        auto found = cheapest(linear_program(at));
        if (found) found->resize(sites_);  // what follows are the links' levels
        if (!found || found == last) break;
        last = found;
        found = with_shuffles(input_, *found);
        FirstJudgement judged = judged_first(*found);
        double lacking = correct(at, *found, judged);
        double cost = in_time() ? -judged.predicted - exact_.points * size_of(*found) : judged.time;
        if (lacking <= 0 && cost < least) {
          least = cost;
          best = found;
        }
      }
      if (input_.rule.is_paper) break;
    }
    return best;
  }

  /// Returns the shares to begin with: half of what measures the size, all of the rest.
  std::vector<double> first_shares() const {
    std::vector<double> result;
    for (const MetricTable& table : input_.tables.metrics) {
      bool is_size = table.metric.contributes.measures == Contribution::Measures::size;
      result.push_back(is_size ? first_size : 1);
    }
    return result;
  }

  /// Is told what a solution really is; returns by how much it misses what the rule asks.
  double correct(Linear& at, const Assignment& found, const FirstJudgement& judged) const {
    double sum = 0, worst = 0;
    for (size_t s = 0; s < sites_; ++s) {
      sum += alone_[s][found[s]];
      at.error.layers[s] = judged.layers[s] - moved_[s][found[s]];
      if (found[s] != 0) worst = std::max(worst, std::abs(judged.layers[s] + exact_.layers[s]));
    }
    at.error.network = judged.log_ratio - sum;
    std::vector<Comparison> comparisons = compared_first(input_.tables, found);
    for (size_t m = 0; m < comparisons.size(); ++m) {
      const std::vector<double>& ratios = comparisons[m].log_ratios;
      bool is_known = !ratios.empty() && std::isfinite(ratios.front());
      if (is_known) at.shares[m] = std::exp(ratios.front());
    }
    const GateRule& rule = input_.rule;
    double size = size_of(found), network = judged.log_ratio + exact_.network * size;
    double late = judged.time * slower_ - input_.limits.time;
    if (rule.is_paper) return std::max(-network, late);
    double points = -rule.tolerance - judged.predicted - exact_.points * size;
    at.margin += points > 0 ? points : spent * points;  // towards what is just allowed
    return std::max({late, points, std::abs(network) - rule.network_band * bands_,
                     worst - rule.layer_band * bands_});
  }

  ChoiceProblem linear_program(const Linear& at) const {
    const GateRule& rule = input_.rule;
    ChoiceProblem problem{allowed_times(at), {}};
    ChoiceLimit bands{alone_, (rule.is_paper ? 0 : -at.band) - at.error.network};
    if (!rule.is_paper) bands.most = at.band - at.error.network;
    for (size_t s = 0; s < sites_; ++s) {
      for (size_t v = 0; v < alone_[s].size(); ++v) {
        bands.amounts[s][v] += exact_.network * size(s, v);
      }
    }
    problem.limits.push_back(bands);
    problem.limits.push_back(limited(&LayerVariant::macs, input_.space.macs, input_.limits.macs));
    problem.limits.push_back(
        limited(&LayerVariant::weights, input_.space.weights, input_.limits.weights));
    add_link_weights(input_.space, problem.limits.back());
    keep_links_together(input_, problem);
    if (!rule.is_paper) problem.limits.push_back(predicted(at));
    if (in_time()) keep_in_time(problem);
    return problem;
  }

  /// Makes of the fastest network the one that is predicted best, in the time that is given.
  void keep_in_time(ChoiceProblem& problem) const {
    ChoiceLimit time{problem.costs};
    time.most = input_.limits.time / slower_ - input_.tables.rest;
    const ChoiceTable& gained = problem.limits.back().amounts;  // points
    for (size_t s = 0; s < sites_; ++s) {
      double most = *std::max_element(gained[s].begin(), gained[s].end());
      for (size_t v = 0; v < gained[s].size(); ++v) {
        bool allowed = std::isfinite(problem.costs[s][v]);
        if (allowed && !input_.rule.is_paper) problem.costs[s][v] = most - gained[s][v];
        if (!allowed) time.amounts[s][v] = 0;
      }
    }
    problem.limits.push_back(std::move(time));
  }

  /// Returns the times; infinite of what a single layer may not become. A layer moves with those
  /// behind it, too: as it is, it is always allowed.
  ChoiceTable allowed_times(const Linear& at) const {
    ChoiceTable times = input_.tables.times;
    for (size_t s = 0; s < sites_; ++s) {
      for (size_t v = 1; v < times[s].size(); ++v) {
        double far = std::abs(moved_[s][v] + at.error.layers[s] + exact_.layers[s]);
        bool allowed =
            std::isfinite(far) && (input_.rule.is_paper || far <= input_.rule.layer_band * bands_);
        if (!allowed) times[s][v] = infinity;
      }
    }
    return times;
  }

  ChoiceLimit limited(long LayerVariant::*what, long all, long most) const {
    ChoiceLimit limit;
    double fixed = static_cast<double>(all);  // what the layers that cannot change add
    for (size_t s = 0; s < sites_; ++s) {
      limit.amounts.emplace_back();
      fixed -= static_cast<double>(input_.space.variant(s, 0).*what);
      for (size_t v = 0; v < input_.tables.times[s].size(); ++v) {
        limit.amounts.back().push_back(static_cast<double>(input_.space.variant(s, v).*what));
      }
    }
    if (most != std::numeric_limits<long>::max()) limit.most = static_cast<double>(most) - fixed;
    return limit;
  }

  /// Returns what keeps the prediction above what the rule allows.
  ChoiceLimit predicted(const Linear& at) const {
    const GateRule& rule = input_.rule;
    ChoiceLimit limit;
    for (size_t s = 0; s < sites_; ++s) {
      limit.amounts.emplace_back();
      for (size_t v = 0; v < input_.tables.times[s].size(); ++v) {
        limit.amounts.back().push_back(exact_.points * size(s, v));
      }
    }
    double sure = -at.margin;
    for (size_t i = 0; i < rule.features.size(); ++i) {
      for (size_t m = 0; m < input_.tables.metrics.size(); ++m) {
        if (input_.tables.metrics[m].metric.name != rule.features[i].metric) continue;
        double weight = rule.weights[i] * (1 + rule.beyond_share);
        sure += add_feature(rule.features[i].form, weight, m, at, limit);
      }
    }
    limit.least = -rule.tolerance - sure;
    return limit;
  }

  /// Adds what a feature counts in each site to a limit; returns what it counts in any case.
  double add_feature(Form form, double weight, size_t metric, const Linear& at,
                     ChoiceLimit& limit) const {
    const MetricTable& table = input_.tables.metrics[metric];
    auto layers = static_cast<double>(std::max(table.own.size(), table.layers));
    bool is_mean = table.metric.contributes.whole == Contribution::Whole::mean;
    double part = is_mean ? 1 / static_cast<double>(table.layers) : 1;
    auto add = [&](const auto& amount) {
      for (size_t s = 0; s < sites_; ++s) {
        for (size_t v = 0; v < limit.amounts[s].size(); ++v) {
          double value = amount(s, v);
          if (std::isfinite(value)) limit.amounts[s][v] += weight * value;  // else not allowed
        }
      }
    };
    auto more = [&](size_t s, size_t v) {
      return part * (table.scores[s][v] - table.scores[s][0]);
    };
    bool has_bands = metric == 0;
    switch (form) {
      case Form::distance:
      case Form::log_distance:
        // Within bands it counts as if all of the band were used.
        if (has_bands) return weight * (form == Form::distance ? at.band : std::log1p(at.band));
        add([&](size_t s, size_t v) { return std::abs(more(s, v)) / table.total; });
        return 0;
      case Form::layers_distance:
        add([&](size_t s, size_t v) { return far(at, table, s, v) / layers; });
        return 0;
      case Form::worst_distance:
        return 0;  // the margin makes up for it
      case Form::log_ratio: {
        // The tangent of log(x) at m is log(m) - 1 + x/m.
        double share = at.shares[metric];
        add([&](size_t s, size_t v) { return more(s, v) / table.total / share; });
        return weight * (std::log(share) - 1 + 1 / share);
      }
      case Form::times_less: {
        // That of 1/x is 1/m - (x - m)/m².
        double share = at.shares[metric];
        add([&](size_t s, size_t v) { return -more(s, v) / table.total / (share * share); });
        return weight * (2 / share - 1 - 1 / (share * share));
      }
      case Form::difference:
        add(more);
        return 0;
      case Form::moved:
        add([&](size_t s, size_t v) { return std::abs(more(s, v)); });
        return 0;
    }
    return 0;
  }

  /// Returns how far a layer moves by a metric. Of the metric that has bands, more is known: what
  /// other layers do to it, and what exact evaluation said.
  double far(const Linear& at, const MetricTable& table, size_t s, size_t v) const {
    bool has_bands = &table == &input_.tables.metrics.front();
    if (has_bands) return std::abs(moved_[s][v] + at.error.layers[s] + exact_.layers[s]);
    return std::abs(std::log(table.scores[s][v] / table.scores[s][0]));
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
