// random.cpp: networks drawn at random, layer by layer; the fastest that passes wins. This is the
// published search.
#include "strategies/strategy_sampling.h"

#include <cmath>

namespace lathe::strategies {
namespace {

class RandomSearcher : public SamplingSearcher {
 public:
  using SamplingSearcher::SamplingSearcher;

 protected:
  Assignment draw() override {
    Assignment assignment;
    for (size_t s = 0; s < input().space.sites.size(); ++s) {
      const auto& times = input().tables.times[s];
      size_t choice = random().below(times.size());
      bool alone = !input().space.variant(s, choice).coupling;  // published without coupled ones
      assignment.push_back(alone && std::isfinite(times[choice]) ? choice : 0);
    }
    return assignment;
  }
};

}  // namespace

Strategy random() {
  return {"random", "networks drawn at random; the fastest that passes wins",
          [](const StrategyInput& input) -> std::unique_ptr<Searcher> {
            return std::make_unique<RandomSearcher>(input);
          }};
}

}  // namespace lathe::strategies
