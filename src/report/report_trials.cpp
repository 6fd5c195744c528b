// report_trials.cpp: networks that were tried. Interface: report_trials.h.
#include "report/report_trials.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace lathe {
namespace {

using nlohmann::json;

/// Returns a part of an object; null where there is none.
const json& part(const json& of, const char* name) {
  static const json nothing;
  if (!of.is_object()) return nothing;
  auto found = of.find(name);
  return found == of.end() ? nothing : *found;
}

std::optional<double> number(const json& value) {
  if (!value.is_number() || !std::isfinite(value.get<double>())) return std::nullopt;
  return value.get<double>();
}

std::optional<double> transformed_by(double (*function)(double), std::optional<double> value) {
  if (!value || !std::isfinite(function(*value))) return std::nullopt;
  return function(*value);
}

NetworkTrial network_trial(const RecordedTrial& recorded, long count) {
  const Trial& trial = recorded.trial;
  const json& first = part(trial.details, "first_order");
  const json& verdict = part(trial.details, "verdict");
  NetworkTrial result{count, trial.recipe, trial.reason, recorded.at, trial.outcome};
  result.exact = verdict.is_object();
  result.ms = trial.time > 0 ? trial.time * 1e3 : number(part(first, "time"));
  if (trial.time <= 0 && result.ms) *result.ms *= 1e3;
  result.ratio = result.exact ? number(part(verdict, "ratio"))
                              : transformed_by(std::exp, number(part(first, "log_ratio")));
  // Where the rule was fitted to other networks, a prediction orders these, and says no more.
  bool is_calibrated = part(first, "caveat").is_null() && part(verdict, "caveat").is_null();
  if (is_calibrated) result.predicted = number(part(result.exact ? verdict : first, "predicted"));
  result.weights = std::lround(number(part(trial.details, "weights")).value_or(0));
  return result;
}

/// Reads the recipe of a trial; one that cannot be read changes nothing.
NetworkRecipe recipe_of(const NetworkTrial& trial) {
  try {
    return parse_network_recipe(trial.recipe);
  } catch (const UserError&) {
    return {};
  }
}

/// Counts sequences over the layers of a network.
std::map<std::string, long> sequences_in(const NetworkRecipe& recipe) {
  std::map<std::string, long> counts;
  for (const LayerRecipe& layer : recipe) {
    if (!layer.recipe.empty()) ++counts[sequence_of(layer.recipe)];
  }
  return counts;
}

}  // namespace

std::vector<NetworkTrial> network_trials(const JournalRecord& journal) {
  std::vector<NetworkTrial> result;
  for (const RecordedTrial& each : journal.trials) {
    if (each.trial.subject != "network" || each.trial.recipe.empty()) continue;
    result.push_back(network_trial(each, static_cast<long>(result.size()) + 1));
  }
  return result;
}

std::string sequence_of(const Recipe& recipe) {
  std::string text;
  for (const Step& step : recipe) text += (text.empty() ? "" : " → ") + step.name;
  return text;
}

std::vector<SequenceCount> sequence_counts(const NetworkRecipe& winner,
                                           const std::vector<NetworkTrial>& trials) {
  std::map<std::string, SequenceCount> counts;
  for (const auto& [sequence, count] : sequences_in(winner)) counts[sequence].winner = count;
  double networks = 0;
  for (const NetworkTrial& trial : trials) {
    if (trial.outcome != Trial::Outcome::measured) continue;
    ++networks;
    for (const auto& [sequence, count] : sequences_in(recipe_of(trial))) {
      counts[sequence].passed += static_cast<double>(count);
    }
  }
  std::vector<SequenceCount> result;
  for (auto& [sequence, count] : counts) {
    result.push_back({sequence, count.winner, count.passed / std::max(1.0, networks)});
  }
  std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
    return std::pair(a.winner, a.passed) > std::pair(b.winner, b.passed);
  });
  return result;
}

}  // namespace lathe
