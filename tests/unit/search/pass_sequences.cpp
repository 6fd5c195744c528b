// Sequences of passes that a search tries.
#include "search/pass_sequences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace lathe::test {
namespace {

const PassList pool = {"AlterOpLayout", "FoldConstant", "FuseOps", "SimplifyInference",
                       "StorePadding"};

TEST(PassSequences, CanRun) {
  Random random(1);
  std::set<size_t> sizes;
  for (int i = 0; i < 200; ++i) {
    PassList list = random_selection(pool, random);
    sizes.insert(list.size());
    EXPECT_EQ(parse_passes(print_passes(list)), list);
    list = changed(list, pool, random);
    EXPECT_EQ(in_stages(list), list);
  }
  EXPECT_EQ(sizes, (std::set<size_t>{1, 2, 3, 4, 5}));
}

TEST(PassSequences, OrdersHaveAllPasses) {
  Random random(2);
  std::set<PassList> seen;
  for (int i = 0; i < 200; ++i) {
    PassList list = random_order(pool, random);
    seen.insert(list);
    std::sort(list.begin(), list.end());
    EXPECT_EQ(list, pool);
  }
  // Three that come first, in any order, and two that choose storage.
  EXPECT_EQ(seen.size(), 12U);
}

TEST(PassSequences, ChangeInOnePlace) {
  Random random(3);
  const PassList list = {"FoldConstant", "FuseOps"};
  for (int i = 0; i < 100; ++i) {
    PassList other = changed(list, pool, random);
    EXPECT_LE(std::max(other.size(), list.size()) - std::min(other.size(), list.size()), 1U);
  }
  EXPECT_EQ(changed({}, pool, random).size(), 1U);
}

}  // namespace
}  // namespace lathe::test
