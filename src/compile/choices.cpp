// choices.cpp: what was chosen while a network was compiled. Interface: choices.h.
#include "compile/choices.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_reason.h"
#include "compile/tuned.h"

namespace lathe {
namespace {

using Json = nlohmann::json;

Json to_json(const std::optional<Choice>& choice) {
  if (!choice) return nullptr;
  return {{"schedule", choice->schedule}, {"settings", Json(choice->settings)}};
}

std::optional<Choice> choice_from_json(const Json& json) {
  if (json.is_null()) return std::nullopt;
  auto settings = parse_settings(json.at("settings").dump());
  if (!settings) fail("choices: these are no settings: {}", json.at("settings").dump());
  return Choice{json.at("schedule"), *settings};
}

std::optional<LayoutChoice> layouts_from_json(const Json& json) {
  if (json.is_null()) return std::nullopt;
  auto choice = parse_layout_choice(json.get<std::string>());
  if (!choice) fail("choices: these are no layouts: {}", json.dump());
  return choice;
}

template <class Answer>
std::function<std::optional<Answer>(const std::string&)> answering(
    const std::map<std::string, std::optional<Answer>>& known) {
  return [known](const std::string& key) -> std::optional<Answer> {
    auto found = known.find(key);
    return found == known.end() ? std::nullopt : found->second;
  };
}

}  // namespace

nlohmann::json to_json(const RecordedChoices& choices) {
  Json schedules = Json::array(), layouts = Json::array();
  for (const auto& [unit, choice] : choices.schedules) {
    schedules.push_back({{"unit", unit}, {"choice", to_json(choice)}});
  }
  for (const auto& [network, choice] : choices.layouts) {
    Json text = choice ? Json(print(*choice)) : Json(nullptr);
    layouts.push_back({{"network", network}, {"choice", std::move(text)}});
  }
  return {{"schedules", std::move(schedules)}, {"layouts", std::move(layouts)}};
}

RecordedChoices choices_from_json(const nlohmann::json& json) {
  RecordedChoices choices;
  try {
    for (const Json& each : json.at("schedules")) {
      choices.schedules[each.at("unit")] = choice_from_json(each.at("choice"));
    }
    for (const Json& each : json.at("layouts")) {
      choices.layouts[each.at("network")] = layouts_from_json(each.at("choice"));
    }
  } catch (const Json::exception& error) {
    fail("choices: {}", plain_reason(error));
  }
  return choices;
}

CompileOptions with_choices(CompileOptions options, const RecordedChoices& choices) {
  options.choose = answering(choices.schedules);
  options.layouts = answering(choices.layouts);
  if (choices.layouts.size() != 1) return options;
  options.layouts = [only = choices.layouts.begin()->second](const std::string&) { return only; };
  return options;
}

CompileOptions ChoiceRecord::noting(CompileOptions options) {
  options.choose = [this, ask = options.choose](const std::string& key) {
    std::optional<Choice> choice = ask ? ask(key) : std::nullopt;
    std::lock_guard lock(mutex_);
    choices_.schedules[key] = choice;
    return choice;
  };
  options.layouts = [this, ask = options.layouts](const std::string& key) {
    std::optional<LayoutChoice> choice = ask ? ask(key) : std::nullopt;
    std::lock_guard lock(mutex_);
    choices_.layouts[key] = choice;
    return choice;
  };
  return options;
}

}  // namespace lathe
