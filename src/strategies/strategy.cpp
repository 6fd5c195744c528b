// strategy.cpp: finding strategies. Interface: strategy.h.
#include "strategies/strategy.h"

#include "base/error.h"
#include "base/nearest.h"

namespace lathe {

const Strategy& find_strategy(const std::string& name) {
  std::vector<std::string> names;
  for (const Strategy& strategy : strategies::all()) {
    if (strategy.name == name) return strategy;
    names.push_back(strategy.name);
  }
  std::string list;
  for (const std::string& each : names) list += (list.empty() ? "" : ", ") + each;
  fail("there is no strategy '{}'; the nearest is '{}', of {}", name, nearest(name, names), list);
}

bool is_within(const StrategyInput& input, const Assignment& assignment) {
  return weights_of(input.space, assignment) <= input.limits.weights &&
         macs_of(input.space, assignment) <= input.limits.macs &&
         time_of(input.tables, assignment) <= input.limits.time;
}

}  // namespace lathe
