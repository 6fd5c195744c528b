// A recipe applied to a nest, as programs read it: what every step was judged, what it costs.
//
//   Recipe recipe = load_recipe("split(ci, 8) -> group(2)");
//   std::vector<Judged> steps = try_recipe(nest, recipe);
//   applied_to_json(nest, recipe, steps).dump()
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "legality/legality.h"
#include "nest/footprint.h"

namespace lathe {

/// Reads a recipe: text, or the path of a .json file.
Recipe load_recipe(const std::string& text);

/// Names what the first "count" steps made of a nest. Algebraic steps keep what is computed: they
/// and what follows do not change the name, up to the next neural step.
std::string meaning_after(const Nest& nest, const std::vector<Judged>& steps, size_t count);

/// Convert to JSON.
nlohmann::json to_json(const Cost& cost);
nlohmann::json to_json(const Nest& nest);
nlohmann::json to_json(const Verdict& verdict);

/// Returns the verdict of every step that was tried, and the nest before and after them.
nlohmann::json applied_to_json(const Nest& nest, const Recipe& recipe,
                               const std::vector<Judged>& steps);

}  // namespace lathe
