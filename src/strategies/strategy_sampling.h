// What the strategies share that draw networks: they judge many by the tables, and try the fastest
// of those that pass.
#pragma once

#include <set>

#include "strategies/strategy.h"

namespace lathe {

/// Draws "trials" networks, one after the other, and has the tables judge each. Then it tries those
/// that were accepted, the fastest first: until one is accepted exactly, or "exact" were tried.
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

/// What each site can become in a strategy that draws: numbers of variants.
using SiteChoices = std::vector<std::vector<size_t>>;

/// Returns the variants that a site can become whatever the others become, and that could be
/// measured. Coupled ones are not among them.
SiteChoices choices_alone(const StrategyInput& input);

/// Draws one of its choices for each site, all of them equally likely.
class UniformSearcher : public SamplingSearcher {
 public:
  UniformSearcher(const StrategyInput& input, SiteChoices choices)
      : SamplingSearcher(input), choices_(std::move(choices)) {}

 protected:
  Assignment draw() override;

 private:
  SiteChoices choices_;
};

}  // namespace lathe
