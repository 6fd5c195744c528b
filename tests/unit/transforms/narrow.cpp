// cast, subsum and quantize: narrow factors, and sums of which parts are narrow.
#include <gtest/gtest.h>

#include <cmath>

#include "legality/legality.h"
#include "nest/footprint.h"
#include "nest/text.h"
#include "support/brute_force.h"
#include "support/random_nest.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

Element element_of(const Nest& nest, const char* tensor) {
  return nest.tensors()[find_tensor(nest, tensor).value()].element;
}

TEST(Cast, FactorsAndResultsAreNarrowAndSumsAreNot) {
  Context ctx;
  Nest nest = load(ctx, "conv(co=4, ci=6, oh=5, ow=4, k=3, pad=1, bias=1)");
  for (auto [name, element] : {std::pair("f16", Element::f16), std::pair("bf16", Element::bf16)}) {
    Nest cast = replay(nest, parse_recipe(fmt::format("cast({})", name)));
    for (const char* tensor : {"I", "W", "O"}) EXPECT_EQ(element_of(cast, tensor), element);
    for (const char* tensor : {"B", "O.sums"}) EXPECT_EQ(element_of(cast, tensor), Element::f32);
    EXPECT_EQ(outputs(cast), outputs(nest));
  }
}

TEST(Cast, ResultsThatAreNotSummedUpNeedNoOtherTensor) {
  Context ctx;
  Nest nest = parse_nest(ctx,
                         "nest t\ntensor X: input f32[4, 8]\ntensor W: weight f32[8]\n"
                         "tensor S: local f32[4]\ntensor Y: output f32[4]\n"
                         "statement sum[i < 4, k < 8]:\n  S[i] += W[k] * X[i, k]\n"
                         "statement relu[i < 4]:\n  Y[i] = max(S[i], 0)\n");
  Nest cast = replay(nest, parse_recipe("cast(f16)"));
  EXPECT_EQ(cast.tensors().size(), nest.tensors().size());
  EXPECT_EQ(element_of(cast, "Y"), Element::f16);
  EXPECT_EQ(element_of(cast, "S"), Element::f32);
}

TEST(Cast, GoesWithOtherSteps) {
  Context ctx;
  Nest nest = load(ctx, "conv(co=8, ci=8, oh=6, ow=6, k=3, pad=1)");
  for (const char* recipe : {"group(4) -> cast(f16) -> winograd(2)", "group(2) -> cast(bf16)",
                             "winograd(4) -> cast(f16)", "bottleneck(2) -> cast(f16)"}) {
    Nest narrow = replay(nest, parse_recipe(recipe));
    EXPECT_EQ(element_of(narrow, "I"),
              recipe == std::string("group(2) -> cast(bf16)") ? Element::bf16 : Element::f16)
        << recipe;
  }
  Nest both = replay(nest, parse_recipe("cast(f16) -> winograd(2)"));
  for (const char* factor : {"U", "V"}) EXPECT_EQ(element_of(both, factor), Element::f16);
  EXPECT_EQ(element_of(both, "P"), Element::f32);
  // Data are transformed in f16, too; bf16 would round too much.
  for (const char* made : {"T", "B"}) EXPECT_EQ(element_of(both, made), Element::f16) << made;
  Nest coarse = replay(nest, parse_recipe("cast(bf16) -> winograd(2)"));
  EXPECT_EQ(element_of(coarse, "T"), Element::f32);
}

TEST(Subsum, PartsAreLocalAndNarrow) {
  Context ctx;
  Nest nest = load(ctx, "conv(co=4, ci=6, oh=5, ow=4, k=3, pad=1, bias=1)");
  for (const char* recipe : {"subsum(ci, f16)", "split(ci, 4) -> subsum(ci.o, f16)",
                             "reorder(oh, ow, ci, kh, kw, co) -> subsum(conv:ow, f16)"}) {
    Nest parts = replay(nest, parse_recipe(recipe));
    EXPECT_EQ(element_of(parts, "O.part"), Element::f16) << recipe;
    EXPECT_EQ(parts.statements().size(), nest.statements().size() + 2) << recipe;
    EXPECT_EQ(outputs(parts), outputs(nest)) << recipe;
  }
}

