// What strategies share that draw many networks, judge them by the tables and try the fastest that
// pass.
#pragma once

#include <set>

#include "strategies/strategy.h"

namespace lathe {

/// Draws "trials" networks, one after the other, then tries the fastest of those that were
/// accepted, until one of them is accepted exactly or "exact" were tried.
class SamplingSearcher : public Searcher {
 public:
  explicit SamplingSearcher(const StrategyInput& input)
      : input_(input), random_(input.seed, "strategy") {}

  std::optional<Proposal> propose() final;
  void observe(const Observation& observation) final;

 protected:
  /// A network that the tables accepted.
  struct Passed {
    double time;
    Assignment assignment;
    friend auto operator<=>(const Passed&, const Passed&) = default;
  };

  /// Returns the next network to judge.
  virtual Assignment draw() = 0;

  const StrategyInput& input() const { return input_; }
  Random& random() { return random_; }
  const std::set<Passed>& passed() const { return passed_; }  ///< the fastest first

 private:
  StrategyInput input_;
  Random random_;
  long drawn_ = 0, tried_ = 0;
  bool done_ = false;
  Assignment last_;
  std::set<Passed> passed_;
};

}  // namespace lathe
