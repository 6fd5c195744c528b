// Damaged texts: every reader takes them or throws a UserError, soon and without much memory.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "support/mutate.h"
#include "support/random_recipe.h"

namespace lathe::test {
namespace {

constexpr double most_seconds = 2;
constexpr long most_kilobytes = 1L << 20;

long peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/// Reads a text. Anything but success and a UserError fails the test.
template <class Read>
void expect_read(Case& trial, const std::string& text, Read read) {
  trial.story += text + "\n";
  auto start = std::chrono::steady_clock::now();
  try {
    read(text);
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()), "");
  }
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), most_seconds);
  EXPECT_LT(peak_kilobytes(), most_kilobytes);
}

TEST(Fuzz, Nests) {
  for_each_case(3000, [](Case& trial) {
    Context ctx;
    std::string text = random_nest(trial.random);
    if (trial.random.chance(50)) text = print(random_walk(trial, ctx, text, Steps::all).nest);
    if (!text.starts_with("nest ")) text = print(load(ctx, text));
    expect_read(trial, mutated(trial.random, text), [&](const std::string& damaged) {
      Nest nest = parse_nest(ctx, damaged);
      std::string printed = print(nest);
      EXPECT_EQ(print(parse_nest(ctx, printed)), printed);
    });
  });
}

TEST(Fuzz, Operators) {
  for_each_case(4000, [](Case& trial) {
    Context ctx;
    const Op& op = trial.random.pick(operators());
    std::string text = mutated(trial.random, trial.random.pick(op.examples));
    expect_read(trial, text, [&](const std::string& damaged) { print(parse_op(ctx, damaged)); });
  });
}

TEST(Fuzz, Recipes) {
  for_each_case(2000, [](Case& trial) {
    Context ctx;
    Nest nest = load(ctx, random_convolution(trial.random));
    Recipe recipe;
    for (int i = 0; i < 3; ++i) recipe.push_back(random_step(trial.random, nest, Steps::all).step);
    std::string text = mutated(trial.random, print(recipe));
    expect_read(trial, text, [&](const std::string& damaged) {
      Recipe read = parse_recipe(damaged);
      EXPECT_EQ(parse_recipe(print(read)), read);
      try_recipe(nest, read);
    });
  });
}

TEST(Fuzz, JsonRecipes) {
  for_each_case(2000, [](Case& trial) {
    Context ctx;
    Nest nest = load(ctx, random_convolution(trial.random));
    Recipe recipe;
    for (int i = 0; i < 3; ++i) recipe.push_back(random_step(trial.random, nest, Steps::all).step);
    std::string text = mutated(trial.random, to_json(recipe).dump());
    expect_read(trial, text, [&](const std::string& damaged) {
      nlohmann::json json = nlohmann::json::parse(damaged, nullptr, false);
      if (json.is_discarded()) return;
      try_recipe(nest, recipe_from_json(json));
    });
  });
}

}  // namespace
}  // namespace lathe::test
