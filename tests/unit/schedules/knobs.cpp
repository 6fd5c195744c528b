// What can be chosen about the templates: every value of every knob gives the right code, or falls
// back; the first values are what the template itself chooses.
#include <gtest/gtest.h>

#include "codegen/loops.h"
#include "compile/node.h"
#include "ops/op.h"
#include "schedules/schedule_choices.h"
#include "support/compiled.h"

namespace lathe::test {
namespace {

/// Small layers, one or more for each template.
const std::vector<std::string> layers = {
    "conv(n=1, co=32, ci=32, oh=9, ow=11, k=3)",
    "conv(n=1, co=64, ci=64, oh=5, ow=5, k=1, bias=1)",
    "conv(n=1, co=32, ci=32, oh=7, ow=7, k=3, groups=2)",
    "fully_connected(n=1, co=100, ci=48, bias=1)",
    "matmul(i=13, j=24, k=19)",
    "depthwise(n=1, c=32, oh=9, ow=14, k=3)",
    "max_pool(n=1, c=16, oh=8, ow=8, k=3, stride=2)",
    "add(n=1, c=16, h=7, w=9)",
    "transpose(f32[4x18x33], perm=[0, 2, 1])",
};

std::vector<Layout> layouts_of(const Nest& nest) {
  std::vector<Layout> layouts;
  for (const Tensor& tensor : nest.tensors()) {
    bool data = tensor.role == Role::input || tensor.role == Role::output;
    bool blocked = data && tensor.shape.size() == 4 && tensor.shape[1] % 16 == 0;
    layouts.push_back(tensor.role == Role::local ? Layout()
                                                 : blocked_layout(tensor.shape, blocked ? 16 : 1));
  }
  return layouts;
}

NodeCode lowered(const Nest& nest, const std::optional<Choice>& choice,
                 const Target& target = native_target()) {
  return lower_node(nest, layouts_of(nest), target, Listing::none, Unset::zero, choice);
}

CompiledCase case_of(const NodeCode& code, const Reference& wanted) {
  CompiledCase c{code.tensors, code.layouts, code.repackings, code.kernels, wanted, ""};
  if (rounds(code.recipe)) c.wanted.slack = slack_of_integers;
  c.story = code.schedule + ": " + code.recipe + "\n";
  return c;
}

TEST(Knobs, EveryValueGivesTheRightCode) {
  Random random(7, 0);
  for (const std::string& layer : layers) {
    SCOPED_TRACE(layer);
    Context ctx;
    Nest nest = parse_op(ctx, layer);
    Reference wanted = interpreted(nest);
    Compilation compilation;
    std::set<std::string> seen;
    size_t taken = 0, all = 0;
    for (const Fitting& fitting : fitting_schedules(nest, layouts_of(nest), native_target())) {
      for (const Knob& knob : fitting.knobs) {
        for (long value : knob.values) {
          NodeCode code = lowered(nest, Choice{fitting.schedule, {{knob.name, value}}});
          ++all;
          taken += code.as_chosen ? 1 : 0;
          if (seen.insert(code.recipe).second) compilation.add(case_of(code, wanted));
        }
      }
    }
    // Some values go with other sizes only.
    EXPECT_GE(2 * taken, all);
    compilation.run(random);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Knobs, SeveralAtOnceGiveTheRightCodeOrFallBack) {
  Random random(11, 0);
  for (const std::string& layer : layers) {
    SCOPED_TRACE(layer);
    Context ctx;
    Nest nest = parse_op(ctx, layer);
    Reference wanted = interpreted(nest);
    std::string own = lowered(nest, std::nullopt).recipe;
    Compilation compilation;
    for (const Fitting& fitting : fitting_schedules(nest, layouts_of(nest), native_target())) {
      for (int i = 0; i < 6 && !fitting.knobs.empty(); ++i) {
        Choice choice{fitting.schedule, {}};
        for (const Knob& knob : fitting.knobs)
          choice.settings[knob.name] = random.pick(knob.values);
        NodeCode code = lowered(nest, choice);
        if (!code.as_chosen) {
          EXPECT_EQ(code.recipe, own);
        } else {
          compilation.add(case_of(code, wanted));
        }
      }
    }
    compilation.run(random);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Knobs, TheFirstValuesAreTheTemplatesOwn) {
  for (const std::string& layer : layers) {
    for (const Target& target : targets()) {
      Context ctx;
      Nest nest = parse_op(ctx, layer);
      std::vector<Fitting> fitting = fitting_schedules(nest, layouts_of(nest), target);
      ASSERT_FALSE(fitting.empty());
      Choice choice{fitting.front().schedule, {}};
      for (const Knob& knob : fitting.front().knobs) {
        choice.settings[knob.name] = knob.values.front();
      }
      NodeCode own = lowered(nest, std::nullopt, target), chosen = lowered(nest, choice, target);
      EXPECT_TRUE(chosen.as_chosen) << layer << " for " << target.name;
      EXPECT_EQ(chosen.recipe, own.recipe) << layer << " for " << target.name;
      EXPECT_FALSE(own.as_chosen);
    }
  }
}

TEST(Knobs, WhatIsNoKnobOrNoValueOfOneFallsBack) {
  Context ctx;
  Nest nest = parse_op(ctx, layers.front());
  std::string own = lowered(nest, std::nullopt).recipe;
  for (const Choice& choice :
       {Choice{"contraction", {{"nothing", 1}}}, Choice{"contraction", {{"positions", 1000}}},
        Choice{"contraction", {{"block", -4}}}, Choice{"contraction", {{"blocks", 0}}},
        Choice{"contraction", {{"unroll", 3}}}, Choice{"no_template", {}}, Choice{"", {}}}) {
    NodeCode code = lowered(nest, choice);
    EXPECT_FALSE(code.as_chosen) << choice.schedule;
    EXPECT_EQ(code.recipe, own) << choice.schedule;
  }
}

TEST(Knobs, AnotherTemplateCanBeChosen) {
  Context ctx;
  Nest nest = parse_op(ctx, layers.front());
  NodeCode code = lowered(nest, Choice{"elements", {}});
  EXPECT_TRUE(code.as_chosen);
  EXPECT_EQ(code.schedule, "elements");
}

TEST(Choices, SettingsMustBeUsed) {
  using schedules::Choices;
  Choices none({}), some({{"a", 2}}), wrong({{"a", 7}}), unknown({{"b", 1}});
  EXPECT_EQ(none.choose("a", 1, {1, 2, 4}), 1);
  EXPECT_EQ(some.choose("a", 1, {1, 2, 4}), 2);
  EXPECT_EQ(wrong.choose("a", 1, {1, 2, 4}), 1);
  EXPECT_EQ(unknown.choose("a", 1, {}), 1);
  EXPECT_TRUE(none.fit());
  EXPECT_TRUE(some.fit());
  EXPECT_FALSE(wrong.fit());
  EXPECT_FALSE(unknown.fit());
  ASSERT_EQ(none.knobs().size(), 1u);
  EXPECT_EQ(none.knobs().front().values, (std::vector<long>{1, 2, 4}));
  EXPECT_TRUE(unknown.knobs().empty()) << "a single value is no choice";
}

}  // namespace
}  // namespace lathe::test
