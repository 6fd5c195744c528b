// assign.cpp: the fastest network that the tables accept, over all layers at once; then what exact
// evaluation says of it, and again with what was learned.
//
// Times, MACs and weights of a network are sums over its layers, and so, nearly, is the logarithm
// of the ratio of its scores. So the choice is an integer program. Two things are wrong with it,
// and both are corrected:
//
// - What the rule predicts is not linear. It is made linear for a network of some size. What that
//   program finds is where a refinement starts (strategy_refine.h), which goes on with programs
//   that are linear at the network itself.
// - The tables are not exact. What exact evaluation says beyond them is learned from each network
//   that was tried. Another network is taken to differ in the same way, in proportion to how much
//   smaller it became.
#include <algorithm>
#include <cmath>
#include <set>

#include "strategies/strategy.h"
#include "strategies/strategy_links.h"
#include "strategies/strategy_precision.h"
#include "strategies/strategy_refine.h"
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

/// Points that are spared after a network was refused: the next one differs a little in what the
/// tables do not know, too.
constexpr double spared = 0.05;

/// Points by which exact evaluation may raise the predictions of the tables. It may lower them by
/// any amount, but a lucky network must not make all others look good.
constexpr double most_praise = 0.5;

/// Shares of what measures size at which the first programs are made linear: a network may be a
/// half of the original, or much less.
constexpr double first_sizes[] = {0.5, 0.15};

/// A family without which a network is slower by no more than this share is left out.
constexpr double hardly_slower = 0.03;

/// Share of the network's band that the first programs take to be used.
constexpr double band_used = 0.3;

