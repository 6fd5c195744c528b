// applied.cpp: a recipe applied to a nest. Interface: applied.h.
#include "jobs/applied.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "data/file.h"
#include "nest/canonical.h"
#include "nest/text.h"

namespace lathe {

std::string meaning_after(const Nest& nest, const std::vector<Judged>& steps, size_t count) {
  const Nest* named = &nest;
  bool algebraic = false;
  for (size_t i = 0; i < count; ++i) {
    Verdict::Kind kind = steps[i].verdict.kind;
    algebraic = kind == Verdict::Kind::rounded || (algebraic && kind != Verdict::Kind::neural);
    if (!algebraic) named = &steps[i].nest;
  }
  return meaning_name(nest, *named);
}

Recipe load_recipe(const std::string& text) {
  if (!text.ends_with(".json")) return parse_recipe(text);
  nlohmann::json json = nlohmann::json::parse(read_file(text), nullptr, false);
  if (json.is_discarded()) fail("{}: this is not JSON", text);
  try {
    return recipe_from_json(json);
  } catch (const UserError& error) {
    fail("{}: {}", text, error.what());
  }
}

nlohmann::json to_json(const Cost& cost) {
  return {{"instances", cost.instances},
          {"macs", cost.macs},
          {"weights", cost.weights},
          {"bytes", cost.bytes}};
}

nlohmann::json to_json(const Nest& nest) {
  nlohmann::json statements = nlohmann::json::array();
  for (size_t s : sequence(nest.order)) {
    nlohmann::json loops = nlohmann::json::array();
    for (const Loop& loop : nest.order[s].loops) {
      loops.push_back({{"name", loop.name}, {"extent", loop.extent}, {"mark", name_of(loop.mark)}});
    }
    statements.push_back({{"statement", nest.statements()[s].name}, {"loops", loops}});
  }
  return {{"text", print(nest)}, {"statements", statements}, {"cost", to_json(cost(nest))}};
}

nlohmann::json to_json(const Verdict& verdict) {
  nlohmann::json json = {{"kind", name_of(verdict.kind)}, {"reason", verdict.reason}};
  if (!verdict.evidence.empty()) json["evidence"] = verdict.evidence;
  return json;
}

nlohmann::json applied_to_json(const Nest& nest, const Recipe& recipe,
                               const std::vector<Judged>& steps) {
  nlohmann::json judged = nlohmann::json::array();
  for (const Judged& step : steps) {
    judged.push_back({{"step", print(step.step)}, {"verdict", to_json(step.verdict)}});
  }
  return {{"recipe", to_json(recipe)},
          {"steps", judged},
          {"before", to_json(nest)},
          {"after", to_json(steps.empty() ? nest : steps.back().nest)},
          {"means", meaning_after(nest, steps, steps.size())}};
}

}  // namespace lathe
