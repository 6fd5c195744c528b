// Vector code: what stays in registers, what becomes lanes, what is left to workers.
#include <gtest/gtest.h>

#include "codegen/code.h"
#include "legality/legality.h"
#include "nest/starts.h"
#include "nest/text.h"
#include "support/compiled.h"
#include "support/random_nest.h"

namespace lathe::test {
namespace {

std::vector<Code> code_of(const std::string& nest, const std::string& recipe,
                          const std::string& target = "x86-64-v3") {
  Context ctx;
  Nest result = replay(with_starts(load(ctx, nest)), parse_recipe(recipe));
  return lower(scan(result), target_named(target));
}

TEST(Lower, ElementsAreLoadedAndStored) {
  std::vector<Code> kernels = code_of("relu(c=8)", "vectorize(c)");
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].number, Number::f32);
  EXPECT_EQ(kernels[0].count(), 1);
  std::string text = print(kernels[0]);
  EXPECT_NE(text.find("x8"), std::string::npos) << text;
  EXPECT_EQ(text.find("for"), std::string::npos) << text;
}

/// Counts the loads and stores of a tensor inside loops, or outside of all.
long touches(const Code& code, const Block& block, const std::string& tensor, bool in_loops,
             bool in_loop = false) {
  long count = 0;
  for (const Instruction& i : block) {
    bool memory = i.kind == Instruction::Kind::load || i.kind == Instruction::Kind::store;
    if (memory && code.tensors[i.tensor].name == tensor && in_loop == in_loops) ++count;
    bool loop = i.kind == Instruction::Kind::loop;
    count += touches(code, i.body, tensor, in_loops, in_loop || loop);
  }
  return count;
}

TEST(Lower, ATileIsSummedUpInRegisters) {
  // O[i, j] for 2 by 8 elements, all of k: nothing of O is touched inside the loop over k.
  std::vector<Code> kernels =
      code_of("matmul(i=2, j=8, k=16)", "reorder(k, i, j) -> unroll(i) -> vectorize(j)");
  ASSERT_EQ(kernels.size(), 2u);  // the start, the sum
  const Code& sum = kernels[1];
  EXPECT_EQ(touches(sum, sum.body, "O", true), 0) << print(sum);
  EXPECT_EQ(touches(sum, sum.body, "O", false), 4) << print(sum);
  EXPECT_NE(print(sum).find("v2 * v3 + v0"), std::string::npos) << print(sum);
}

TEST(Lower, ThePartOfATileIsSummedUpInRegisters) {
  // 5 rows in tiles of 2: the last one has one row.
  std::vector<Code> kernels = code_of(
      "matmul(i=5, j=8, k=16)",
      "split(i, 2) -> reorder(i.o, k, i.i, j) -> merge(i.o) -> unroll(i.i) -> vectorize(j)");
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(print(kernels[0]).find("load O"), std::string::npos) << print(kernels[0]);
}

TEST(Lower, WhatEveryPartOfATileKeepsInRegistersIsNotStored) {
  // The last tile has one row: T is written and read in two places, each time in registers.
  std::string nest =
      "nest t\ntensor X: input f32[5, 8]\ntensor T: local f32[5, 8]\n"
      "tensor Y: output f32[5, 8]\nstatement S[i < 5, j < 8]:\n  T[i, j] = 2 * X[i, j]\n"
      "statement R[i < 5, j < 8]:\n  Y[i, j] = T[i, j] + 1\n";
  std::vector<Code> kernels =
      code_of(nest, "split(i, 2) -> merge(i.o) -> unroll(i.i) -> vectorize(j)");
  ASSERT_EQ(kernels.size(), 1u);
  std::string text = print(kernels[0]);
  EXPECT_NE(text.find("store"), std::string::npos) << text;
  EXPECT_EQ(text.find("at T"), std::string::npos) << text;
  EXPECT_EQ(kernels[0].scratch_bytes, 0) << text;
}

TEST(Lower, AWorkerHasAsMuchOfALocalAsItUses) {
  // T is set and read inside an iteration of i, but not in one tile: 100 of its 600 elements.
  std::string nest =
      "nest t\ntensor X: input f32[6, 100]\ntensor T: local f32[6, 100]\n"
      "tensor Y: output f32[6, 100]\nstatement S[i < 6, j < 100]:\n  T[i, j] = 2 * X[i, j]\n"
      "statement R[i < 6, j < 100]:\n  Y[i, j] = T[i, 99 - j] + 1\n";
  Context ctx;
  auto bytes = [&](const std::string& recipe) {
    Nest merged = replay(parse_nest(ctx, nest), parse_recipe(recipe));
    return lower(scan(merged), target_named("aarch64")).at(0).scratch_bytes;
  };
  EXPECT_EQ(bytes("merge(i) -> parallel(i)"), 448);  // 400, in lines of 64
  EXPECT_EQ(bytes("merge(i)"), 2432);                // one worker walks all
}

TEST(Lower, AMergedStartIsNeverInMemory) {
  std::vector<Code> kernels =
      code_of("matmul(i=4, j=8, k=16)", "reorder(i, k, j) -> merge(i) -> vectorize(j)");
  ASSERT_EQ(kernels.size(), 1u);
  std::string text = print(kernels[0]);
  EXPECT_EQ(text.find("load O"), std::string::npos) << text;
}

