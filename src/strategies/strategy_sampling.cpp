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

}  // namespace lathe