TEST(Subsum, StatesMoreTheLongerItsSumsAre) {
  Context ctx;
  Nest nest = load(ctx, "matmul(i=2, j=2, k=1024)");
  double before = 0;
  for (long size : {8L, 64L, 512L}) {
    Nest split = replay(nest, {{"split", {std::string("k"), size}}});
    double error = *apply(split, {"subsum", {std::string("k.o"), std::string("f16")}}).error;
    EXPECT_GT(error, before);
    before = error;
  }
}

/// Returns the elements of a tensor that is computed from numbers of any size.
std::vector<double> values_of(const Nest& nest, const char* tensor) {
  Buffers<double> buffers = make_buffers<double>(nest);
  fill_inputs(nest, buffers, 3, 1000);
  interpret(nest, buffers);
  return buffers[find_tensor(nest, tensor).value()];
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (double x : values) most = std::max(most, std::abs(x));
  return most;
}

TEST(Quantize, FactorsAreOfEightBitsAndSumsOf32) {
  Context ctx;
  Nest nest = load(ctx, "conv(co=4, ci=6, oh=5, ow=4, k=3, pad=1, bias=1)");
  Nest narrow = replay(nest, parse_recipe("quantize(int8)"));
  for (const char* tensor : {"I", "W", "B", "O"}) {
    EXPECT_EQ(element_of(narrow, tensor), Element::f32);
  }
  for (const char* tensor : {"I.int8", "W.int8"}) {
    EXPECT_EQ(element_of(narrow, tensor), Element::i8);
    for (double x : values_of(narrow, tensor)) EXPECT_EQ(x, std::round(x));
    EXPECT_EQ(largest(values_of(narrow, tensor)), 127) << tensor;
  }
  EXPECT_EQ(element_of(narrow, "O.integers"), Element::i32);
}

TEST(Quantize, StaysWithinItsBound) {
  Context ctx;
  for (const char* text :
       {"conv(co=4, ci=6, oh=5, ow=4, k=3, pad=1, bias=1)", "matmul(i=5, j=7, k=9)",
        "depthwise(c=6, oh=5, ow=5, k=3, pad=1)", "conv(co=8, ci=8, oh=5, ow=5, k=1)"}) {
    Nest nest = load(ctx, text);
    Applied narrow = apply(nest, parse_recipe("quantize(int8)").front());
    std::vector<double> must = values_of(nest, "O"), is = values_of(narrow.nest, "O");
    double squares = 0, worst = 0;
    for (size_t i = 0; i < must.size(); ++i) {
      squares += must[i] * must[i];
      worst = std::max(worst, std::abs(is[i] - must[i]));
    }
    double rms = std::sqrt(squares / static_cast<double>(must.size()));
    EXPECT_LT(worst, *narrow.error * rms) << text;
    EXPECT_GT(worst, 0) << text;
  }
}

TEST(Quantize, WhatMeetsInASumHasOneScale) {
  struct {
    const char *nest, *recipe, *tensor;
    std::vector<long> scales;
  } table[] = {
      {"conv(co=4, ci=6, oh=5, ow=4, k=3)", "quantize(int8)", "W.greatest", {4}},
      {"conv(co=4, ci=6, oh=5, ow=4, k=3)", "quantize(int8)", "I.greatest", {}},
      {"conv(co=4, ci=6, oh=5, ow=4, k=1)", "quantize(int8)", "I.greatest", {5, 4}},
      {"conv(co=4, ci=4, oh=5, ow=4, k=3)", "group(2) -> quantize(int8)", "W.greatest", {2, 2}},
      {"depthwise(c=6, oh=5, ow=5, k=3)", "quantize(int8)", "I.greatest", {6}},
      {"matmul(i=5, j=7, k=9)", "quantize(int8)", "A.greatest", {5}},
      {"matmul(i=5, j=7, k=9)", "quantize(int8)", "B.greatest", {7}},
  };
  for (const auto& [nest, recipe, tensor, scales] : table) {
    Context ctx;
    Nest narrow = replay(load(ctx, nest), parse_recipe(recipe));
    EXPECT_EQ(narrow.tensors()[find_tensor(narrow, tensor).value()].shape, scales) << nest;
  }
}

