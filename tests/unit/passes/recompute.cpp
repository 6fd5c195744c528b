// What is computed again, and what memory that saves.
#include <gtest/gtest.h>

#include "compile/executor.h"
#include "ops/op_graph.h"
#include "passes/pass.h"
#include "passes/pass_recompute.h"

namespace lathe {
namespace {

/// A long chain, whose beginning is needed again at its end.
Graph chain(size_t length, bool from_conv) {
  GraphBuilder g("chain");
  ValueId x = g.input("x", {Element::f32, {1, 4, 8, 8}});
  ValueId y = x;
  if (from_conv) y = g.call("conv", {x, g.weight("w", {4, 4, 1, 1}, he_fan_out({4, 4, 1, 1}))});
  ValueId early = g.call("exp", {y}, {}, "early");
  ValueId now = early;
  for (size_t i = 0; i < length; ++i) now = g.call("max_pool", {now}, {{"kernel", Shape{1, 1}}});
  ValueId sum = g.call("add", {now, early}, {}, "sum");
  g.output(g.call("add", {sum, y}, {}, "end"));
  return g.build();
}

size_t count_of(const Graph& graph, const std::string& op) {
  return static_cast<size_t>(std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                           [&](const Node& node) { return node.op == op; }));
}

TEST(Recompute, WhatIsQuickAndHasItsOperands) {
  Graph graph = chain(20, true);
  Graph again = find_pass("recompute").run(graph, {});
  EXPECT_EQ(count_of(again, "exp"), 2u);
  EXPECT_EQ(count_of(again, "conv"), 1u);  // its result is kept anyway
  EXPECT_LE(peak_bytes(again), peak_bytes(graph));
  Array x = Array::of_reals(Element::f32, {1, 4, 8, 8}, std::vector<double>(256, 0.5));
  EXPECT_EQ(Executor(initialised(again, 1), {.target = native_target()}).run({x})[0].reals(),
            Executor(initialised(graph, 1), {.target = native_target()}).run({x})[0].reals());
}

TEST(Recompute, NotForUsersThatAreNear) {
  Graph graph = chain(4, true);
  EXPECT_EQ(find_pass("recompute").run(graph, {}).nodes.size(), graph.nodes.size());
}

TEST(Recompute, AgainOnlyOnce) {
  Graph once = find_pass("recompute").run(chain(20, false), {});
  EXPECT_EQ(find_pass("recompute").run(once, {}).nodes.size(), once.nodes.size());
}

TEST(Recompute, MoreUnderABudget) {
  // Neither the first nor the second of a chain is there late: both are computed again.
  GraphBuilder g("net");
  ValueId x = g.input("x", {Element::f32, {1, 4, 8, 8}});
  ValueId a = g.call("exp", {x}), b = g.call("sin", {a}), now = b;
  for (int i = 0; i < 20; ++i) now = g.call("max_pool", {now}, {{"kernel", Shape{1, 1}}});
  g.output(g.call("add", {now, b}));
  Graph graph = g.build();
  long bytes = 4 * 4 * 8 * 8;
  EXPECT_EQ(count_of(recomputed(graph, 2 * bytes), "exp"), 2u);
  EXPECT_LE(peak_bytes(recomputed(graph, 2 * bytes)), peak_bytes(graph));
}

}  // namespace
}  // namespace lathe
