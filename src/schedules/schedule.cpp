// schedule.cpp: the choice of a template. Interface: schedule.h.
#include "schedules/schedule.h"

#include <algorithm>

#include "base/error.h"
#include "nest/dependence.h"

namespace lathe {
namespace {

/// Returns what a template makes of the nest; nothing if it is not for it: a step does not apply,
/// or breaks a dependence.
std::optional<Scheduled> scheduled_by(const Schedule& candidate, const Situation& situation,
                                      const Settings& settings, double max_error) {
  try {
    auto written = candidate.recipe(situation, settings);
    if (!written || written->error > max_error) return std::nullopt;
    for (const Nest& nest : written->nests) {
      if (judge_order(nest).violation) return std::nullopt;
    }
    return Scheduled{candidate.name, std::move(written->recipe), std::move(written->nests.back())};
  } catch (const UserError&) {
    return std::nullopt;
  }
}

bool is_for(const Schedule& candidate, const Target& target) {
  return target.has_warps() == (candidate.machines == Schedule::Machines::gpus);
}

/// Returns the templates for a target in the order in which they are tried.
std::vector<const Schedule*> in_order(const Target& target) {
  std::vector<const Schedule*> order;
  using For = Schedule::For;
  for (auto scope : {For::fewer, For::unit, For::kind, For::any}) {
    for (const Schedule& candidate : schedules::all()) {
      if (candidate.scope != scope || !is_for(candidate, target)) continue;
      order.push_back(&candidate);
    }
  }
  return order;
}

bool is_worth_it(const Schedule& candidate, const Situation& situation) {
  return candidate.is_worth_it == nullptr || candidate.is_worth_it(situation);
}

}  // namespace

Scheduled schedule(const Situation& any, const std::optional<Choice>& choice, double max_error) {
  Situation situation{any.nest, any.layouts, any.target, max_error};
  for (const Schedule& candidate : schedules::all()) {
    if (!choice || candidate.name != choice->schedule) continue;
    if (!is_for(candidate, situation.target)) break;
    auto found = scheduled_by(candidate, situation, choice->settings, max_error);
    if (!found) break;
    found->as_chosen = true;
    return *found;
  }
  for (const Schedule* candidate : in_order(situation.target)) {
    if (!is_worth_it(*candidate, situation)) continue;
    if (auto found = scheduled_by(*candidate, situation, {}, max_error)) return *found;
  }
  return {"", {}, situation.nest};
}

std::vector<Fitting> fitting_schedules(const Situation& situation) {
  std::vector<const Schedule*> order = in_order(situation.target);
  std::stable_partition(order.begin(), order.end(), [&](const Schedule* candidate) {
    return is_worth_it(*candidate, situation);
  });
  std::vector<Fitting> fitting;
  for (const Schedule* candidate : order) {
    if (!scheduled_by(*candidate, situation, {}, any_error)) continue;
    fitting.push_back({candidate->name, {}, candidate->scope});
    fitting.back().knobs = candidate->knobs(situation);
  }
  return fitting;
}

}  // namespace lathe
