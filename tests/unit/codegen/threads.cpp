// Code for the threads of a GPU: axes, spaces, barriers, and sums that stay in registers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/code.h"
#include "legality/legality.h"
#include "nest/starts.h"
#include "ops/op.h"
#include "support/layouts.h"
#include "support/random_nest.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

std::vector<Code> code_of(const std::string& nest, const std::string& recipe) {
  Context ctx;
  Nest result = with_starts(replay(parse_op(ctx, nest), parse_recipe(recipe)));
  Target target = target_named("opencl");
  return lower(scan_for(target, result, row_major_layouts(result)), target);
}

TEST(ThreadCode, AxesAreCoordinates) {
  Code code = code_of("matmul(i=8, j=32, k=16)", "bind(i, block.y) -> bind(j, thread.x)").back();
  ASSERT_EQ(code.axes.size(), 2U);
  EXPECT_EQ(code.axes[0].mark, Mark::block_y);
  EXPECT_EQ(code.extent(Mark::block_y), 8);
  EXPECT_EQ(code.extent(Mark::thread_x), 32);
  EXPECT_EQ(code.extent(Mark::thread_z), 1);
  EXPECT_EQ(code.blocks(), 8);
  EXPECT_EQ(code.threads(), 32);
  EXPECT_TRUE(code.parallel.empty());
}

TEST(ThreadCode, PackedTensorsHaveOneTileForEachBlockOrThread) {
  std::string bound = "interchange(j, k) -> split(k, 4) -> bind(i, block.x) -> bind(j, thread.x)";
  Code shared = code_of("matmul(i=8, j=32, k=16)", bound + " -> pack(A, k.o, shared)").back();
  EXPECT_EQ(shared.shared_bytes, 4 * 4);
  EXPECT_EQ(shared.private_bytes, 0);
  EXPECT_EQ(arguments_of(shared).size(), 3U) << "the copy is no argument";
  std::string own = "bind(i, block.x) -> bind(j, thread.x) -> pack(A, j, private)";
  Code privately = code_of("matmul(i=8, j=32, k=16)", own).back();
  EXPECT_EQ(privately.private_bytes, 16 * 4);
  EXPECT_EQ(privately.shared_bytes, 0);
  EXPECT_EQ(print(privately).find("barrier"), std::string::npos);
}

TEST(ThreadCode, SumsStayInRegistersAcrossBarriers) {
  Code code = code_of("matmul(i=8, j=32, k=16)",
                      "interchange(j, k) -> split(k, 4) -> bind(i, block.x) -> bind(j, thread.x) "
                      "-> pack(A, k.o, shared)")
                  .back();
  std::string text = print(code);
  EXPECT_NE(text.find("barrier"), std::string::npos);
  size_t stores = 0;
  for (size_t at = text.find("at O"); at != text.npos; at = text.find("at O", at + 1)) ++stores;
  EXPECT_EQ(stores, 1U) << text;
  EXPECT_GT(text.find("at O"), text.rfind("barrier")) << text;
}

/// Rows of the copy that it does not have are those of its neighbour.
TEST(ThreadCode, ThreadsBeyondATensorsEndCopyNothing) {
  Context ctx;
  Nest nest = with_starts(replay(
      parse_op(ctx, "matmul(i=4, j=8, k=8)"),
      parse_recipe("split(k, 2) -> reorder(k.o, i, j, k.i) -> pack(B) -> rename(pack:k.o, p.o) -> "
                   "rename(pack:k.i, p.i) -> rename(pack:j, p.j) -> pack(B.packed, k.o, shared) -> "
                   "bind(pack2:k.i, thread.y) -> bind(pack2:j, thread.x) -> "
                   "bind(matmul:i, thread.y) -> bind(matmul:j, thread.x)")));
  LoopTree tree = scan_for(target_named("opencl"), nest, row_major_layouts(nest));
  std::string text = print(tree);
  size_t copy = text.find("B.packed.packed[0, thread.x, thread.y] = ");
  ASSERT_NE(copy, text.npos) << text;
  size_t line = text.rfind('\n', copy), before = text.rfind('\n', line - 1);
  EXPECT_NE(text.substr(before, line - before).find("if -thread.y + 1 >= 0:"), text.npos) << text;
}

TEST(ThreadCode, LoopsWithBarriersRunInOrder) {
  // Threads j and j + 2 update the same elements, in different iterations of i.
  Context ctx;
  Nest nest = load(ctx,
                   "nest n\n"
                   "tensor C: output f32[10]\n"
                   "tensor X: input f32[4, 4]\n"
                   "statement S[i < 4, j < 4]:\n"
                   "  C[2*i + j] max= X[j, i]\n");
  Nest bound = with_starts(replay(nest, parse_recipe("bind(j, thread.x) -> vectorize(i)")));
  Target target = target_named("opencl");
  Code code = lower(scan_for(target, bound, row_major_layouts(bound)), target).back();
  EXPECT_NE(print(code).find("barrier"), std::string::npos) << print(code);
  for (const Code::Variable& variable : code.variables) {
    EXPECT_EQ(variable.lanes, 1) << print(code);
  }
}

TEST(ThreadCode, BlocksThatAreTooLargeAreRefused) {
  expect_failure([] { code_of("matmul(i=8, j=512, k=16)", "bind(j, thread.x)"); },
                 {"blocks of 512 threads, but opencl has at most 256"});
  expect_failure(
      [] {
        code_of("matmul(i=8, j=8, k=16384)",
                "bind(i, block.x) -> bind(j, thread.x) -> "
                "interchange(j, k) -> pack(A, shared)");
      },
      {"bytes of shared memory for a block, but opencl has 32768"});
  expect_failure([] { code_of("matmul(i=8, j=8, k=8)", "parallel(i)"); },
                 {"loop 'i' is parallel, which opencl does not implement"});
}

}  // namespace
}  // namespace lathe::test
