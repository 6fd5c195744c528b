// Local tensors hold what one iteration needs: which do, and which must not.
#include "codegen/contract.h"

#include <gtest/gtest.h>

#include "legality/legality.h"
#include "nest/interpret.h"
#include "nest/starts.h"
#include "nest/text.h"
#include "ops/op.h"
#include "schedules/schedule.h"
#include "support/brute_force.h"
#include "support/layouts.h"

namespace lathe::test {
namespace {

/// T is written at one index and read at another, in loops i and j of which i is shared.
std::string pair(const std::string& written, const std::string& read,
                 const std::string& shape = "[6, 8]", const std::string& loops = "for i:") {
  return fmt::format(
      "nest t\ntensor X: input f32[6, 8]\ntensor T: local f32{}\ntensor Y: output f32[6, 8]\n"
      "statement S[i < 6, j < 8]:\n  T[{}] = 2 * X[i, j]\n"
      "statement R[i < 6, j < 8]:\n  Y[i, j] = T[{}] + 1\n"
      "schedule:\n  {}\n    for j: S\n    for j: R\n",
      shape, written, read, loops);
}

/// Contracts a nest, and expects that it computes the same. Returns the shape of T.
std::vector<long> shape_after(const std::string& text) {
  Context ctx;
  Nest nest = parse_nest(ctx, text);
  Stored stored = contracted(nest, row_major_layouts(nest));
  EXPECT_EQ(outputs(stored.nest), outputs(nest)) << text;
  size_t T = find_tensor(nest, "T").value();
  const Tensor& tensor = stored.nest.tensors()[T];
  EXPECT_NO_THROW(verify(stored.nest.tensors(), stored.nest.statements())) << text;
  long elements = 1;
  for (long extent : tensor.shape) elements *= extent;
  EXPECT_GE(stored.layouts[T].size, elements);
  EXPECT_EQ(stored.layouts[T].axes.size(), tensor.shape.size());
  return tensor.shape;
}

using Shape = std::vector<long>;

TEST(Contract, ARowIsEnoughWhereEachIterationHasItsOwn) {
  EXPECT_EQ(shape_after(pair("i, j", "i, 7 - j")), (Shape{1, 8}));
  EXPECT_EQ(shape_after(pair("5 - i, j", "5 - i, j")), (Shape{6, 8})) << "steps down are left";
  EXPECT_EQ(shape_after(pair("j, i", "j, i", "[8, 6]")), (Shape{8, 1}));
  EXPECT_EQ(shape_after(pair("8*i + j", "8*i + 7 - j", "[48]")), (Shape{8}));
  EXPECT_EQ(shape_after(pair("i, j / 2", "i, j / 2", "[6, 4]")), (Shape{1, 4}));
  EXPECT_EQ(shape_after(pair("2*i + 3, j", "2*i + 3, j", "[20, 8]")), (Shape{1, 8}));
}

TEST(Contract, IterationsThatShareElementsKeepThem) {
  // Every iteration of i writes the same row: that is as small as it gets.
  EXPECT_EQ(shape_after(pair("j", "j", "[8]")), (Shape{8}));
  // The next iteration reaches into this one's.
  EXPECT_EQ(shape_after(pair("4*i + j", "4*i + j", "[28]")), (Shape{28}));
  EXPECT_EQ(shape_after(pair("i + j, 0", "i + j, 0", "[13, 1]")), (Shape{13, 1}));
}

TEST(Contract, WhatEarlierIterationsLeftIsKept) {
  std::string text = pair("i + 1, j", "i, j", "[7, 8]");
  EXPECT_EQ(shape_after(text), (Shape{7, 8})) << "the row before is read";
}

TEST(Contract, OtherStepsInOtherUses) {
  EXPECT_EQ(shape_after(pair("2*i, j", "i, j", "[11, 8]")), (Shape{11, 8}));
  EXPECT_EQ(shape_after(pair("i, j", "5 - i, j")), (Shape{6, 8}));
}

TEST(Contract, FloorsOfTheSharedLoop) {
  EXPECT_EQ(shape_after(pair("i / 2, j", "i / 2, j", "[3, 8]")), (Shape{3, 8}));
  EXPECT_EQ(shape_after(pair("i % 2, j", "i % 2, j", "[2, 8]")), (Shape{2, 8}));
}

TEST(Contract, LoopsOfTheirOwn) {
  std::string apart = pair("i, j", "i, j");
  apart.resize(apart.find("schedule"));
  EXPECT_EQ(shape_after(apart), (Shape{6, 8}));
}

TEST(Contract, TwoSharedLoops) {
  std::string text =
      "nest t\ntensor X: input f32[6, 8, 3]\ntensor T: local f32[6, 8, 3]\n"
      "tensor Y: output f32[6, 8, 3]\nstatement S[i < 6, j < 8, k < 3]:\n"
      "  T[i, j, k] = 2 * X[i, j, k]\nstatement R[i < 6, j < 8, k < 3]:\n"
      "  Y[i, j, k] = T[i, j, 2 - k] + 1\n"
      "schedule:\n  for i, j:\n    for k: S\n    for k: R\n";
  EXPECT_EQ(shape_after(text), (Shape{1, 1, 3}));
}

TEST(Contract, OutputsStayWhole) {
  std::string text = pair("i, j", "i, j");
  text.replace(text.find("local"), 5, "output");
  EXPECT_EQ(shape_after(text), (Shape{6, 8}));
}

TEST(Contract, BlocksStayWhole) {
  Context ctx;
  Nest nest = parse_nest(ctx, pair("i, j", "i, j"));
  std::vector<Layout> layouts = row_major_layouts(nest);
  layouts[1] = blocked_layout({6, 8}, 4);
  Stored stored = contracted(nest, layouts);
  EXPECT_EQ(stored.nest.tensors()[1].shape, (Shape{1, 8}));
  EXPECT_EQ(stored.layouts[1].axes[1].block, 4);
  EXPECT_EQ(stored.layouts[1].size, 8);
  // Columns that step through a block cannot share it.
  Nest columns = parse_nest(ctx, pair("j, i", "j, i", "[8, 6]"));
  layouts[1] = blocked_layout({8, 6}, 4);
  EXPECT_EQ(contracted(columns, layouts).nest.tensors()[1].shape, (Shape{8, 6}));
}

TEST(Contract, RecipesOfTemplatesComputeTheSame) {
  for (const char* layer : {"conv(n=1, co=8, ci=4, oh=6, ow=9, k=3)",
                            "conv(n=1, co=8, ci=8, oh=5, ow=10, k=3, groups=2, bias=1)"}) {
    Context ctx;
    Nest nest = with_starts(parse_op(ctx, layer));
    std::vector<Layout> given = blocked_layouts(nest, 4);
    Scheduled scheduled = schedule({nest, given, native_target()},
                                   Choice{"winograd", {{"outputs", 4}, {"tiles", 4}}});
    ASSERT_TRUE(scheduled.as_chosen) << layer;
    Stored stored = contracted(scheduled.nest, row_major_layouts(scheduled.nest));
    Buffers<double> before = make_buffers<double>(scheduled.nest),
                    after = make_buffers<double>(stored.nest);
    fill_inputs(scheduled.nest, before, 1);
    fill_inputs(stored.nest, after, 1);
    interpret(scheduled.nest, before);
    interpret(stored.nest, after);
    size_t smaller = 0;
    for (size_t t = 0; t < before.size(); ++t) {
      smaller += after[t].size() < before[t].size() ? 1 : 0;
      if (stored.nest.tensors()[t].role != Role::output) continue;
      EXPECT_EQ(after[t], before[t]) << layer;
    }
    EXPECT_GE(smaller, 4u) << "T, V, P, Q and Y are needed for some tiles only";
  }
}

}  // namespace
}  // namespace lathe::test