class AssigningSearcher : public Searcher {
 public:
  explicit AssigningSearcher(const StrategyInput& input)
      : input_(input), sites_(input.space.sites.size()) {
    exact_.layers.resize(sites_);
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
      Found best = solve();
      if (!best.assignment) return std::nullopt;
      if (!is_settled_ && input_.readable && !in_time() && !input_.rule.is_paper) {
        best = with_fewer_families(std::move(best));
      }
      if (seen_.insert(*best.assignment).second) {
        ++tried_;
        last_ = *best.assignment;
        return Proposal{last_, true};
      }
      if (accepted_) return std::nullopt;  // the fastest passed, and nothing faster may
      exact_.points -= points_less / std::max(1.0, size_reduced(input_.space, *best.assignment));
      exact_.bands *= bands_left;
    }
    return std::nullopt;
  }

  void observe(const Observation& observation) override {
    FirstJudgement first = judged_first(last_);
    accepted_ = observation.accepted && observation.failure.empty();
    is_settled_ = is_settled_ || accepted_;
    double size = std::max(1.0, size_reduced(input_.space, last_));
    exact_.points = std::min(most_praise, observation.predicted - first.predicted) / size;
    if (!accepted_) exact_.points -= spared / size;
    exact_.network = (observation.log_ratio - first.log_ratio) / size;
    exact_.slower = observation.time / first.time;
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
  TableCorrection exact_;
  long tried_ = 0;
  bool accepted_ = false;
  Assignment last_;
  std::set<Assignment> seen_;
  std::set<Family> left_out_;  // that would hardly pay
  /// Was a network accepted? Until then, what families pay is asked anew for each correction.
  bool is_settled_ = false;

  /// Is a time given? Then the prediction is to be as high as can be.
  bool in_time() const { return std::isfinite(input_.limits.time); }

  FirstJudgement judged_first(const Assignment& assignment) const {
    return judge_first(input_.rule, input_.space, input_.tables, assignment);
  }

  /// What was found, and what it costs.
  struct Found {
    std::optional<Assignment> assignment;
    double cost = infinity;
  };

  /// Returns the fastest assignment found that the tables, corrected, accept.
  Found solve() const {
    if (tried_ > 0) {  // the next network is near the last one
      Found found = found_from(last_, allowed_times());
      if (found.assignment) return found;
    }
    std::vector<Assignment> starts;
    for (double size : first_sizes) {
      auto found = cheapest(linear_program(shares_at(size)));
      if (!found) continue;
      found->resize(sites_);  // what follows are the links' levels
      starts.push_back(with_shuffles(input_, *found));
      if (input_.rule.is_paper) break;  // it is linear
    }
    starts.emplace_back(sites_, 0);  // the original, which is always allowed
    Found best;
    for (const Assignment& start : starts) {
      bool is_last_resort = &start == &starts.back();
      if (is_last_resort && best.assignment) break;
      Found found = found_from(start, allowed_times());
      if (found.cost < best.cost) best = std::move(found);
    }
    return best;
  }

  /// Refines an assignment.
  Found found_from(const Assignment& start, const ChoiceTable& allowed) const {
    Assignment found = refined(input_, allowed, start, [&](const Assignment& each) {
      return standing_of(input_, each, exact_);
    });
    Standing standing = standing_of(input_, found, exact_);
    if (!standing.is_allowed()) return {};
    return {std::move(found), standing.cost};
  }

  /// Leaves out families without which the network is hardly slower: a result is to be read, too.
  Found with_fewer_families(Found best) {
    for (const FamilyRecord& record : families()) {
      Assignment start = *best.assignment;
      bool is_used = false;
      for (size_t s = 0; s < sites_; ++s) {
        if (input_.space.variant(s, start[s]).family != record.family) continue;
        is_used = is_used || start[s] != 0;
        start[s] = 0;
      }
      if (!is_used) continue;
      left_out_.insert(record.family);
      Found found = found_from(start, allowed_times());
      if (found.cost <= (1 + hardly_slower) * best.cost) {
        best = std::move(found);
      } else {
        left_out_.erase(record.family);
      }
    }
    return best;
  }

  /// Returns the shares of the original's score that a network of some size has, by each metric:
  /// all of what does not measure the size.
  std::vector<double> shares_at(double size) const {
    std::vector<double> result;
    for (const MetricTable& table : input_.tables.metrics) {
      bool is_size = table.metric.contributes.measures == Contribution::Measures::size;
      result.push_back(is_size ? size : 1);
    }
    return result;
  }

  /// Returns the program that is linear at networks that have these shares of the scores.
  ChoiceProblem linear_program(const std::vector<double>& shares) const {
    const GateRule& rule = input_.rule;
    double band = rule.network_band * exact_.bands;
    ChoiceProblem problem{allowed_times(), {}};
    ChoiceLimit bands{alone_, rule.is_paper ? 0 : -band};
    if (!rule.is_paper) bands.most = band;
    for (size_t s = 0; s < sites_; ++s) {
      for (size_t v = 0; v < alone_[s].size(); ++v) {
        bands.amounts[s][v] += exact_.network * size_reduced(input_.space, s, v);
      }
    }
    problem.limits.push_back(bands);
    problem.limits.push_back(limited(&LayerVariant::macs, input_.space.macs, input_.limits.macs));
    problem.limits.push_back(
        limited(&LayerVariant::weights, input_.space.weights, input_.limits.weights));
    add_link_weights(input_.space, problem.limits.back());
    keep_links_together(input_, problem);
    if (!rule.is_paper) problem.limits.push_back(predicted(shares));
    if (in_time()) keep_in_time(problem);
    return problem;
  }

  /// Makes of the fastest network the one that is predicted best, in the time that is given.
  void keep_in_time(ChoiceProblem& problem) const {
    ChoiceLimit time{problem.costs};
    time.most = input_.limits.time / exact_.slower - input_.tables.rest;
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
  ChoiceTable allowed_times() const {
    ChoiceTable times = input_.tables.times;
    for (size_t s = 0; s < sites_; ++s) {
      for (size_t v = 1; v < times[s].size(); ++v) {
        double far = std::abs(moved_[s][v] + exact_.layers[s]);
        bool allowed = std::isfinite(far) &&
                       (input_.rule.is_paper || far <= input_.rule.layer_band * exact_.bands) &&
                       !left_out_.contains(input_.space.variant(s, v).family);
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
  ChoiceLimit predicted(const std::vector<double>& shares) const {
    const GateRule& rule = input_.rule;
    ChoiceLimit limit;
    for (size_t s = 0; s < sites_; ++s) {
      limit.amounts.emplace_back();
      for (size_t v = 0; v < input_.tables.times[s].size(); ++v) {
        double precision = input_.tables.points.empty() ? 0 : input_.tables.points[s][v];
        limit.amounts.back().push_back(exact_.points * size_reduced(input_.space, s, v) +
                                       precision);
      }
    }
    double sure = 0;
    for (size_t i = 0; i < rule.features.size(); ++i) {
      for (size_t m = 0; m < input_.tables.metrics.size(); ++m) {
        if (input_.tables.metrics[m].metric.name != rule.features[i].metric) continue;
        double weight = rule.weights[i] * (1 + rule.beyond_share);
        sure += add_feature(rule.features[i].form, weight, m, shares[m], limit);
      }
    }
    limit.least = -rule.tolerance - sure;
    return limit;
  }

  /// Adds what a feature counts in each site to a limit; returns what it counts in any case.
  double add_feature(Form form, double weight, size_t metric, double share,
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
    double usual = band_used * input_.rule.network_band * exact_.bands;
    switch (form) {
      case Form::distance:
      case Form::log_distance:
        // Within bands it counts as if a part of the band were used.
        if (has_bands) return weight * (form == Form::distance ? usual : std::log1p(usual));
        add([&](size_t s, size_t v) { return std::abs(more(s, v)) / table.total; });
        return 0;
      case Form::layers_distance:
        add([&](size_t s, size_t v) { return far(table, s, v) / layers; });
        return 0;
      case Form::worst_distance:
        return 0;  // the refinement makes up for it
      case Form::log_ratio: {
        // The tangent of log(x) at m is log(m) - 1 + x/m.
        add([&](size_t s, size_t v) { return more(s, v) / table.total / share; });
        return weight * (std::log(share) - 1 + 1 / share);
      }
      case Form::times_less: {
        // That of 1/x is 1/m - (x - m)/m².
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
  double far(const MetricTable& table, size_t s, size_t v) const {
    bool has_bands = &table == &input_.tables.metrics.front();
    if (has_bands) return std::abs(moved_[s][v] + exact_.layers[s]);
    return std::abs(std::log(table.scores[s][v] / table.scores[s][0]));
  }
};

}  // namespace

Strategy assign() {
  return {"assign",
          "the fastest network over all layers at once, corrected by what is found exactly",
          [](const StrategyInput& input) -> std::unique_ptr<Searcher> {
            auto searcher = std::make_unique<AssigningSearcher>(input);
            if (!has_precisions(input.space)) return searcher;
            return then_precisions(input, std::move(searcher));
          }};
}

}  // namespace lathe::strategies
