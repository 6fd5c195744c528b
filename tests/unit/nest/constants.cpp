// Constants: tensors whose values are part of the nest.
#include <gtest/gtest.h>

#include "codegen/code.h"
#include "nest/canonical.h"
#include "nest/interpret.h"
#include "nest/starts.h"
#include "nest/text.h"
#include "support/brute_force.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

std::string with_constant(const std::string& declaration) {
  return "nest t\ntensor X: input f32[3]\n" + declaration +
         "\ntensor Y: output f32[2]\nstatement S[i < 2, k < 3]:\n  Y[i] += K[i, k] * X[k]\n";
}

TEST(Constants, SurvivePrintingAndParsing) {
  for (const char* declaration :
       {"tensor K: constant f32[2, 3] = [1, -2, 3, 0.5, -0.041666666666666664, 0]",
        "tensor K: constant f64[2, 3] = [1e-30, 2.5e+17, 0.1, 1, 1, 1]"}) {
    Context ctx;
    std::string text = with_constant(declaration);
    Nest nest = parse_nest(ctx, text);
    EXPECT_NE(print(nest).find(declaration), std::string::npos) << print(nest);
    EXPECT_EQ(print(parse_nest(ctx, print(nest))), print(nest));
    EXPECT_EQ(parse_nest(ctx, print(nest)).tensors()[1].values, nest.tensors()[1].values);
  }
}

TEST(Constants, AreInterpretedWithTheirValues) {
  Context ctx;
  Nest nest = parse_nest(ctx, with_constant("tensor K: constant f32[2, 3] = [1, -2, 3, 4, 5, 6]"));
  Buffers<double> buffers = make_buffers<double>(nest);
  buffers[0] = {1, 10, 100};
  interpret(nest, buffers);
  EXPECT_EQ(buffers[2], (std::vector<double>{281, 654}));
}

TEST(Constants, OtherValuesAreAnotherMeaning) {
  Context ctx;
  auto meaning = [&](const char* values) {
    return canonical(
        parse_nest(ctx, with_constant(fmt::format("tensor K: constant f32[2, 3] = {}", values))));
  };
  EXPECT_EQ(meaning("[1, 2, 3, 4, 5, 6]"), meaning("[1, 2, 3, 4, 5, 6]"));
  EXPECT_NE(meaning("[1, 2, 3, 4, 5, 6]"), meaning("[1, 2, 3, 4, 5, 7]"));
}

TEST(Constants, KnownFactorsAreNotLoaded) {
  // Row 0 of K is 0, 1, -1: no product is needed, and nothing is added for the 0.
  Context ctx;
  Nest nest =
      parse_nest(ctx,
                 "nest t\ntensor X: input f32[3, 8]\ntensor K: constant f32[3] = [0, 1, -1]\n"
                 "tensor Y: output f32[8]\nstatement S[k < 3, j < 8]:\n  Y[j] += K[k] * X[k, j]\n"
                 "schedule:\n  for k unrolled, j vector: S\n");
  std::string text = print(lower(scan(with_starts(nest)), target_named("aarch64")).back());
  EXPECT_EQ(text.find("load K"), std::string::npos) << text;
  EXPECT_EQ(text.find(" * "), std::string::npos) << text;
}

TEST(Constants, WhatIsRefused) {
  struct {
    const char *declaration, *reason;
  } table[] = {
      {"tensor K: constant f32[2, 3] = [1, 2, 3]", "constant 'K' has 6 elements, but 3 values"},
      {"tensor K: constant f32[2, 3] = [1, 2, 3, 4, 5, 6, 7]", "6 elements, but 7 values"},
      {"tensor K: constant f32[2, 3] = []", "6 elements, but 0 values"},
      {"tensor K: constant f32[2, 3]", "expected '='"},
      {"tensor K: constant f32[2, 3] = [1, 2, 3, 4, 5, x]", "a value of the constant"},
      {"tensor K: constant f32[2, 3] pad [0, 1] = [1, 2, 3, 4, 5, 6]", "'K' has padding"},
      {"tensor K: input f32[2, 3] = [1, 2, 3, 4, 5, 6]", "expected a tensor or a statement"},
  };
  for (const auto& [declaration, reason] : table) {
    Context ctx;
    expect_failure([&] { parse_nest(ctx, with_constant(declaration)); }, {reason});
  }
}

TEST(Constants, AreNotWritten) {
  Context ctx;
  std::string text =
      "nest t\ntensor K: constant f32[2] = [1, 2]\nstatement S[i < 2]:\n  K[i] = 1\n";
  expect_failure([&] { parse_nest(ctx, text); },
                 {"statement 'S' writes 'K', which is a constant of the nest"});
}

}  // namespace
}  // namespace lathe::test
