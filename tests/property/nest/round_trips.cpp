// Nests and recipes survive being printed and parsed; recipes replay byte for byte.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/brute_force.h"
#include "support/random_recipe.h"

namespace lathe::test {
namespace {

/// Is a domain described by floors? isl has several ways to write them, of which one is stable.
bool has_floors(const Nest& nest) {
  return std::any_of(nest.statements().begin(), nest.statements().end(), [](const Statement& s) {
    return isl_set_involves_locals(s.domain.get()) == isl_bool_true;
  });
}

TEST(RoundTrip, ParsedNestsAreThePrintedOnes) {
  for_each_case(4000, [](Case& trial) {
    Context ctx;
    Walk walk = random_walk(trial, ctx, random_nest(trial.random), Steps::all);
    std::string text = print(walk.nest);
    trial.story += text;
    Nest parsed = parse_nest(ctx, text);
    if (has_floors(walk.nest)) {
      text = print(parsed);
      parsed = parse_nest(ctx, text);
    }
    EXPECT_EQ(print(parsed), text);
    EXPECT_EQ(outputs(parsed), outputs(walk.nest));
    EXPECT_EQ(cost(parsed), cost(walk.nest));
  });
}

TEST(RoundTrip, RecipesReplay) {
  for_each_case(3000, [](Case& trial) {
    Context ctx;
    Walk walk = random_walk(trial, ctx, random_nest(trial.random), Steps::all);
    EXPECT_EQ(parse_recipe(print(walk.recipe)), walk.recipe);
    std::string json = to_json(walk.recipe).dump();
    EXPECT_EQ(recipe_from_json(nlohmann::json::parse(json)), walk.recipe);
    EXPECT_EQ(to_json(recipe_from_json(nlohmann::json::parse(json))).dump(), json);
    Context other;
    EXPECT_EQ(print(replay(load(other, walk.text), walk.recipe)), print(walk.nest));
  });
}

}  // namespace
}  // namespace lathe::test
