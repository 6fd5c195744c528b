// Networks are compared with the interpreter node by node: what is right passes, and a single wrong
// instruction in any kernel is found.
#include "search/network_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "compile/ready.h"
#include "compile/units.h"
#include "graph/text.h"
#include "models/model.h"
#include "search/broken_kernel.h"
#include "search/network_bench.h"
#include "search/sampled_outputs.h"
#include "support/mixed_network.h"

namespace lathe::test {
namespace {

Graph graph() { return initialised(parse_graph(mixed_network), 1); }

/// A network, compiled, and what its units became.
struct Sample {
  Graph network;
  std::shared_ptr<MadeUnits> made = std::make_shared<MadeUnits>();
  Compiled compiled;
  explicit Sample(Graph of = graph()) : network(std::move(of)) {
    CompileOptions how;
    how.target = native_target();
    how.made = made;
    compiled = compile(network, how);
  }
  std::vector<UnitCheck> check() const {
    return check_at_full_size(ready_to_compile(network), compiled, *made, {});
  }
};

TEST(NetworkCheck, PassesWhatIsRight) {
  std::vector<UnitCheck> checks = Sample().check();
  EXPECT_GE(checks.size(), 6u);
  for (const UnitCheck& check : checks) {
    EXPECT_EQ(check.wrong, "") << check.node << " " << check.key;
    EXPECT_EQ(check.unchecked, "") << check.node << " " << check.key;
  }
}

TEST(NetworkCheck, FindsOneWrongInstructionInAnyKernel) {
  const Sample right;
  int broken = 0;
  for (const UnitCheck& unit : right.check()) {
    if (unit.node == "z") continue;  // a softmax is the same whatever is added to its operand
    std::shared_ptr<const Made> made = right.made->find(unit.key);
    for (size_t k = 0; k < made->code.kernels.size(); ++k) {
      Sample wrong = right;
      if (!break_kernel(wrong.compiled, *made, k)) continue;  // it only copies
      ++broken;
      std::vector<UnitCheck> checks = wrong.check();
      auto found = std::find_if(checks.begin(), checks.end(),
                                [](const UnitCheck& check) { return !check.wrong.empty(); });
      ASSERT_NE(found, checks.end()) << unit.node << ", kernel " << k;
      EXPECT_EQ(found->node, unit.node) << found->wrong;
    }
  }
  EXPECT_GE(broken, 6);
}

TEST(NetworkCheck, FindsPartsOfAConcatenationThatWereOverwritten) {
  Graph dense = initialised(parse_graph(R"(graph dense
input x: f32[1x16x8x8]
weight w1: f32[16x16x3x3] = normal(0.1)
weight w2: f32[32x16x1x1] = normal(0.1)
weight w3: f32[16x48x1x1] = normal(0.1)
p = conv(x, w1, pads=[1, 1, 1, 1]): f32[1x16x8x8]
q = conv(x, w2): f32[1x32x8x8]
c = concat(p, q, axis=1): f32[1x48x8x8]
y = conv(c, w3): f32[1x16x8x8]
output y
)"),
                            1);
  Sample sample(dense);
  for (const UnitCheck& check : sample.check()) EXPECT_EQ(check.wrong, "") << check.node;
  // The unit of q is as right as before, but puts its result where p lies.
  auto place_of = [&](const std::string& node) -> lathe_place& {
    std::vector<CompiledStep>& steps = sample.compiled.steps;
    auto step = std::find_if(steps.rbegin(), steps.rend(),
                             [&](const CompiledStep& each) { return each.node == node; });
    // The result comes behind what is read.
    return *std::find_if(step->places.rbegin(), step->places.rend(),
                         [](const lathe_place& at) { return at.where == LATHE_ARENA; });
  };
  place_of("q") = place_of("p");
  std::vector<UnitCheck> checks = sample.check();
  auto found = std::find_if(checks.begin(), checks.end(),
                            [](const UnitCheck& check) { return !check.wrong.empty(); });
  ASSERT_NE(found, checks.end());
  EXPECT_EQ(found->node, "y");
  // One of the two parts is not there, whichever ran first.
  EXPECT_NE(found->wrong.find("changed after it was computed"), std::string::npos) << found->wrong;
}

TEST(NetworkCheck, SamplesCornersAndEdges) {
  std::vector<long> all = sampled_elements({2, 3}, 64, 1);
  EXPECT_EQ(all.size(), 6u);
  std::vector<long> some = sampled_elements({1, 64, 56, 56}, 96, 1);
  EXPECT_EQ(some.size(), 96u);
  long last = 64 * 56 * 56 - 1;
  for (long corner : {0L, 55L, 55L * 56, last}) {
    EXPECT_NE(std::find(some.begin(), some.end(), corner), some.end()) << corner;
  }
  EXPECT_EQ(some, sampled_elements({1, 64, 56, 56}, 96, 1));
  // A vector has two edges, which are soon known.
  EXPECT_EQ(sampled_elements({100}, 64, 1).size(), 64U);
}

TEST(NetworkBench, CountsWhatWasCheckedAndRefusesAWrongKernel) {
  Graph original = graph(), candidate = original;
  for (Node& node : candidate.nodes) {
    if (node.op == "max_pool") node.op = "avg_pool";  // a unit that the original has not
  }
  NetworkBench bench(original, {.target = native_target(), .seconds = 0.02});
  setenv("LATHE_FAULT", "wrong:2", 1);
  NetworkTimes right = bench.measure(original);
  EXPECT_EQ(right.failure, "");
  EXPECT_GE(right.checks.units, 8);
  EXPECT_EQ(right.checks.full, right.checks.units);
  EXPECT_GT(right.checks.reduced, 0);
  EXPECT_EQ(right.checks, right.own_checks);
  NetworkTimes wrong = bench.measure(candidate);
  EXPECT_NE(wrong.failure.find("it is wrong"), std::string::npos) << wrong.failure;
  unsetenv("LATHE_FAULT");
  NetworkTimes again = bench.measure(candidate);
  EXPECT_EQ(again.failure, "");
  EXPECT_EQ(again.checks.full, again.checks.units);
}

}  // namespace
}  // namespace lathe::test
