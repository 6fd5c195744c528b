// evolve.cpp: new networks are made of the fastest that passed, by crossing two and changing a few
// layers.
#include <cmath>

#include "strategies/strategy_sampling.h"

namespace lathe::strategies {
namespace {

/// The fastest that passed so far, from which parents are drawn. Fewer would soon be all alike.
constexpr size_t parents = 20;
/// One layer in so many is changed, at most: a child must stay near what passed.
constexpr size_t layers_a_change = 6;
/// One change in so many is of coupled layers. There are few of them, and each moves much.
constexpr size_t rarely = 4;

class EvolvingSearcher : public SamplingSearcher {
 public:
  using SamplingSearcher::SamplingSearcher;

 protected:
  Assignment draw() override {
    Assignment child(input().space.sites.size(), 0);  // the original passes
    if (!passed().empty()) {
      size_t count = std::min(parents, passed().size());
      const Assignment& a = parent(random().below(count));
      const Assignment& b = parent(random().below(count));
      for (size_t s = 0; s < child.size(); ++s) child[s] = (random().below(2) == 0 ? a : b)[s];
    }
    size_t changes = 1 + random().below(std::max<size_t>(1, child.size() / layers_a_change));
    for (size_t i = 0; i < changes; ++i) change(child);
    reconcile(child);
    return child;
  }

 private:
  const Assignment& parent(size_t number) const {
    return std::next(passed().begin(), static_cast<long>(number))->assignment;
  }

  void change(Assignment& child) {
    const auto& links = input().space.links;
    if (!links.empty() && random().below(rarely) == 0) {
      size_t link = random().below(links.size());
      set_level(input().space, link, random().below(links[link].levels.size()), child);
      return;
    }
    size_t site = random().below(child.size());
    const auto& times = input().tables.times[site];
    size_t choice = random().below(times.size());
    if (std::isfinite(times[choice])) child[site] = choice;
  }

  /// Coupled layers that would have different channels are as they were.
  void reconcile(Assignment& child) const {
    const NetworkSpace& space = input().space;
    bool again = true;  // a layer may be of two links
    while (again) {
      again = false;
      for (const ChannelLink& link : space.links) {
        if (agrees(space, link, child)) continue;
        again = true;
        for (const LinkEnd& end : link.makers) child[end.site] = 0;
        for (const LinkEnd& end : link.readers) child[end.site] = 0;
      }
    }
  }
};

}  // namespace

Strategy evolve() {
  return {"evolve", "networks made of the fastest that passed, a few layers changed",
          [](const StrategyInput& input) -> std::unique_ptr<Searcher> {
            return std::make_unique<EvolvingSearcher>(input);
          }};
}

}  // namespace lathe::strategies
