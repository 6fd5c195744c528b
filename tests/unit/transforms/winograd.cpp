// winograd: what it makes, and what it is not for.
#include <gtest/gtest.h>

#include "legality/legality.h"
#include "nest/text.h"
#include "support/brute_force.h"
#include "support/random_nest.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

Nest after(isl::ctx ctx, const std::string& nest, const std::string& recipe) {
  return replay(load(ctx, nest), parse_recipe(recipe));
}

TEST(Winograd, StatementsAndShapes) {
  Context ctx;
  Nest nest = after(ctx, "conv(co=4, ci=6, oh=8, ow=10, k=3, pad=1)", "winograd(4)");
  EXPECT_EQ(nest.statements().size(), 7u);
  struct {
    const char* tensor;
    std::vector<long> shape;
  } table[] = {
      {"A", {4, 6}},       {"B", {6, 6}},       {"G", {6, 3}},
      {"U", {4, 6, 6, 6}}, {"T", {6, 6, 6, 6}}, {"V", {6, 6, 6, 6}},
      {"P", {6, 6, 6, 4}}, {"Q", {6, 4, 6, 4}}, {"Y", {6, 4, 4, 4}},
  };
  for (const auto& [name, shape] : table) {
    auto tensor = find_tensor(nest, name);
    ASSERT_TRUE(tensor) << name;
    EXPECT_EQ(nest.tensors()[*tensor].shape, shape) << name;
  }
}

TEST(Winograd, FewerProducts) {
  Context ctx;
  Nest direct = load(ctx, "conv(co=8, ci=8, oh=8, ow=8, k=3)");
  Nest nest = replay(direct, parse_recipe("winograd(4)"));
  for (const Statement& s : nest.statements()) {
    if (s.name == "products") {
      EXPECT_EQ(poly::count(s.domain) * 4, poly::count(direct.statements()[0].domain));
    }
  }
}

TEST(Winograd, OneStatementByName) {
  Context ctx;
  const char* layer = "conv(co=4, ci=2, oh=4, ow=4, k=3)";
  Nest both = after(ctx, layer, "split_range(co, 1/2) -> winograd(2)");
  Nest one = after(ctx, layer, "split_range(co, 1/2) -> winograd(2, conv.1)");
  EXPECT_EQ(both.statements().size(), 14u);
  EXPECT_EQ(one.statements().size(), 8u);
  EXPECT_EQ(std::count_if(one.statements().begin(), one.statements().end(),
                          [](const Statement& s) { return s.name == "conv.0"; }),
            1);
}

TEST(Winograd, SurvivesPrintingAndParsing) {
  Context ctx;
  for (const char* recipe : {"winograd(2)", "group(2) -> winograd(4)", "winograd(6)",
                             "split_range(co, 1/2) -> winograd(2)"}) {
    Nest nest = after(ctx, "conv(n=2, co=4, ci=4, oh=5, ow=7, k=3, pad=1, bias=1)",
                      fmt::format("reorder(co, ci, n) -> {}", recipe));
    Nest parsed = parse_nest(ctx, print(nest));
    EXPECT_EQ(print(parsed), print(nest)) << recipe;
    EXPECT_EQ(outputs(parsed), outputs(nest)) << recipe;
  }
}

TEST(Winograd, WhatIsRefused) {
  struct {
    const char *nest, *recipe, *reason;
  } table[] = {
      {"conv(co=4, ci=4, oh=5, ow=5, k=3, stride=2)", "winograd(2)",
       "winograd(2): the window moves by 2 along 'oh'; only windows that move by 1 share products"},
      {"conv(co=4, ci=4, oh=5, ow=5, k=3, dilation=2)", "winograd(2)",
       "the elements of the window are 2 apart along 'kh'; they must be neighbours"},
      {"conv(co=4, ci=4, oh=5, ow=5, k=1)", "winograd(2)", "no window slides"},
      {"conv(co=4, ci=4, oh=5, ow=5, k=4)", "winograd(6)",
       "winograd(6) is not there for windows of 4 elements"},
      {"conv(co=4, ci=4, oh=5, ow=5, k=5)", "winograd(6)",
       "winograd(6) is not there for windows of 5 elements; m = 2, 4, 6 go with 3, and 2, 4 with "
       "5"},
      {"conv(co=4, ci=4, oh=5, ow=5, k=3)", "winograd(8)", "windows of 3 elements"},
      {"conv(co=4, ci=4, oh=5, ow=5, kh=3, kw=1)", "winograd(2)", "winograd takes two"},
      {"conv(f32[1x4x9], f32[4x4x3])", "winograd(2)", "slides in 1 dimensions; winograd takes two"},
      {"conv(i32[1x4x5x5], i32[4x4x3x3])", "winograd(2)", "winograd needs f32 or f64"},
      {"conv(f16[1x4x5x5], f16[4x4x3x3])", "winograd(2)", "winograd needs f32 or f64"},
      {"matmul(i=4, j=5, k=6)", "winograd(2)", "no window slides"},
      {"max_pool(c=4, oh=4, ow=4, k=3)", "winograd(2)", "no statement adds products"},
      {"relu(c=4)", "winograd(2)", "no statement adds products"},
      {"conv(co=4, ci=4, oh=5, ow=5, k=3)", "winograd(2, bias)", "no statement 'bias' accumulates"},
      {"conv(co=4, ci=4, oh=6, ow=6, k=3, stride=2)", "split(oh, 2) -> winograd(2)",
       "the window moves by 2 along 'oh'"},
      {"conv(co=4, ci=4, oh=6, ow=6, k=3)", "interchange(co, oh) -> bottleneck(2) -> winograd(2)",
       "the window moves by 2 along 'oh'"},
  };
  for (const auto& [nest, recipe, reason] : table) {
    Context ctx;
    expect_failure([&] { after(ctx, nest, recipe); }, {reason});
  }
}

TEST(Winograd, CandidatesApply) {
  Context ctx;
  const Transform& winograd = find_transform("winograd");
  EXPECT_EQ(print(winograd.candidates(load(ctx, "conv(co=2, ci=2, oh=4, ow=4, k=3)"))),
            "winograd(2) -> winograd(4) -> winograd(6)");
  EXPECT_EQ(print(winograd.candidates(load(ctx, "conv(co=2, ci=2, oh=4, ow=4, k=5)"))),
            "winograd(2) -> winograd(4)");
  EXPECT_EQ(print(winograd.candidates(load(ctx, "conv(co=2, ci=2, oh=4, ow=4, k=1)"))), "");
}

}  // namespace
}  // namespace lathe::test
