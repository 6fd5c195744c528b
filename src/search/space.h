// What can be chosen for a unit, and new choices made of good ones.
#pragma once

#include "base/random.h"
#include "schedules/schedule.h"

namespace lathe {

/// The templates that fit a unit, the default first, and their knobs.
using ScheduleSpace = std::vector<Fitting>;

/// A choice, and its time divided by that of the default.
struct Scored {
  Choice choice;
  double ratio;
};

/// Returns a template with some of its knobs set at random.
Choice random_choice(const ScheduleSpace& space, Random& random);

/// Returns the choice with one or two knobs changed; seldom, another template as it is.
Choice mutated(const ScheduleSpace& space, const Choice& choice, Random& random);

/// Returns a choice that takes each setting from one of its two parents, which must be of the same
/// template.
Choice crossed(const Choice& a, const Choice& b, Random& random);

/// Returns the next candidate of a search. "best" has its best results so far, the best first.
Choice proposed(const ScheduleSpace& space, const std::vector<Scored>& best, Random& random);

}  // namespace lathe
