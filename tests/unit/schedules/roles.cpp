// What the templates share: how loops move accesses, tiles that fit the registers, recipes written
// step by step.
#include <gtest/gtest.h>

#include "codegen/loops.h"
#include "nest/starts.h"
#include "ops/op.h"
#include "schedules/schedule_roles.h"

namespace lathe::schedules {
namespace {

TEST(Roles, OfAConvolutionInBlocks) {
  Context ctx;
  Nest nest = with_starts(parse_op(ctx, "conv(n=1, co=32, ci=16, oh=5, ow=7, k=3)"));
  std::vector<Layout> layouts;
  for (const Tensor& tensor : nest.tensors()) {
    layouts.push_back(blocked_layout(tensor.shape, tensor.role == Role::weight ? 1 : 16));
  }
  Target target = target_named("aarch64");
  Situation situation{nest, layouts, target};
  size_t main = main_statement(nest);
  EXPECT_EQ(nest.statements()[main].name, "conv");
  Roles roles = roles_of(situation, main);
  size_t weight =
      nest.tensors()[nest.statements()[main].reads[0].tensor].role == Role::weight ? 0 : 1;
  struct {
    const char* loop;
    long extent, write, weight, data, evenly;  // steps, and the block of the write
  } table[] = {
      {"co", 32, 1, 16 * 9, 0, 16}, {"ci", 16, 0, 9, 1, 0},     {"oh", 5, 16 * 7, 0, 16 * 9, 0},
      {"ow", 7, 16, 0, 16, 0},      {"kh", 3, 0, 3, 16 * 9, 0}, {"kw", 3, 0, 1, 16, 0},
  };
  for (const auto& wanted : table) {
    const LoopRole* loop = roles.find(wanted.loop);
    ASSERT_NE(loop, nullptr) << wanted.loop;
    EXPECT_EQ(loop->extent, wanted.extent) << wanted.loop;
    EXPECT_EQ(loop->write.step, wanted.write) << wanted.loop;
    EXPECT_EQ(loop->write.moves, wanted.write != 0) << wanted.loop;
    EXPECT_EQ(loop->write.evenly, wanted.evenly) << wanted.loop;
    EXPECT_EQ(loop->reads[weight].step, wanted.weight) << wanted.loop;
    EXPECT_EQ(loop->reads[1 - weight].step, wanted.data) << wanted.loop;
  }
  EXPECT_EQ(roles.find("nothing"), nullptr);
}

TEST(ChoosePositions, FitsTheRegisters) {
  for (const Target& target : targets()) {
    for (long positions : {1, 2, 7, 13, 14, 56, 1000}) {
      for (long vectors : {1, 2, 4, 6}) {
        auto tile = choose_positions(target, positions, vectors);
        ASSERT_TRUE(tile) << target.name;
        EXPECT_GE(tile->positions, 1);
        EXPECT_LE(tile->positions, positions);
        EXPECT_GT(tile->cost, 0);
        long factors = target.cpu.lane_products ? tile->positions : 1;
        EXPECT_LE(tile->positions * vectors + vectors + factors, target.cpu.registers)
            << target.name << ", " << positions << " positions, " << vectors << " vectors";
      }
    }
  }
}

TEST(RecipeWriter, SplitsOnlyLongerLoops) {
  Context ctx;
  RecipeWriter writer(parse_op(ctx, "relu(c=16, h=5, w=4)"));
  EXPECT_EQ(writer.split("c", 4), std::pair(std::string("c.o"), std::string("c.i")));
  EXPECT_EQ(writer.split("h", 5), std::pair(std::string(), std::string("h")));
  EXPECT_EQ(writer.split("w", 8), std::pair(std::string(), std::string("w")));
  EXPECT_TRUE(writer.has("c.i"));
  EXPECT_FALSE(writer.has("c"));
  writer.reorder({"c.o", "", "h", "nothing", "w", "c.i"});
  EXPECT_EQ(print(writer.recipe()), "split(c, 4) -> reorder(c.o, h, w, c.i)");
}

TEST(RecipeWriter, MergesAsFarAsLoopsAreAlike) {
  Context ctx;
  RecipeWriter writer(with_starts(parse_op(ctx, "matmul(i=4, j=5, k=6)")));
  writer.merge({"i", "j", "k"});
  EXPECT_EQ(print(writer.recipe()), "merge(i) -> merge(j)");
}

}  // namespace
}  // namespace lathe::schedules
