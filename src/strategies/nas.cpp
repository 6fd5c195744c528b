// nas.cpp: the usual way, to compare with: each layer is one of a fixed list of blocks, chosen
// without regard to how it will be compiled; then the network is compiled.
#include <cmath>

#include "strategies/strategy_sampling.h"

namespace lathe::strategies {
namespace {

/// Is this one of the blocks: in groups, or narrower, with a 1x1 convolution behind?
bool is_block(const LayerVariant& variant) {
  if (variant.coupling) return false;
  if (variant.recipe.empty()) return true;
  if (variant.recipe.size() != 1) return false;
  const Step& step = variant.recipe.front();
  return step.args.size() == 2 && step.args[1] == Arg(std::string("deepen"));
}

class BlockSearcher : public SamplingSearcher {
 public:
  explicit BlockSearcher(const StrategyInput& input) : SamplingSearcher(input) {
    for (size_t s = 0; s < input.space.sites.size(); ++s) {
      blocks_.emplace_back();
      for (size_t v = 0; v < input.tables.times[s].size(); ++v) {
        bool fits = is_block(input.space.variant(s, v)) && std::isfinite(input.tables.times[s][v]);
        if (fits) blocks_.back().push_back(v);
      }
    }
  }

 protected:
  Assignment draw() override {
    Assignment assignment;
    for (const auto& choices : blocks_) {
      assignment.push_back(choices[random().below(choices.size())]);
    }
    return assignment;
  }

 private:
  std::vector<std::vector<size_t>> blocks_;
};

}  // namespace

Strategy nas() {
  return {"nas", "each layer one of a fixed list of blocks, at random; to compare with",
          [](const StrategyInput& input) -> std::unique_ptr<Searcher> {
            return std::make_unique<BlockSearcher>(input);
          }};
}

}  // namespace lathe::strategies
