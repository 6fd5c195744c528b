// random.cpp: networks drawn at random, layer by layer; the fastest that passes wins. This is the
// published search.
#include "strategies/strategy_sampling.h"

namespace lathe::strategies {

Strategy random() {
  return {"random", "networks drawn at random; the fastest that passes wins",
          [](const StrategyInput& input) -> std::unique_ptr<Searcher> {
            return std::make_unique<UniformSearcher>(input, choices_alone(input));
          }};
}

}  // namespace lathe::strategies
