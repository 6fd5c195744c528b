// The common part of strategies that draw networks. They judge many networks by the tables, and try
// the fastest of those that pass.
#pragma once

#include <set>

#include "strategies/strategy.h"

namespace lathe {

/// Draws "trials" networks, one after the other; the tables judge each. Then it tries those that
/// the tables accepted, the fastest first, until one is accepted exactly, or until "exact" were
/// tried.
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

/// For each site, the variants that a strategy draws from, by their numbers.
using SiteChoices = std::vector<std::vector<size_t>>;

/// Returns, for each site, the variants that could be measured and that do not depend on what other
/// sites become. So coupled variants are not among them.
SiteChoices choices_alone(const StrategyInput& input);

/// Draws one of the choices for each site; all of them are equally likely.
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
