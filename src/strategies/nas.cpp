// nas.cpp: the usual way, to compare with. Each layer is one of a list of blocks, chosen at random
// and without regard to how it will be compiled; then the network is compiled.
//
// Only blocks that the rule allows in a layer are drawn. A network with any other is refused, so a
// draw that has one would be wasted: of 32 layers, nearly all draws would.
#include <cmath>

#include "strategies/strategy_sampling.h"

namespace lathe::strategies {
namespace {

/// May a layer become this block, as far as its own score tells?
bool is_allowed(const StrategyInput& input, size_t site, size_t block) {
  return input.rule.is_paper || std::abs(input.tables.moved(site, block)) <= input.rule.layer_band;
}

std::unique_ptr<Searcher> begin(const StrategyInput& input) {
  auto choices = choices_alone(input);
  for (size_t s = 0; s < choices.size(); ++s) {
    std::erase_if(choices[s], [&](size_t v) { return v != 0 && !is_allowed(input, s, v); });
  }
  return std::make_unique<UniformSearcher>(input, std::move(choices));
}

}  // namespace

Strategy nas() {
  return {"nas", "each layer one of a list of blocks, at random; to compare with", begin,
          SpaceOf::blocks};
}

}  // namespace lathe::strategies
