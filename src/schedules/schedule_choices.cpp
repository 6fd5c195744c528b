// schedule_choices.cpp: knobs and their settings. Interface: schedule_choices.h.
#include "schedules/schedule_choices.h"

#include <algorithm>

#include "base/error.h"

namespace lathe::schedules {

long Choices::choose(const std::string& name, long own, const std::vector<long>& others) {
  offer(name, own, others);
  auto value = wanted(name);
  if (!value) return own;
  const std::vector<long>& values = knobs_.back().values;
  if (std::find(values.begin(), values.end(), *value) != values.end()) return *value;
  refuse();
  return own;
}

std::optional<long> Choices::wanted(const std::string& name) const {
  auto found = settings_.find(name);
  return found == settings_.end() ? std::nullopt : std::optional(found->second);
}

void Choices::offer(const std::string& name, long own, const std::vector<long>& others) {
  Knob knob{name, {own}};
  for (long value : others) {
    if (value != own) knob.values.push_back(value);
  }
  knobs_.push_back(std::move(knob));
}

bool Choices::fit() const {
  auto is_known = [&](const auto& setting) {
    return std::any_of(knobs_.begin(), knobs_.end(),
                       [&](const Knob& knob) { return knob.name == setting.first; });
  };
  return !refused_ && std::all_of(settings_.begin(), settings_.end(), is_known);
}

std::vector<Knob> Choices::knobs() const {
  std::vector<Knob> result;
  for (const Knob& knob : knobs_) {
    if (knob.values.size() > 1) result.push_back(knob);
  }
  return result;
}

std::vector<long> multiples(long unit, const std::vector<long>& factors) {
  std::vector<long> result;
  for (long factor : factors) result.push_back(factor * unit);
  return result;
}

std::vector<long> within(const std::vector<long>& values, long least, long most) {
  std::vector<long> result;
  for (long value : values) {
    if (value >= least && value <= most) result.push_back(value);
  }
  return result;
}

}  // namespace lathe::schedules

namespace lathe {

std::vector<Knob> Schedule::knobs(const Situation& situation) const {
  schedules::Choices choices({});
  try {
    if (!write(situation, choices)) return {};
  } catch (const UserError&) {
    return {};
  }
  return choices.knobs();
}

std::optional<Written> Schedule::recipe(const Situation& situation,
                                        const Settings& settings) const {
  schedules::Choices choices(settings);
  auto written = write(situation, choices);
  return choices.fit() ? written : std::nullopt;
}

}  // namespace lathe
