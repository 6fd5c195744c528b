// space.cpp: choices made at random and of others. Interface: space.h.
#include "search/space.h"

#include <algorithm>

#include "base/error.h"

namespace lathe {
namespace {

/// Parents are the best so many.
constexpr size_t population = 8;
/// Knobs that are set at random, at most: in a new choice, and in one that is made of another.
constexpr uint64_t knobs_of_new = 4, knobs_changed = 2;
/// One change in so many goes to another template, where all begins anew.
constexpr uint64_t other_template = 20;
/// Of ten candidates so many are new, and so many are crossed; the others are changed ones.
constexpr uint64_t proposals = 10, new_ones = 1, crossed_ones = 3;

template <class T>
const T& pick(const std::vector<T>& values, Random& random) {
  return values[random.below(values.size())];
}

const Fitting* find_template(const ScheduleSpace& space, const std::string& name) {
  auto found = std::find_if(space.begin(), space.end(),
                            [&](const Fitting& fitting) { return fitting.schedule == name; });
  return found == space.end() ? nullptr : &*found;
}

/// Sets a knob; what the template itself chooses is left to it.
void set_at_random(const std::vector<Knob>& knobs, Settings& settings, Random& random) {
  const Knob& knob = pick(knobs, random);
  long value = pick(knob.values, random);
  settings.erase(knob.name);
  if (value != knob.values.front()) settings[knob.name] = value;
}

/// Returns one of the best, the better the likelier.
const Scored& parent(const std::vector<Scored>& best, Random& random) {
  size_t count = std::min(best.size(), population);
  return best[std::min(random.below(count), random.below(count))];
}

}  // namespace

Choice random_choice(const ScheduleSpace& space, Random& random) {
  check(!space.empty(), "some template fits");
  const Fitting& fitting = pick(space, random);
  Choice choice{fitting.schedule, {}};
  for (uint64_t i = 0, n = 1 + random.below(knobs_of_new); i < n && !fitting.knobs.empty(); ++i) {
    set_at_random(fitting.knobs, choice.settings, random);
  }
  return choice;
}

Choice mutated(const ScheduleSpace& space, const Choice& choice, Random& random) {
  const Fitting* fitting = find_template(space, choice.schedule);
  if (fitting == nullptr || fitting->knobs.empty() || random.below(other_template) == 0) {
    return {pick(space, random).schedule, {}};
  }
  Choice result = choice;
  for (uint64_t i = 0, n = 1 + random.below(knobs_changed); i < n; ++i) {
    set_at_random(fitting->knobs, result.settings, random);
  }
  return result;
}

Choice crossed(const Choice& a, const Choice& b, Random& random) {
  Choice result{a.schedule, {}};
  for (const Choice* from : {&a, &b}) {
    for (const auto& [name, value] : from->settings) {
      if (random.below(2) == 0) result.settings[name] = value;
    }
  }
  return result;
}

Choice proposed(const ScheduleSpace& space, const std::vector<Scored>& best, Random& random) {
  uint64_t draw = random.below(proposals);
  if (best.empty() || draw < new_ones) return random_choice(space, random);
  const Choice& a = parent(best, random).choice;
  const Choice& b = parent(best, random).choice;
  bool can_cross = a.schedule == b.schedule && a.settings != b.settings;
  return draw < new_ones + crossed_ones && can_cross ? crossed(a, b, random)
                                                     : mutated(space, a, random);
}

}  // namespace lathe
