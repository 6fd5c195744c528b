// strategy_sampling.cpp: drawing networks and trying the fastest. Interface: strategy_sampling.h.
#include "strategies/strategy_sampling.h"

#include <cmath>

namespace lathe {

std::optional<Proposal> SamplingSearcher::propose() {
  if (drawn_ < input_.trials) {
    ++drawn_;
    last_ = draw();
    return Proposal{last_, false};
  }
  if (done_ || passed_.empty() || tried_ == input_.exact) return std::nullopt;
  ++tried_;
  last_ = passed_.extract(passed_.begin()).value().assignment;
  return Proposal{last_, true};
}

void SamplingSearcher::observe(const Observation& observation) {
  if (tried_ > 0) {
    done_ = observation.accepted && observation.failure.empty();
  } else if (observation.accepted) {
    bool in_time = std::isfinite(input_.limits.time);
    passed_.insert({in_time ? -observation.predicted : observation.time, last_});
  }
}

SiteChoices choices_alone(const StrategyInput& input) {
  SiteChoices result;
  for (size_t s = 0; s < input.space.sites.size(); ++s) {
    result.emplace_back();
    for (size_t v = 0; v < input.tables.times[s].size(); ++v) {
      bool alone = !input.space.variant(s, v).coupling;
      if (alone && std::isfinite(input.tables.times[s][v])) result.back().push_back(v);
    }
  }
  return result;
}

Assignment UniformSearcher::draw() {
  Assignment assignment;
  for (const std::vector<size_t>& choices : choices_) {
    assignment.push_back(choices[random().below(choices.size())]);
  }
  return assignment;
}

}  // namespace lathe