TEST(Lower, ParallelLoopsAreTheWorkers) {
  std::vector<Code> kernels =
      code_of("matmul(i=4, j=6, k=3)", "reorder(i, j, k) -> parallel(i) -> parallel(j)");
  EXPECT_EQ(kernels.back().parallel, (std::vector<long>{4, 6}));
  EXPECT_EQ(kernels.back().count(), 24);
}

TEST(Lower, LocalsOfOneKernelAreItsScratch) {
  // Elements of a row pass through a local tensor that only one kernel touches.
  std::string nest =
      "nest t\ntensor X: input f32[6, 5]\ntensor Y: local f32[6, 5]\ntensor A: output f32[6, 5]\n"
      "statement S[i < 6, j < 5]:\n  Y[i, j] = 2 * X[i, j]\n"
      "statement T[i < 6, j < 5]:\n  A[i, j] = Y[i, 4 - j]\n";
  std::vector<Code> apart = code_of(nest, ""), together = code_of(nest, "merge(i)");
  ASSERT_EQ(apart.size(), 2u);
  EXPECT_EQ(apart[0].scratch_bytes, 0);
  EXPECT_EQ(arguments_of(apart[0]), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(arguments_of(apart[1]), (std::vector<size_t>{1, 2}));
  ASSERT_EQ(together.size(), 1u);
  EXPECT_EQ(together[0].scratch_bytes, 128);
  EXPECT_EQ(arguments_of(together[0]), (std::vector<size_t>{0, 2}));
}

TEST(Lower, LocalsThatPassFromOneStatementToTheNextStayInRegisters) {
  std::string nest =
      "nest t\ntensor X: input f32[6, 8]\ntensor Y: local f32[6, 8]\ntensor A: output f32[6, 8]\n"
      "statement S[i < 6, j < 8]:\n  Y[i, j] = 2 * X[i, j]\n"
      "statement T[i < 6, j < 8]:\n  A[i, j] = Y[i, j] + 1\n";
  std::vector<Code> kernels = code_of(nest, "merge(i) -> merge(j) -> vectorize(j)");
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].scratch_bytes, 0) << print(kernels[0]);
  EXPECT_EQ(arguments_of(kernels[0]), (std::vector<size_t>{0, 2}));
}

TEST(Lower, NumbersAreThoseOfTheElements) {
  struct {
    const char* element;
    Number wanted;
  } table[] = {{"f32", Number::f32}, {"f16", Number::f32}, {"bf16", Number::f32},
               {"f64", Number::f64}, {"i32", Number::i64}, {"u8", Number::i64},
               {"bool", Number::i64}};
  for (const auto& [element, wanted] : table) {
    std::string text = fmt::format("identity({}[5])", element);
    EXPECT_EQ(code_of(text, "").front().number, wanted) << text;
  }
  EXPECT_EQ(code_of("cast(i32[3], to=\"f32\")", "").front().number, Number::f64);
}

TEST(Lower, FactorsAreLoadedTogetherWhereLanesCanMultiply) {
  std::string nest = "matmul(i=4, j=8, k=16)";
  std::string recipe = "split(k, 4) -> reorder(i, k.o, k.i, j) -> unroll(k.i) -> vectorize(j)";
  EXPECT_NE(print(code_of(nest, recipe, "aarch64").back()).find("lane"), std::string::npos);
  EXPECT_EQ(print(code_of(nest, recipe, "x86-64-v3").back()).find("lane"), std::string::npos);
}

TEST(Lower, TargetsCompile) {
  for (const Target& target : targets()) {
    std::vector<Code> kernels =
        code_of("matmul(i=5, j=9, k=7)", "reorder(i, k, j) -> vectorize(j)", target.name);
    std::unique_ptr<Compiler> compiler = make_compiler(target);
    std::vector<NamedCode> named;
    for (size_t i = 0; i < kernels.size(); ++i) {
      named.push_back({fmt::format("kernel{}", i), kernels[i]});
    }
    EXPECT_TRUE(
        compiler->object(named).starts_with("\x7f"
                                            "ELF"))
        << target.name;
    EXPECT_NE(compiler->text("asm", named).find("kernel1"), std::string::npos);
    EXPECT_NE(compiler->text("llvm", named).find("define void @kernel0"), std::string::npos);
  }
}

TEST(Lower, OddVectorsOfNarrowElementsLoseNoLane) {
  // LLVM 19 stores two of three bytes on AArch64 if it is asked for a vector of three.
  for (const char* element : {"i8", "u8", "i16", "f16", "bf16", "bool", "i32", "f64"}) {
    for (long lanes : {2, 3, 5, 6, 7, 8, 11}) {
      Context ctx;
      Nest nest = parse_op(ctx, fmt::format("identity({}[{}])", element, lanes));
      std::string loop = nest.order.front().loops.front().name;
      Nest after = replay(nest, parse_recipe("vectorize(" + loop + ")"));
      LoopTree tree = scan(after);
      Compilation compilation;
      compilation.add({after.tensors(),
                       tree.layouts,
                       {},
                       lower(tree, native_target()),
                       interpreted(nest),
                       fmt::format("{} of {}", lanes, element)});
      Random random(1, 1);
      compilation.run(random);
    }
  }
}

}  // namespace
}  // namespace lathe::test
