// Barriers follow from dependences: where they stand, which races nothing can mend, and what goes
// wrong without them.
#include "nest/barriers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "nest/interleave.h"
#include "nest/text.h"
#include "nest/threads.h"
#include "support/brute_force.h"
#include "transforms/transform.h"

namespace lathe::test {
namespace {

/// Rows are turned round through T: thread i writes T[i], and thread j reads T[7 - j].
std::string turned(const std::string& t = "T: local f32[4, 8] in shared",
                   const std::string& index = "k, ", const std::string& marks = "block.x") {
  return fmt::format(
      "nest t\ntensor X: input f32[3, 4, 8]\ntensor {}\ntensor Y: output f32[3, 4, 8]\n"
      "statement S[b < 3, k < 4, i < 8]:\n  T[{}i] = 2 * X[b, k, i]\n"
      "statement R[b < 3, k < 4, j < 8]:\n  Y[b, k, j] = T[{}7 - j] + 1\n"
      "schedule:\n  for b {}:\n    for k:\n      for i thread.x: S\n      for j thread.x: R\n",
      t, index, index, marks);
}

/// Reads a nest, and binds loops as a recipe says, whatever that breaks.
Nest bound(isl::ctx ctx, const std::string& text, const std::string& recipe) {
  Nest nest = parse_nest(ctx, text);
  for (const Step& step : parse_recipe(recipe)) nest = apply(nest, step).nest;
  return nest;
}

/// Returns what the nest computes with threads in an order that the seed draws.
Outputs interleaved(const Nest& nest, const std::vector<Barrier>& barriers, unsigned seed) {
  Nest threads = in_threads(nest);
  Buffers<long> buffers = make_buffers<long>(threads);
  fill_inputs(threads, buffers, 1);
  interleave(threads, barriers, buffers, seed);
  Outputs result;
  for (size_t t = 0; t < nest.tensors().size(); ++t) {
    if (nest.tensors()[t].role == Role::output) result[nest.tensors()[t].name] = buffers[t];
  }
  return result;
}

/// Counts the seeds, of "seeds", for which threads compute something else.
int count_wrong(const Nest& nest, const std::vector<Barrier>& barriers, unsigned seeds = 30) {
  Outputs wanted = outputs(nest);
  int wrong = 0;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    if (interleaved(nest, barriers, seed) != wanted) ++wrong;
  }
  return wrong;
}

std::vector<Barrier> barriers_of(const Nest& nest, Copies copies = Copies::own) {
  Synchronised found = synchronised(in_threads(nest), copies);
  EXPECT_FALSE(found.violation.has_value());
  return found.barriers;
}

TEST(Barriers, StandBetweenWritingAndReading) {
  Context ctx;
  Nest nest = parse_nest(ctx, turned("T: local f32[3, 4, 8] in shared", "b, k, "));
  std::vector<Barrier> barriers = barriers_of(nest);
  ASSERT_EQ(barriers.size(), 1U);
  // In the body of k, which is inside block.x and thread.x, before R.
  EXPECT_EQ(barriers[0], (Barrier{{0, 0, 0}, 1}));
  EXPECT_EQ(count_wrong(nest, barriers), 0);
  EXPECT_GT(count_wrong(nest, {}), 0) << "without the barrier some order is wrong";
}

TEST(Barriers, StandAtTheEndOfALoopThatWritesAgain) {
  Context ctx;
  // T has one row, which each iteration of k writes: it is read before it is written again.
  Nest nest = parse_nest(ctx, turned("T: local f32[8] in shared", "", "serial"));
  std::vector<Barrier> barriers = barriers_of(nest);
  EXPECT_EQ(barriers, (std::vector<Barrier>{{{0, 0}, 1}, {{0, 0, 0}, 1}, {{0, 0, 0}, 2}}));
  EXPECT_EQ(count_wrong(nest, barriers), 0);
  EXPECT_GT(count_wrong(nest, {barriers[0], barriers[1]}), 0);
  EXPECT_GT(count_wrong(nest, {barriers[0], barriers[2]}), 0);
}

TEST(Barriers, AreNoneWhereEachThreadReadsItsOwn) {
  Context ctx;
  std::string text = turned("T: local f32[3, 4, 8]", "b, k, ");
  text.replace(text.find("7 - j"), 5, "j");
  Nest nest = parse_nest(ctx, text);
  EXPECT_TRUE(barriers_of(nest).empty());
  EXPECT_EQ(settled_spaces(in_threads(nest))[1], Space::privately);
  EXPECT_EQ(count_wrong(nest, {}), 0);
}

TEST(Barriers, TheNearestSpaceIsThatOfAllWhoUseIt) {
  Context ctx;
  auto space = [&](const std::string& text) {
    return settled_spaces(in_threads(parse_nest(ctx, text)))[1];
  };
  EXPECT_EQ(space(turned("T: local f32[3, 4, 8]", "b, k, ")), Space::shared);
  EXPECT_EQ(space(turned("T: local f32[3, 4, 8]", "b, k, ", "serial")), Space::shared);
  std::string kernels =
      "nest t\ntensor X: input f32[8]\ntensor T: local f32[8]\ntensor Y: output f32[8]\n"
      "statement S[i < 8]:\n  T[i] = X[i]\nstatement R[i < 8]:\n  Y[i] = T[i]\n"
      "schedule:\n  for i thread.x: S\n  for i thread.x: R\n";
  EXPECT_EQ(space(kernels), Space::global);
}

std::string refusal(const Nest& nest) {
  Judgement judgement = judge_order(nest);
  return judgement.violation
             ? explain(*judgement.violation, nest) + "; " + witness(*judgement.violation, nest)
             : "";
}

TEST(Barriers, NothingOrdersBlocks) {
  Context ctx;
  Nest nest = bound(
      ctx,
      "nest t\ntensor X: input f32[8]\ntensor T: local f32[8]\ntensor Y: output f32[8]\n"
      "statement S[k < 1, i < 8]:\n  T[i] = X[i]\nstatement R[k < 1, i < 8]:\n  Y[i] = T[7 - i]\n"
      "schedule:\n  for k:\n    for i: S\n    for i: R\n",
      "bind(i, block.x)");
  EXPECT_EQ(refusal(nest),
            "the flow dependence of R on S through T crosses blocks (block.x), which nothing "
            "orders; S(k=0, i=0) must run before R(k=0, i=7): both touch T[0]");
  EXPECT_GT(count_wrong(nest, {}), 0);
}

TEST(Barriers, PrivateMemoryHandsNothingOn) {
  Context ctx;
  std::string text = turned("T: local f32[3, 4, 8] in private", "b, k, ");
  for (size_t at = text.find(" thread.x"); at != text.npos; at = text.find(" thread.x")) {
    text.erase(at, 9);
  }
  Nest nest = bound(ctx, text, "bind(i, thread.x) -> bind(j, thread.x)");
  EXPECT_EQ(refusal(nest).substr(0, 53), "T is in private memory, but the flow dependence of R ");
}

TEST(Barriers, AThreadMayNotHandOnWithinALoopOfThreads) {
  Context ctx;
  Nest nest = bound(ctx,
                    "nest t\ntensor X: input f32[9]\ntensor Y: output f32[10]\n"
                    "statement S[i < 9]:\n  Y[i + 1] = Y[i] + X[i]\nschedule:\n  for i: S\n",
                    "bind(i, thread.x)");
  EXPECT_EQ(refusal(nest).substr(0, 40), "thread.x loop 'i' carries the flow depen");
  EXPECT_GT(count_wrong(nest, {}), 0);
}

TEST(Barriers, OneThreadRunsWhatNoLoopBinds) {
  Context ctx;
  Nest nest = parse_nest(ctx,
                         "nest t\ntensor X: input f32[4, 8]\ntensor Y: output f32[4]\n"
                         "tensor Z: output f32[4, 8]\n"
                         "statement S[b < 4, i < 8]:\n  Y[b] += X[b, i]\n"
                         "statement R[b < 4, i < 8]:\n  Z[b, i] = X[b, i] - Y[b]\n"
                         "schedule:\n  for b block.x:\n    for i: S\n    for i thread.x: R\n");
  EXPECT_EQ(refusal(nest), "");
  std::vector<Barrier> barriers = barriers_of(nest);
  EXPECT_EQ(barriers.size(), 1U);
  EXPECT_EQ(count_wrong(nest, barriers), 0);
  EXPECT_GT(count_wrong(nest, {}), 0);
}

}  // namespace
}  // namespace lathe::test
