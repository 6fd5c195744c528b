// What is computed from a nest's meaning (cost, canonical form) on random nests and recipes.
#include <gtest/gtest.h>

#include "nest/canonical.h"
#include "support/brute_force.h"
#include "support/random_recipe.h"

namespace lathe::test {
namespace {

TEST(Cost, IsThatOfAllInstances) {
  for_each_case(3000, [](Case& trial) {
    Context ctx;
    Walk walk = random_walk(trial, ctx, random_nest(trial.random), Steps::all);
    trial.story += print(walk.nest);
    Cost wanted = counted(walk.nest), is = cost(walk.nest);
    EXPECT_EQ(is.instances, wanted.instances);
    EXPECT_EQ(is.macs, wanted.macs);
    EXPECT_EQ(is.weights, wanted.weights);
    if (has_local(walk.nest)) return;
    EXPECT_EQ(is.bytes, wanted.bytes);
  });
}

/// Can every statement be described by directions?
bool is_plain(const Nest& nest) {
  auto linear = [](const Access& access) {
    auto parts = poly::parts(access.at);
    return std::all_of(parts.begin(), parts.end(),
                       [](const isl::aff& a) { return poly::take_apart(a).is_linear(); });
  };
  return std::all_of(nest.statements().begin(), nest.statements().end(), [&](const Statement& s) {
    return poly::is_box_from_zero(s.domain) && linear(s.write) &&
           std::all_of(s.reads.begin(), s.reads.end(), linear);
  });
}

/// Do loops count iterations that are no instances?
bool has_remainder(const Nest& nest) {
  for (size_t s = 0; s < nest.order.size(); ++s) {
    isl::set all = poly::boxed(iterations(nest.statements()[s], nest.order[s]));
    if (!poly::is_box(all, extents(nest.order[s]))) return true;
  }
  return false;
}

bool has_cut(const Recipe& recipe) {
  return std::any_of(recipe.begin(), recipe.end(), [](const Step& step) {
    return step.name == "split_range" || (step.name == "unroll" && step.args.size() == 2);
  });
}

TEST(Canonical, IsLeftByProgramSteps) {
  for_each_case(3000, [](Case& trial) {
    Context ctx;
    bool remainder = false;  // its parts have no canonical form once they are cut apart
    Walk walk = random_walk(trial, ctx, random_nest(trial.random), Steps::program,
                            [&](const Nest& before, const Nest&, const Judged&) {
                              remainder = remainder || has_remainder(before);
                            });
    if (has_local(walk.nest) && has_cut(walk.recipe)) return;  // a cut copy is no copy any more
    if (remainder || !is_plain(walk.original) || !is_plain(walk.nest)) return;
    trial.story += print(walk.nest);
    EXPECT_EQ(canonical(walk.nest), canonical(walk.original));
  });
}

TEST(Canonical, EqualFormsHaveEqualValues) {
  for_each_case(150, [](Case& trial) {
    Context ctx;
    std::string text = random_convolution(trial.random);
    std::map<std::string, Outputs> seen;
    for (int i = 0; i < 20; ++i) {
      Walk walk = random_walk(trial, ctx, text, Steps::all);
      Outputs values = outputs(walk.nest);
      const auto& known = *seen.emplace(canonical(walk.nest), values).first;
      EXPECT_EQ(values, known.second) << known.first;
    }
  });
}

}  // namespace
}  // namespace lathe::test
