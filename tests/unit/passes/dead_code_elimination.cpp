// Nodes and values that no output needs go away; inputs stay. And how passes are found.
#include "base/error.h"
#include "support/run_graph.h"

namespace lathe::test {
namespace {

TEST(DeadCodeElimination, KeepsWhatOutputsNeed) {
  Graph after = after_pass("dead_code_elimination",
                           "graph g\n"
                           "input x: f32[2]\n"
                           "input unused: f32[3]\n"
                           "weight w: f32[2] = ones\n"
                           "a = neg(x): f32[2]\n"
                           "b = add(a, w): f32[2]\n"
                           "y = relu(x): f32[2]\n"
                           "output y\n");
  EXPECT_EQ(print(after),
            "graph g\n"
            "input x: f32[2]\n"
            "input unused: f32[3]\n"
            "y = relu(x): f32[2]\n"
            "output y\n");
}

TEST(FindPass, SaysWhichIsNearest) {
  EXPECT_EQ(find_pass("fuse_ops").name, "FuseOps");
  EXPECT_EQ(find_pass("FUSEOPS").name, "FuseOps");
  try {
    find_pass("Fuse");
    FAIL() << "found a pass that does not exist";
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()),
              "no pass 'Fuse'; the nearest is FuseOps, 'lathe list passes' has all");
  }
}

}  // namespace
}  // namespace lathe::test
