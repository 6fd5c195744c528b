// strategy_precision.cpp: see strategy_precision.h.
#include "strategies/strategy_precision.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "search/precision_tables.h"

namespace lathe {
namespace {

/// A network must be faster by this share to count as faster: times vary.
constexpr double hardly_faster = 0.003;

/// How often all kinds of layers are gone through.
constexpr int most_passes = 2;

std::set<Precision> precisions_of(const NetworkSpace& space) {
  std::set<Precision> found;
  for (const LayerKind& kind : space.kinds) {
    for (const LayerVariant& variant : kind.variants) found.insert(precision_of(variant.recipe));
  }
  return found;
}

class PrecisionSearcher : public Searcher {
 public:
  PrecisionSearcher(const StrategyInput& input, std::unique_ptr<Searcher> first)
      : input_(input),
        first_(std::move(first)),
        precisions_(precisions_of(input.space)),
        best_(input.space.sites.size(), 0) {}

  std::optional<Proposal> propose() override {
    if (first_) {
      auto proposal = first_->propose();
      if (proposal) {
        last_ = proposal->assignment;
        is_exact_ = proposal->exact;
        seen_.insert(last_);
        return proposal;
      }
      first_.reset();
      // If a time is given, the best network is not the fastest.
      if (!std::isfinite(input_.limits.time)) add_moves();
    }
    while (next_ < moves_.size()) {
      last_ = moved(moves_[next_++]);
      is_exact_ = true;
      if (seen_.insert(last_).second) return Proposal{last_, true};
      if (next_ == moves_.size()) begin_again();
    }
    return std::nullopt;
  }

  void observe(const Observation& observation) override {
    if (first_) first_->observe(observation);
    bool is_new = observation.accepted && is_exact_ && observation.failure.empty() &&
                  observation.time < (1 - hardly_faster) * time_;
    if (is_new) {
      best_ = last_;
      time_ = observation.time;
      is_better_ = true;
    }
    if (!first_ && next_ == moves_.size()) begin_again();
  }

 private:
  /// Gives all layers of some kinds a precision.
  struct Move {
    std::optional<size_t> kind;  ///< none: all kinds
    Precision precision;
  };

  StrategyInput input_;
  std::unique_ptr<Searcher> first_;  // null when it has ended
  std::set<Precision> precisions_;
  std::vector<Move> moves_;
  size_t next_ = 0;
  int passes_ = 1;
  bool is_better_ = false;  // was something found since the moves were begun?
  std::set<Assignment> seen_;
  Assignment last_;
  bool is_exact_ = false;
  Assignment best_;
  double time_ = std::numeric_limits<double>::infinity();

  double time_of_kind(size_t kind) const {
    double sum = 0;
    for (size_t site : input_.space.kinds[kind].sites) {
      sum += input_.tables.times[site][best_[site]];
    }
    return sum;
  }

  /// All layers in one precision come first, then kinds, those that take longest first.
  void add_moves() {
    for (Precision each : precisions_) moves_.push_back({std::nullopt, each});
    std::vector<size_t> kinds;
    for (size_t k = 0; k < input_.space.kinds.size(); ++k) kinds.push_back(k);
    std::stable_sort(kinds.begin(), kinds.end(),
                     [&](size_t a, size_t b) { return time_of_kind(a) > time_of_kind(b); });
    for (size_t kind : kinds) {
      for (Precision each : precisions_) moves_.push_back({kind, each});
    }
    is_better_ = false;
  }

  void begin_again() {
    if (!is_better_ || passes_ == most_passes) return;
    ++passes_;
    next_ = 0;
    is_better_ = false;
  }

  Assignment moved(const Move& move) const {
    Assignment result = best_;
    for (size_t s = 0; s < result.size(); ++s) {
      if (move.kind && input_.space.sites[s].kind != *move.kind) continue;
      auto variant = in_precision(input_.space, s, result[s], move.precision);
      if (variant && std::isfinite(input_.tables.times[s][*variant])) result[s] = *variant;
    }
    return result;
  }
};

}  // namespace

bool has_precisions(const NetworkSpace& space) { return precisions_of(space).size() > 1; }

std::unique_ptr<Searcher> then_precisions(const StrategyInput& input,
                                          std::unique_ptr<Searcher> first) {
  return std::make_unique<PrecisionSearcher>(input, std::move(first));
}

}  // namespace lathe
