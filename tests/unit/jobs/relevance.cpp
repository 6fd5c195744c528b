// Which passes change a graph is found by running them.
#include "jobs/relevance.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lathe::test {
namespace {

TEST(Relevance, IsFoundAloneOrAfterOthers) {
  // The transposed weight is no constant until it is folded: then two layers are alike.
  Graph graph = initialised(parse_graph("graph g\n"
                                        "input x: f32[2x4]\n"
                                        "weight v: f32[3x4] = normal(1.0)\n"
                                        "weight w: f32[4x3] = normal(1.0)\n"
                                        "t = transpose(w, perm=[1, 0]): f32[3x4]\n"
                                        "a = fully_connected(x, v): f32[2x3]\n"
                                        "b = fully_connected(x, t): f32[2x3]\n"
                                        "y = add(a, b): f32[2x3]\n"
                                        "output y\n"),
                            1);
  std::vector<PassRelevance> found = relevance_of(graph, {});
  ASSERT_EQ(found.size(), passes::all().size());
  auto of = [&](const std::string& pass) {
    return *std::find_if(found.begin(), found.end(),
                         [&](const PassRelevance& each) { return each.pass == pass; });
  };
  EXPECT_TRUE(of("FoldConstant").alone);
  EXPECT_EQ(of("FoldConstant").nodes_before, 4U);
  EXPECT_EQ(of("FoldConstant").nodes_after, 3U);
  EXPECT_FALSE(of("CombineParallelDense").alone);
  EXPECT_EQ(of("CombineParallelDense").after, (std::vector<std::string>{"FoldConstant"}));
  EXPECT_FALSE(of("CombineParallelConv2D").is_relevant());
  EXPECT_FALSE(of("ToANormalForm").is_relevant());
  EXPECT_FALSE(of("FirstOrderGradient").is_relevant());  // what it leaves is another network
}

}  // namespace
}  // namespace lathe::test
