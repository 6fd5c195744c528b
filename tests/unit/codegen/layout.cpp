// Layouts: where elements lie, as numbers and as functions of loops.
#include "codegen/layout.h"

#include <gtest/gtest.h>

#include <set>

#include "support/compiled.h"

namespace lathe::test {
namespace {

TEST(Layout, RowMajor) {
  Layout layout = row_major_layout({2, 3, 4});
  EXPECT_EQ(layout.size, 24);
  EXPECT_EQ(offset_of({0, 0, 0}, layout), 0);
  EXPECT_EQ(offset_of({1, 2, 3}, layout), 23);
  EXPECT_EQ(offset_of({1, 0, 2}, layout), 14);
  EXPECT_EQ(row_major_layout({}).size, 1);
}

TEST(Layout, Blocked) {
  Layout layout = blocked_layout({2, 32, 3, 5}, 16);
  EXPECT_EQ(layout.size, 2 * 32 * 3 * 5);
  EXPECT_EQ(offset_of({0, 1, 0, 0}, layout), 1);
  EXPECT_EQ(offset_of({0, 0, 0, 1}, layout), 16);
  EXPECT_EQ(offset_of({0, 0, 1, 0}, layout), 16 * 5);
  EXPECT_EQ(offset_of({0, 16, 0, 0}, layout), 16 * 15);
  EXPECT_EQ(offset_of({1, 17, 2, 4}, layout), 16 * 15 * 2 + 16 * 15 + 16 * 14 + 1);
}

TEST(Layout, TheLastBlockMayBePartlyEmpty) {
  EXPECT_EQ(blocked_layout({1, 10, 3, 3}, 8).size, 16 * 9);
}

TEST(Layout, BlocksOfOneAndOfVectorsAreRows) {
  EXPECT_EQ(blocked_layout({2, 3, 4}, 1), row_major_layout({2, 3, 4}));
  EXPECT_EQ(blocked_layout({7}, 8), row_major_layout({7}));
}

TEST(Layout, ElementsHavePlacesOfTheirOwn) {
  for_each_case(200, [](Case& trial) {
    std::vector<long> shape;
    for (long rank = trial.random.between(0, 4); rank > 0; --rank) {
      shape.push_back(trial.random.between(1, 9));
    }
    Layout layout = random_layout(trial.random, shape);
    std::set<size_t> seen;
    for_each_element(shape, layout, [&](size_t, size_t offset) {
      EXPECT_LT(offset, static_cast<size_t>(layout.size));
      EXPECT_TRUE(seen.insert(offset).second);
    });
  });
}

TEST(Layout, StridesThatContendAreSpread) {
  EXPECT_EQ(spread(512, 4), 512 + 16) << "2048 bytes apart";
  EXPECT_EQ(spread(256, 8), 256 + 8);
  EXPECT_EQ(spread(1024, 4), 1024 + 16);
  for (long stride : {1L, 16L, 100L, 256L, 511L, 528L}) EXPECT_EQ(spread(stride, 4), stride);
}

TEST(Layout, Spread) {
  EXPECT_EQ(spread_layout({3, 5, 7}, 4), row_major_layout({3, 5, 7}));
  Layout layout = spread_layout({4, 2, 512}, 4);
  EXPECT_EQ(offset_of({0, 1, 0}, layout), 528);
  EXPECT_EQ(offset_of({1, 0, 0}, layout), 2 * 528);
  EXPECT_EQ(layout.size, 4 * 2 * 528);
  EXPECT_EQ(spread_layout({1, 512}, 4).size, 512) << "one row needs no more";
}

TEST(Layout, SpreadElementsHavePlacesOfTheirOwn) {
  for (const std::vector<long>& shape :
       {std::vector<long>{3, 8, 64}, {2, 1, 512}, {5, 16, 32, 2}, {1}, {}}) {
    Layout layout = spread_layout(shape, 4);
    std::set<size_t> seen;
    for_each_element(shape, layout, [&](size_t, size_t offset) {
      EXPECT_LT(offset, static_cast<size_t>(layout.size));
      EXPECT_TRUE(seen.insert(offset).second);
    });
  }
}

TEST(Layout, FunctionsGiveTheSameOffsets) {
  // Element (c = 4*o + i, h = y + k) of a tensor of 16 by 7, where 4 iterations of i are a block.
  Context ctx;
  isl::space space = poly::tuples(ctx, 4);
  auto x = [&](size_t i) { return poly::coordinate(space, i); };
  isl::multi_aff at =
      poly::tuple(space, {poly::constant(space, 0), x(0).scale(4).add(x(1)), x(2).add(x(3))});
  std::vector<poly::Interval> ranges{{0, 3}, {0, 3}, {0, 4}, {0, 2}};
  struct {
    long block;
    const char* wanted;
  } table[] = {
      {1, "28*o + 7*i + y + k"},
      {4, "28*o + i + 4*y + 4*k"},
      {8, "4*o + i + 8*y + 8*k + 48*(o / 2)"},
      {16, "4*o + i + 16*y + 16*k"},
  };
  std::vector<std::string> names{"o", "i", "y", "k"};
  for (const auto& [block, wanted] : table) {
    Layout layout = blocked_layout({1, 16, 7}, block);
    poly::Affine offset = offset_of(at, layout, ranges);
    EXPECT_EQ(poly::text(offset, names), wanted) << "blocks of " << block;
    for (long o = 0; o < 4; ++o) {
      for (long i = 0; i < 4; ++i) {
        std::vector<long> point{o, i, 2, 1};
        EXPECT_EQ(poly::evaluate(offset, point), offset_of({0, 4 * o + i, 3}, layout));
      }
    }
  }
}

}  // namespace
}  // namespace lathe::test
