// Which parallel loops become blocks (nest/threads.h).
#include <gtest/gtest.h>

#include "legality/legality.h"
#include "nest/text.h"
#include "nest/threads.h"
#include "ops/op.h"

namespace lathe::test {
namespace {

/// Returns the marks of the loops of each statement, after in_blocks().
std::string marks_of(const std::string& op, const std::string& recipe) {
  Context ctx;
  Nest nest = replay(parse_op(ctx, op), parse_recipe(recipe));
  std::string text;
  for (const Order& order : in_blocks(nest).order) {
    text += text.empty() ? "" : "; ";
    for (const Loop& loop : order.loops) {
      text += fmt::format("{}{} {}", &loop == order.loops.data() ? "" : ", ", loop.name,
                          name_of(loop.mark));
    }
  }
  return text;
}

TEST(InBlocks, ParallelLoopsThatAllShareBecomeBlocks) {
  EXPECT_EQ(marks_of("matmul(i=8, j=8, k=8)", "parallel(i) -> parallel(j)"),
            "i block.y, j block.x, k serial");
}

TEST(InBlocks, OnlyOutermostLoopsDo) {
  EXPECT_EQ(marks_of("matmul(i=8, j=8, k=8)", "parallel(j)"), "i serial, j serial, k serial");
}

TEST(InBlocks, ThreeAxesAreAllThereAre) {
  EXPECT_EQ(marks_of("add(n=2, c=4, h=4, w=4)",
                     "parallel(n) -> parallel(c) -> parallel(h) -> parallel(w)"),
            "n block.z, c block.y, h block.x, w serial");
}

TEST(InBlocks, NestsWithBoundLoopsGetNoOthers) {
  EXPECT_EQ(marks_of("matmul(i=8, j=8, k=8)", "parallel(i) -> bind(j, block.x)"),
            "i serial, j block.x, k serial");
}

}  // namespace
}  // namespace lathe::test
