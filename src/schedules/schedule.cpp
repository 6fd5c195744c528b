// schedule.cpp: the choice of a template. Interface: schedule() of schedule.h.
#include "schedules/schedule.h"

#include "base/error.h"
#include "nest/dependence.h"

namespace lathe {
namespace {

/// Returns what a template makes of the nest; nothing if it is not for it: a step does not apply,
/// or breaks a dependence.
std::optional<Scheduled> scheduled_by(const Schedule& candidate, const Situation& situation) {
  try {
    auto written = candidate.recipe(situation);
    if (!written) return std::nullopt;
    for (const Nest& nest : written->nests) {
      if (judge_order(nest).violation) return std::nullopt;
    }
    return Scheduled{candidate.name, std::move(written->recipe), std::move(written->nests.back())};
  } catch (const UserError&) {
    return std::nullopt;
  }
}

}  // namespace

Scheduled schedule(const Situation& situation) {
  for (auto scope : {Schedule::For::fewer, Schedule::For::kind, Schedule::For::any}) {
    for (const Schedule& candidate : schedules::all()) {
      if (candidate.scope != scope) continue;
      if (auto found = scheduled_by(candidate, situation)) return *found;
    }
  }
  return {"", {}, situation.nest};
}

}  // namespace lathe
