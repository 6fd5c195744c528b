// Random nests whose loops are bound to blocks and threads: recipes that split, bind and pack.
#pragma once

#include "nest/marks.h"
#include "support/random_recipe.h"

namespace lathe::test {

/// Applies random steps, most of them for GPUs; refused ones are left out.
inline Nest random_threads(Case& trial, isl::ctx ctx, const std::string& text) {
  trial.story += text + "\n";
  Nest nest = load(ctx, text);
  Recipe recipe;
  auto draw = [&] {
    const char* name = trial.random.chance(50)   ? "bind"
                       : trial.random.chance(40) ? "pack"
                       : trial.random.chance(40) ? "split"
                                                 : "";
    if (*name == '\0') return random_step(trial.random, nest, Steps::program).step;
    std::vector<Step> seen = find_transform(name).candidates(nest);
    if (seen.empty()) return random_arguments(trial.random, nest, find_transform(name));
    return trial.random.pick(seen);
  };
  for (long n = trial.random.between(2, 8); n > 0; --n) {
    Step step = draw();
    if (step.name == "parallel" || step.name == "cast" || step.name == "quantize") continue;
    try {
      Judged judged = try_step(nest, step);
      if (!judged.verdict.accepted()) continue;
      nest = judged.nest;
      recipe.push_back(step);
    } catch (const UserError&) {
    }
  }
  trial.story += "recipe: " + print(recipe) + "\n";
  return nest;
}

}  // namespace lathe::test
