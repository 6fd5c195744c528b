// schedule.cpp: the choice of a template. Interface: schedule() of schedule.h.
#include "schedules/schedule.h"

#include "base/error.h"
#include "nest/dependence.h"
#include "transforms/transform.h"

namespace lathe {
namespace {

/// Returns what a template makes of the nest; nothing if it is not for it: a step does not apply,
/// or breaks a dependence.
std::optional<Scheduled> scheduled_by(const Schedule& candidate, const Situation& situation) {
  try {
    auto recipe = candidate.recipe(situation);
    if (!recipe) return std::nullopt;
    Nest nest = situation.nest;
    for (const Step& step : *recipe) {
      Nest next = apply(nest, step).nest;
      // A new meaning takes the order in which it was made for a valid one.
      if (next.meaning != nest.meaning && judge_order(nest).violation) return std::nullopt;
      nest = next;
    }
    if (judge_order(nest).violation) return std::nullopt;
    return Scheduled{candidate.name, *recipe, nest};
  } catch (const UserError&) {
    return std::nullopt;
  }
}

}  // namespace

Scheduled schedule(const Situation& situation) {
  for (auto scope : {Schedule::For::kind, Schedule::For::any}) {
    for (const Schedule& candidate : schedules::all()) {
      if (candidate.scope != scope) continue;
      if (auto found = scheduled_by(candidate, situation)) return *found;
    }
  }
  return {"", {}, situation.nest};
}

}  // namespace lathe
