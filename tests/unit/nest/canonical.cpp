// Canonical forms and names: recipes with one meaning are one, and known meanings have their name.
#include "nest/canonical.h"

#include <gtest/gtest.h>

#include "legality/legality.h"
#include "ops/op.h"

namespace lathe {
namespace {

constexpr const char* layer = "conv(co=16, ci=16, oh=8, ow=8, k=3, pad=1)";

std::string name_after(const std::string& recipe, const char* op = layer) {
  Context context;
  Nest nest = parse_op(context, op);
  return meaning_name(nest, replay(nest, parse_recipe(recipe)));
}

bool same(const std::string& a, const std::string& b) {
  Context context;
  Nest nest = parse_op(context, layer);
  return canonical(replay(nest, parse_recipe(a))) == canonical(replay(nest, parse_recipe(b)));
}

TEST(Canonical, ProgramStepsChangeNothing) {
  for (const char* recipe :
       {"split(co, 4)", "interchange(co, ci)", "tile(oh, 4, ow, 4)", "fuse(oh, ow)",
        "split_range(co, 1/2)", "unroll(ci, 3)", "pack(W)", "split(co, 4) -> pack(W, co.o)",
        "split(co, 4) -> split_range(co.i, 1)", "split(co, 5) -> split_range(ci, 1/4)",
        "split(co, 5) -> split(co.i, 2) -> unroll(oh, 3)"}) {
    EXPECT_EQ(name_after(recipe), "the same operator") << recipe;
  }
}

TEST(Canonical, TwoRecipesOneMeaning) {
  EXPECT_TRUE(same("group(4)", "interchange(co, ci) -> group(4)"));
  EXPECT_TRUE(same("group(4)", "group(4) -> split(ci, 2) -> interchange(ci.o, oh)"));
  EXPECT_TRUE(same("bottleneck(2) -> bottleneck(2)", "bottleneck(4)"));
  EXPECT_TRUE(same("split(co, 4) -> interchange(co.i, ci) -> bottleneck(2)", "bottleneck(2)"));
  EXPECT_FALSE(same("group(4)", "group(2)"));
  EXPECT_FALSE(same("bottleneck(2)", "bottleneck(2, repeat)"));
  EXPECT_FALSE(same("bottleneck(2)", "interchange(co, ci) -> bottleneck(2)"));
}

TEST(Names, NeuralSteps) {
  EXPECT_EQ(name_after("group(4)"), "grouped x4");
  EXPECT_EQ(name_after("group(16)"), "depthwise");
  EXPECT_EQ(name_after("bottleneck(4)"), "output bottleneck x4");
  EXPECT_EQ(name_after("bottleneck(4, expand)"), "output bottleneck x4, expanded");
  EXPECT_EQ(name_after("bottleneck(4, deepen)"), "output bottleneck x4, deepened");
  EXPECT_EQ(name_after("interchange(co, ci) -> bottleneck(4, reduce)"),
            "input bottleneck x4, reduced");
  EXPECT_EQ(name_after("bottleneck(2, deepen) -> interchange(conv:co, conv:ci) -> "
                       "bottleneck(2, reduce) -> group(4)"),
            "grouped x4, output bottleneck x2, input bottleneck x2, deepened, reduced");
  EXPECT_EQ(name_after("group(4, expand)"), "grouped x4, mixed");
  EXPECT_EQ(name_after("group(16, deepen)"), "depthwise, deepened");
  EXPECT_EQ(name_after("bottleneck(2) -> interchange(co, ci) -> bottleneck(2) -> group(8)"),
            "depthwise, output bottleneck x2, input bottleneck x2");
  EXPECT_EQ(name_after("bottleneck(4, repeat)"), "output bottleneck x4, repeated");
  EXPECT_EQ(name_after("interchange(co, ci) -> bottleneck(2)"), "input bottleneck x2");
  EXPECT_EQ(name_after("reorder(oh, co, ci) -> bottleneck(2)"), "spatial bottleneck x2 (oh)");
  EXPECT_EQ(name_after("bottleneck(2) -> group(4)"), "grouped x4, output bottleneck x2");
  EXPECT_EQ(name_after("reorder(oh, ow, co, ci) -> bottleneck(2) -> interchange(oh, ow) -> "
                       "bottleneck(2) -> reorder(co, ci, oh, ow)"),
            "spatial bottleneck x2");
}

TEST(Names, Sequences) {
  EXPECT_EQ(name_after("split(oh, 4) -> interchange(co, oh.o) -> group(2) -> interchange(ci, oh.i) "
                       "-> fuse(g, oh.i, oh)"),
            "sequence 1 (spatial groups x2)");
  EXPECT_EQ(name_after("unroll(co, 4) -> group(2) -> interchange(co.1, ci)"),
            "sequence 2 (4 dense, the rest in 2 groups)");
  EXPECT_EQ(name_after("split_range(co, 1/2) -> group(2) -> interchange(co.0, co.1) -> group(4)"),
            "sequence 3 (filters in 2 and 4 groups)");
}

TEST(Names, ShuffledGroups) {
  EXPECT_EQ(name_after("split(ci, 2) -> interchange(ci.o, ci.i) -> group(2)"),
            "shuffled groups x2");
  EXPECT_EQ(name_after("split(ci, 4) -> interchange(ci.o, ci.i) -> group(2)"),
            "shuffled groups x2 (blocks of 2)");
  EXPECT_EQ(name_after("split(co, 2) -> interchange(co.o, co.i) -> interchange(co.o, ci) -> "
                       "group(2)"),
            "shuffled filters x2");
  EXPECT_EQ(name_after("split(ci, 2) -> interchange(ci.o, ci.i) -> group(2, deepen)"),
            "shuffled groups x2, deepened");
  EXPECT_EQ(name_after("split(ci, 2) -> interchange(co, ci.i) -> bottleneck(2)"),
            "input bottleneck x2 (one in 2)");
  EXPECT_EQ(name_after("group(2) -> interchange(g, ci) -> bottleneck(2)"),
            "grouped x2, input bottleneck x2 in each group");
}

TEST(Names, PoolsHaveChannels) {
  EXPECT_EQ(name_after("bottleneck(2)", "max_pool(c=8, oh=4, ow=4, k=2, stride=2)"),
            "output bottleneck x2");
}

}  // namespace
}  // namespace lathe
