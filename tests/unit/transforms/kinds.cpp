// Kinds of convolutions as recipes.
#include "transforms/transform_kinds.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "legality/legality.h"
#include "nest/canonical.h"
#include "ops/op.h"

namespace lathe::test {
namespace {

constexpr const char* square = "conv(co=64, ci=64, oh=8, ow=8, k=3, pad=1)";
constexpr const char* wider = "conv(co=128, ci=64, oh=8, ow=8, k=3, pad=1, stride=2)";

/// Names what a kind makes of a convolution; "none" if its sizes do not allow it.
std::string name_of_kind(const std::string& text, const std::string& kind) {
  Context context;
  Nest nest = parse_op(context, text);
  auto recipe = recipe_of_kind(nest, kind);
  return recipe ? meaning_name(nest, replay(nest, *recipe)) : "none";
}

TEST(Kinds, AreWhatTheirNamesSay) {
  for (const char* layer : {square, wider}) {
    auto name = [&](const char* kind) { return name_of_kind(layer, kind); };
    EXPECT_EQ(name("dense"), "the same operator");
    EXPECT_EQ(name("group-8"), "grouped x8");
    EXPECT_EQ(name("seq2-16-2"), "sequence 2 (16 dense, the rest in 2 groups)");
    EXPECT_EQ(name("seq3-2-4"), "sequence 3 (filters in 2 and 4 groups)");
    EXPECT_EQ(name("stripe-2"), "sequence 1 (spatial groups x2)");
    EXPECT_EQ(name("botx-4"), "output bottleneck x4, deepened");
    EXPECT_EQ(name("botr-2"), "output bottleneck x2, repeated");
    EXPECT_EQ(name("boti-2"), "input bottleneck x2");
    EXPECT_EQ(name("bots-2"), "spatial bottleneck x2, repeated");
  }
  EXPECT_EQ(name_of_kind(square, "dw"), "depthwise, deepened");
  EXPECT_EQ(name_of_kind(square, "seq3-1-4"), "sequence 2 (32 dense, the rest in 4 groups)");
  EXPECT_EQ(name_of_kind(square, "seq3-4-1"), "32 of co: grouped x4; 32 of co: dense");
}

TEST(Kinds, TheDepthwiseConvolutionHasAsManyFiltersAsThereAreChannels) {
  Context context;
  EXPECT_EQ(print(*recipe_of_kind(parse_op(context, wider), "dw")),
            "bottleneck(2, deepen) -> group(64)");
}

TEST(Kinds, ShuffledGroupsReadOneOfEachRunOfChannels) {
  Context context;
  Nest layer = parse_op(context, square);
  EXPECT_EQ(print(*recipe_of_kind(layer, "shuf-8")),
            "split(ci, 8) -> interchange(ci.o, ci.i) -> group(8)");
  EXPECT_EQ(print(*recipe_of_kind(layer, "shuf-64")), "group(64)");
}

TEST(Kinds, OfConvolutionsWithABias) {
  const std::string biased = "conv(co=8, ci=8, oh=4, ow=4, k=3, pad=1, bias=1)";
  EXPECT_EQ(name_of_kind(biased, "seq3-2-4"), "sequence 3 (filters in 2 and 4 groups)");
  EXPECT_EQ(name_of_kind(biased, "seq2-2-2"), "sequence 2 (2 dense, the rest in 2 groups)");
  EXPECT_EQ(name_of_kind(biased, "stripe-2"), "sequence 1 (spatial groups x2)");
  EXPECT_EQ(name_of_kind(biased, "bots-2"), "spatial bottleneck x2, repeated");
}

TEST(Kinds, AreNoneWhereTheSizesDoNotAllowIt) {
  const std::string odd = "conv(co=6, ci=9, oh=3, ow=3, k=3)";
  for (const char* kind : {"group-2", "shuf-2", "dw", "seq2-6-2", "seq2-4-2", "seq3-2-4",
                           "stripe-2", "botx-4", "botr-4", "boti-2", "bots-2"}) {
    EXPECT_EQ(name_of_kind(odd, kind), "none") << kind;
  }
}

TEST(Kinds, SaysWhichThereAre) {
  for (const char* kind : {"grup-2", "group", "group-1", "group-x", "group-2-2", "dw-2", ""}) {
    try {
      name_of_kind(square, kind);
      ADD_FAILURE() << kind;
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find("kinds here: dense group-G dw"), std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace lathe::test
