// What is made of weights alone is made once: which kernels those are.
#include <gtest/gtest.h>

#include "compile/node.h"
#include "legality/legality.h"
#include "nest/text.h"
#include "ops/op.h"
#include "support/compiled.h"
#include "support/layouts.h"

namespace lathe::test {
namespace {

NodeCode lowered(const Nest& nest, const std::optional<Choice>& choice = std::nullopt) {
  return lower_node(nest, blocked_layouts(nest, 16), native_target(), Listing::none, Unset::zero,
                    choice);
}

long count_of_once(const NodeCode& code) {
  EXPECT_EQ(code.once.size(), code.kernels.size());
  return std::count(code.once.begin(), code.once.end(), true);
}

/// Expects that what runs once reads nothing that a run gives, and writes what is local.
void expect_weights_alone(const NodeCode& code) {
  for (size_t k = 0; k < code.kernels.size(); ++k) {
    if (!code.once[k]) continue;
    for (size_t t : arguments_of(code.kernels[k])) {
      EXPECT_NE(code.tensors[t].role, Role::input) << code.tensors[t].name;
      EXPECT_NE(code.tensors[t].role, Role::output) << code.tensors[t].name;
    }
  }
}

const Choice winograd{"winograd", {{"outputs", 4}}};
constexpr const char* layer = "conv(n=1, co=32, ci=32, oh=8, ow=8, k=3)";

TEST(Once, WeightsAreTransformedOnce) {
  Context ctx;
  NodeCode code = lowered(parse_op(ctx, layer), winograd);
  ASSERT_TRUE(code.as_chosen);
  EXPECT_GE(count_of_once(code), 1);
  EXPECT_FALSE(code.once.back());
  EXPECT_EQ(code.tensors[find_tensor(parse_op(ctx, layer), "W").value()].role, Role::weight);
  expect_weights_alone(code);
}

TEST(Once, WeightsThatEachRunGivesAreNot) {
  Context ctx;
  std::string text = print(parse_op(ctx, layer));
  text.replace(text.find("W: weight"), 9, "W: input");
  EXPECT_EQ(count_of_once(lowered(parse_nest(ctx, text), winograd)), 0);
}

TEST(Once, OrdinaryLayersHaveNone) {
  for (const char* text : {"conv(n=1, co=32, ci=32, oh=8, ow=8, k=1)", "relu(c=8)"}) {
    Context ctx;
    EXPECT_EQ(count_of_once(lowered(parse_op(ctx, text))), 0) << text;
  }
}

/// Y[i] = U[39 - i] * X[i], where U is made of weights in two steps and "more" is something else.
std::string chain(const std::string& more) {
  return "nest t\ntensor X: input f32[40]\ntensor W: weight f32[40, 4]\ntensor K: constant f32[4] "
         "= [1, 2, 3, 4]\ntensor S: local f32[40]\ntensor U: local f32[40]\ntensor Y: output "
         "f32[40]\nstatement a[i < 40, k < 4]:\n  S[i] += K[k] * W[i, k]\n"
         "statement b[i < 40]:\n  U[i] = " +
         more + "\nstatement c[i < 40]:\n  Y[i] = U[39 - i] * X[i]\n";
}

TEST(Once, WhatIsMadeOfWhatIsMadeOfWeights) {
  Context ctx;
  Nest nest = parse_nest(ctx, chain("2 * S[39 - i]"));
  NodeCode code = lowered(nest);
  EXPECT_GE(count_of_once(code), 1);
  expect_weights_alone(code);
  Compilation compilation;
  compilation.add(
      {code.tensors, code.layouts, code.repackings, code.kernels, interpreted(nest), code.recipe});
  Random random(1, 1);
  compilation.run(random);
}

TEST(Once, WhatNeedsAnInputIsMadeInEachRun) {
  Context ctx;
  NodeCode code = lowered(parse_nest(ctx, chain("S[39 - i] + X[i]")));
  expect_weights_alone(code);
  for (size_t k = 0; k < code.kernels.size(); ++k) {
    for (size_t t : arguments_of(code.kernels[k])) {
      EXPECT_FALSE(code.tensors[t].name == "U" && code.once[k]);
    }
  }
}

}  // namespace
}  // namespace lathe::test