TEST(Quantize, ReadsNoWeightsThatNeuralStepsTookAway) {
  Context ctx;
  Nest nest = load(ctx, "conv(co=8, ci=8, oh=5, ow=4, k=3)");
  for (const char* recipe : {"group(4)", "unroll(co, 4) -> group(2)", "bottleneck(2)"}) {
    Nest changed = replay(nest, parse_recipe(recipe));
    Nest narrow = replay(changed, parse_recipe("quantize(int8)"));
    EXPECT_EQ(cost(narrow).weights, cost(changed).weights) << recipe;
  }
}

TEST(Quantize, NumbersThatAreAllZeroStayZero) {
  Context ctx;
  Nest narrow = replay(load(ctx, "matmul(i=2, j=2, k=4)"), parse_recipe("quantize(int8)"));
  Buffers<double> buffers = make_buffers<double>(narrow);
  interpret(narrow, buffers);
  for (double x : buffers[find_tensor(narrow, "O").value()]) EXPECT_EQ(x, 0);
}

TEST(Quantize, EveryProductOfSeveralIsOfIntegers) {
  Context ctx;
  Nest nest = load(ctx, "conv(co=8, ci=8, oh=6, ow=6, k=3, pad=1)");
  Nest narrow = replay(nest, parse_recipe("group(4, deepen) -> quantize(int8)"));
  for (const char* factor : {"W.int8", "I.int8", "E.int8", "O.active.int8"}) {
    EXPECT_EQ(element_of(narrow, factor), Element::i8) << factor;
  }
  EXPECT_GT(
      *apply(replay(nest, parse_recipe("group(4, deepen)")), parse_recipe("quantize(int8)").front())
           .error,
      *apply(nest, parse_recipe("quantize(int8)").front()).error);
}

TEST(Narrow, ErrorsSayWhy) {
  struct {
    const char *nest, *recipe, *reason;
  } table[] = {
      {"relu(c=4)", "cast(f16)", "no statement adds products"},
      {"max_pool(c=4, oh=4, ow=4, k=3)", "cast(f16)", "no statement adds products"},
      {"conv(co=4, ci=4, oh=5, ow=5, k=3)", "cast(f16) -> cast(f16)",
       "all that is read and written is of f16 or narrower"},
      {"conv(co=4, ci=4, oh=5, ow=5, k=3)", "cast(f64)", "f16, bf16 or tf32"},
      {"conv(co=4, ci=4, oh=5, ow=5, k=3)", "subsum(kw, f16)", "no products are added up"},
      {"conv(co=4, ci=4, oh=5, ow=5, k=3)", "subsum(x, f16)", "'x'"},
      {"relu(c=4)", "subsum(c, f16)", "inside loop 'c' no products are added up"},
      {"relu(c=4)", "quantize(int8)", "no statement adds products"},
      {"conv(co=4, ci=4, oh=5, ow=5, k=3)", "quantize(int4)", "expected int8"},
      {"conv(co=4, ci=4, oh=5, ow=5, k=3)", "quantize(int8) -> quantize(int8)",
       "no statement adds products of two real numbers"},
      {"conv(co=4, ci=4, oh=5, ow=5, k=3)", "winograd(2) -> quantize(int8)", "U was transformed"},
      {"conv(co=4, ci=4, oh=5, ow=5, k=3)", "quantize(int8) -> winograd(2)", "f32 or f64"},
      {"conv(co=4, ci=4, oh=5, ow=5, k=3)", "quantize(int8) -> bottleneck(2, expand)",
       "let it come before quantize"},
      {"matmul(i=2, j=2, k=200000)", "quantize(int8)", "may leave i32"},
  };
  for (const auto& [nest, recipe, reason] : table) {
    Context ctx;
    expect_failure([&] { replay(load(ctx, nest), parse_recipe(recipe)); }, {reason});
  }
}

TEST(Narrow, RoundingMoreThanAllowedIsRefused) {
  Context ctx;
  Nest nest = load(ctx, "conv(co=4, ci=4, oh=5, ow=5, k=3)");
  Limits limits{.error = 1e-3};
  for (const char* step : {"cast(f16)", "subsum(co, f16)", "quantize(int8)"}) {
    Judged judged = try_step(nest, parse_recipe(step).front(), limits);
    EXPECT_FALSE(judged.verdict.accepted()) << step;
  }
}

}  // namespace
}  // namespace lathe::test
