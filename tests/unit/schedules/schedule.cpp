// The choice of a template: the first whose recipe applies and keeps all dependences.
#include "schedules/schedule.h"
#include "nest/starts.h"

#include <gtest/gtest.h>

#include "codegen/loops.h"
#include "compile/node.h"
#include "compile/padding.h"
#include "legality/legality.h"
#include "nest/text.h"
#include "ops/op.h"
#include "support/compiled.h"
#include "support/layouts.h"

namespace lathe::test {
namespace {

TEST(Schedule, TemplatesAreNamed) {
  std::vector<std::string> names;
  for (const Schedule& schedule : schedules::all()) {
    names.push_back(schedule.name);
    EXPECT_FALSE(schedule.summary.empty()) << schedule.name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"beforehand", "chain", "contraction", "elements",
                                             "grid", "matrices", "panels", "sums", "tiles",
                                             "window", "winograd"}));
}

TEST(Schedule, ARecipeThatBreaksADependenceIsNotTaken) {
  // The copy into a larger tensor stands between; what packs the weights later does not hide it.
  Context ctx;
  Nest nest = parse_op(ctx, "conv(co=16, ci=3, oh=16, ow=16, k=3, pad=1)");
  Nest given = with_starts(without_padding(nest, 0));
  for (const Target& target : targets()) {
    std::vector<Layout> layouts = row_major_layouts(given);
    Scheduled scheduled = schedule({given, layouts, target});
    EXPECT_NO_THROW(replay(given, scheduled.recipe)) << print(scheduled.recipe);
    EXPECT_EQ(scheduled.name, "contraction") << target.name;
  }
}

TEST(Schedule, WhatNoTemplateFitsRunsAsItIs) {
  Context ctx;
  Nest nest = parse_nest(ctx, "nest t\ntensor A: output f32[]\nstatement S[]:\n  A[] = 1\n");
  std::vector<Layout> layouts = row_major_layouts(nest);
  Scheduled scheduled = schedule({nest, layouts, native_target()});
  EXPECT_TRUE(scheduled.recipe.empty());
}

TEST(LowerNode, WeightsArePackedOnce) {
  Context ctx;
  Nest nest = parse_op(ctx, "conv(n=1, co=32, ci=16, oh=5, ow=7, k=3)");
  NodeCode code = lower_node(nest, row_major_layouts(nest), native_target());
  ASSERT_EQ(code.repackings.size(), 1u);
  const Repacking& p = code.repackings.front();
  EXPECT_EQ(code.tensors[p.from].name, "W");
  EXPECT_EQ(code.layouts[p.to].size, 32 * 16 * 9);
  for (const Code& kernel : code.kernels) EXPECT_FALSE(kernel.used[p.from]) << print(kernel);
}

TEST(LowerNode, ASumThatBeginsAtABiasIsNotPreparedOnce) {
  // The bias is copied into a tensor that is added to: constants would grow from run to run.
  Context ctx;
  Nest nest = parse_op(ctx,
                       "fused(f32[1x6x8x8], weight f32[6x1x3x3], weight f32[6], "
                       "calls=[\"conv(%0, %1, %2, groups=6, pads=[1, 1, 1, 1])\", \"relu(#0)\"])");
  std::vector<Layout> layouts = row_major_layouts(nest);
  for (size_t t = 0; t < layouts.size(); ++t) {
    if (nest.tensors()[t].role == Role::local) layouts[t] = {};
  }
  NodeCode code = lower_node(nest, layouts, native_target());
  for (const Repacking& p : code.repackings) {
    size_t writers = 0;
    for (const Code& kernel : code.kernels) {
      std::vector<const Block*> open{&kernel.body};
      while (!open.empty()) {
        const Block* block = open.back();
        open.pop_back();
        for (const Instruction& i : *block) {
          writers += i.kind == Instruction::Kind::store && i.tensor == p.to ? 1 : 0;
          open.push_back(&i.body);
        }
      }
    }
    EXPECT_EQ(writers, 0u) << code.tensors[p.to].name;
  }
}

}  // namespace
}  // namespace lathe::test
