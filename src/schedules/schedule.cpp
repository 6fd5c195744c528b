// schedule.cpp: the choice of a template. Interface: schedule() of schedule.h.
#include "schedules/schedule.h"

#include "base/error.h"
#include "nest/dependence.h"
#include "transforms/transform.h"

namespace lathe {

Scheduled schedule(const Situation& situation) {
  for (auto scope : {Schedule::For::kind, Schedule::For::any}) {
    for (const Schedule& candidate : schedules::all()) {
      if (candidate.scope != scope) continue;
      auto recipe = candidate.recipe(situation);
      if (!recipe) continue;
      Nest nest = situation.nest;
      for (const Step& step : *recipe) nest = apply(nest, step).nest;
      if (judge_order(nest).violation) continue;
      return {candidate.name, *recipe, nest};
    }
  }
  return {"", {}, situation.nest};
}

}  // namespace lathe
