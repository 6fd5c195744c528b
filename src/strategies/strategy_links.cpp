// strategy_links.cpp: links as places of the program. Interface: strategy_links.h.
#include "strategies/strategy_links.h"

#include <map>

namespace lathe {
namespace {

/// Lets a site have as many filters or inputs as the level that is chosen at "place" leaves.
void agree(const StrategyInput& input, const ChannelLink& link, const LinkEnd& end,
           long Widths::*what, size_t place, ChoiceProblem& problem) {
  std::map<long, ChoiceAgreement> of_width;  // levels may leave the same of a small set
  for (size_t level = 0; level < link.levels.size(); ++level) {
    of_width[link.left(end, level)].second.push_back({place, level});
  }
  for (size_t v = 0; v < input.tables.times[end.site].size(); ++v) {
    long width = widths_of(input.space, end.site, v).*what;
    of_width[width].first.push_back({end.site, v});
  }
  for (auto& [width, agreement] : of_width) problem.agreements.push_back(std::move(agreement));
}

}  // namespace

void keep_links_together(const StrategyInput& input, ChoiceProblem& problem) {
  for (const ChannelLink& link : input.space.links) {
    size_t place = problem.costs.size();
    problem.costs.emplace_back(link.levels.size(), 0.0);
    for (const LinkEnd& end : link.makers) {
      agree(input, link, end, &Widths::filters, place, problem);
    }
    for (const LinkEnd& end : link.readers) {
      agree(input, link, end, &Widths::inputs, place, problem);
    }
  }
}

void add_link_weights(const NetworkSpace& space, ChoiceLimit& limit) {
  for (const ChannelLink& link : space.links) {
    limit.amounts.emplace_back();
    for (const std::vector<long>& level : link.levels) {
      double saved = 0;
      for (size_t i = 0; i < level.size(); ++i) {
        saved += static_cast<double>(link.sets[i].vectors * (link.sets[i].channels - level[i]));
      }
      limit.amounts.back().push_back(-saved);
    }
  }
}

}  // namespace lathe
