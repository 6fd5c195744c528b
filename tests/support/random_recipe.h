// Random steps on a nest: those that the transformations see themselves, and any arguments at all.
#pragma once

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "legality/legality.h"
#include "support/random_nest.h"

namespace lathe::test {

/// Which steps are drawn.
enum class Steps { program, all };

/// A step, and whether candidates() promised that it applies.
struct Draw {
  Step step;
  bool promised;
};

inline bool is_wanted(const Transform& t, Steps steps) {
  if (t.kind == Transform::Kind::network) return false;  // it applies to no nest
  return steps == Steps::all || t.kind == Transform::Kind::program;
}

/// Returns what a transformation sees on a nest, without what has no values on integers: a
/// normalisation.
inline std::vector<Step> integer_candidates(const Transform& t, const Nest& nest) {
  std::vector<Step> seen = t.candidates(nest);
  std::erase_if(seen, [](const Step& step) {
    auto has = [&](const char* word) {
      return std::find(step.args.begin(), step.args.end(), Arg(word)) != step.args.end();
    };
    return has("deepen") || has("reduce");
  });
  return seen;
}

inline Arg random_loop(Random& random, const Nest& nest) {
  size_t s = static_cast<size_t>(random.between(0, static_cast<long>(nest.order.size()) - 1));
  if (nest.order[s].loops.empty()) return "none";
  std::string name = random.pick(nest.order[s].loops).name;
  return random.chance(25) ? nest.statements()[s].name + ":" + name : name;
}

inline Arg random_arg(Random& random, const Nest& nest, Takes takes) {
  switch (takes) {
    case Takes::loop:
    case Takes::loops:
    case Takes::tiles:
      return random_loop(random, nest);
    case Takes::factor:
      return random.between(2, 5);
    case Takes::count:
      return random.between(1, 4);
    case Takes::part:
      if (random.chance(50)) return random.between(1, 4);
      return Fraction{random.between(1, 2), random.between(2, 3)};
    case Takes::tensor:
      return random.pick(nest.tensors()).name;
    case Takes::name:
      return random.pick({"f", "i", "z"});
    case Takes::axis:
      return random.pick({"block.x", "thread.x", "thread.y", "vthread"});
    case Takes::space:
      return random.pick({"shared", "private"});
    case Takes::element:
      return random.pick({"f16", "bf16"});
    case Takes::integer:
      return "int8";
    case Takes::completion:
      return random.pick({"propagate", "expand", "repeat"});
    case Takes::channels:
      return Range{random.between(0, 3), random.between(0, 3)};
  }
  return 0L;
}

/// Draws arguments without asking whether they make sense.
inline Step random_arguments(Random& random, const Nest& nest, const Transform& t) {
  Step step{t.name, {}};
  for (const Parameter& p : t.takes) {
    if (p.optional && random.chance(50)) break;
    bool repeats = p.takes == Takes::loops || p.takes == Takes::tiles;
    for (long n = repeats ? random.between(1, 3) : 1; n > 0; --n) {
      step.args.push_back(random_arg(random, nest, p.takes));
      if (p.takes == Takes::tiles) step.args.push_back(random_arg(random, nest, Takes::factor));
    }
  }
  return step;
}

/// Draws a step; every transformation is as likely as the others.
inline Draw random_step(Random& random, const Nest& nest, Steps steps) {
  std::vector<const Transform*> transforms;
  for (const Transform& t : transforms::all()) {
    if (is_wanted(t, steps)) transforms.push_back(&t);
  }
  const Transform& t = *random.pick(transforms);
  std::vector<Step> seen = integer_candidates(t, nest);
  if (!seen.empty() && random.chance(60)) return {random.pick(seen), true};
  return {random_arguments(random, nest, t), false};
}

/// What a random recipe made of a random nest.
struct Walk {
  std::string text;  ///< of the nest
  Nest original, nest;
  Recipe recipe;  ///< the steps that were accepted
};

/// Called after each step that applies, with what it made (accepted or not).
using Visit = std::function<void(const Nest& before, const Nest& after, const Judged& judged)>;

/// Draws a nest and a recipe, and applies the steps that are accepted.
inline Walk random_walk(Case& trial, isl::ctx ctx, const std::string& text, Steps steps,
                        const Visit& visit = {}) {
  trial.story += text + "\n";
  Nest nest = load(ctx, text);
  Walk walk{text, nest, nest, {}};
  for (long n = trial.random.between(1, 6); n > 0; --n) {
    Draw draw = random_step(trial.random, walk.nest, steps);
    trial.story += print(draw.step);
    try {
      Judged judged = try_step(walk.nest, draw.step);
      EXPECT_NO_THROW(verify(judged.nest.tensors(), judged.nest.statements()));
      trial.story += fmt::format("   {}\n", name_of(judged.verdict.kind));
      if (visit) visit(walk.nest, apply(walk.nest, draw.step).nest, judged);
      if (!judged.verdict.accepted()) continue;
      walk.nest = judged.nest;
      walk.recipe.push_back(draw.step);
    } catch (const UserError& error) {
      trial.story += fmt::format("   {}\n", error.what());
      EXPECT_FALSE(draw.promised) << "a candidate does not apply: " << error.what();
    }
  }
  trial.story += "recipe: " + print(walk.recipe) + "\n";
  return walk;
}

}  // namespace lathe::test
