// verify(): what a graph must be, and the message for each way not to be one.
#include <gtest/gtest.h>

#include "graph/graph.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

using Kind = Value::Kind;

Type f32(Shape shape) { return {Element::f32, std::move(shape)}; }

/// x -> relu -> y, which is right.
Graph small() {
  Graph graph;
  graph.name = "g";
  graph.values = {{"x", Kind::input, f32({2})}, {"y", Kind::computed, f32({2})}};
  graph.nodes = {{"n", "relu", {}, {0}, {1}}};
  graph.inputs = {0};
  graph.outputs = {1};
  return graph;
}

template <class Change>
void expect_refused(Change change, const std::string& message) {
  Graph graph = small();
  verify(graph);
  change(graph);
  EXPECT_EQ(message_of([&] { verify(graph); }), message);
}

TEST(GraphVerify, ValuesExist) {
  expect_refused([](Graph& g) { g.inputs.push_back(7); },
                 "graph 'g': its list of inputs names value 7, but there are 2");
  expect_refused([](Graph& g) { g.outputs.push_back(2); },
                 "graph 'g': its list of outputs names value 2, but there are 2");
  expect_refused([](Graph& g) { g.nodes[0].inputs[0] = 9; },
                 "graph 'g': node 'n' names value 9, but there are 2");
  expect_refused([](Graph& g) { g.nodes[0].outputs[0] = 9; },
                 "graph 'g': node 'n' names value 9, but there are 2");
}

TEST(GraphVerify, NamesAreUniqueAndNotEmpty) {
  expect_refused([](Graph& g) { g.values[0].name = ""; }, "graph 'g': a value has no name");
  expect_refused([](Graph& g) { g.values[0].name = "y"; }, "graph 'g': there are two values 'y'");
  expect_refused([](Graph& g) { g.nodes[0].name = ""; }, "graph 'g': a node has no name");
  expect_refused(
      [](Graph& g) {
        g.values.push_back({"z", Kind::computed, f32({2})});
        g.nodes.push_back({"n", "relu", {}, {1}, {2}});
      },
      "graph 'g': there are two nodes 'n'");
}

TEST(GraphVerify, TypesOfValues) {
  expect_refused([](Graph& g) { g.values[0].type.dynamic = true; },
                 "graph 'g': only computed values may be dynamic, not 'x'");
  expect_refused(
      [](Graph& g) {
        g.values[0].type.shape = {2, -1};
      },
      "a tensor cannot have the shape 2x-1");
  expect_refused(
      [](Graph& g) {
        g.values[1].type.shape = {1L << 40, 1L << 40};
      },
      "a tensor of the shape 1099511627776x1099511627776 is too large");
  Graph dynamic = small();
  dynamic.values[1].type = {Element::f32, {}, true};
  EXPECT_NO_THROW(verify(dynamic));
}

TEST(GraphVerify, OnlyGivenValuesHaveData) {
  Array data(Element::f32, {2});
  expect_refused([&](Graph& g) { g.values[0].data = data; },
                 "graph 'g': 'x' is input but has data");
  expect_refused([&](Graph& g) { g.values[1].data = data; },
                 "graph 'g': 'y' is computed but has data");
  expect_refused(
      [](Graph& g) {
        g.values.push_back({"c", Kind::constant, f32({2})});
      },
      "graph 'g': the constant 'c' has no data");
  expect_refused(
      [&](Graph& g) {
        g.values.push_back({"w", Kind::weight, f32({3}), data});
      },
      "graph 'g': 'w' is declared f32[3], but its data are f32[2]");
  expect_refused(
      [&](Graph& g) {
        g.values.push_back({"w", Kind::state, {Element::f64, {2}}, data});
      },
      "graph 'g': 'w' is declared f64[2], but its data are f32[2]");
}

TEST(GraphVerify, NodesAreInOrder) {
  expect_refused([](Graph& g) { g.nodes[0].inputs = {1}; },
                 "graph 'g': node 'n' reads 'y' before any node computes it: the graph has a "
                 "cycle, or its nodes are out of order");
  expect_refused([](Graph& g) { g.nodes[0].outputs = {}; }, "graph 'g': node 'n' has no output");
  expect_refused([](Graph& g) { g.nodes[0].outputs = {no_value}; },
                 "graph 'g': node 'n' lacks an output");
  expect_refused(
      [](Graph& g) {
        g.nodes.push_back({"m", "relu", {}, {0}, {1}});
      },
      "graph 'g': 'y' is computed twice");
  expect_refused([](Graph& g) { g.nodes[0].outputs = {0}; }, "graph 'g': 'x' is computed twice");
}

TEST(GraphVerify, InputsAndOutputs) {
  expect_refused([](Graph& g) { g.inputs = {1}; },
                 "graph 'g': its list of inputs names what is no input");
  expect_refused([](Graph& g) { g.inputs = {no_value}; },
                 "graph 'g': its list of inputs names what is no input");
  expect_refused([](Graph& g) { g.outputs.clear(); }, "graph 'g' has no output");
  expect_refused([](Graph& g) { g.outputs = {no_value}; }, "graph 'g': no node computes an output");
  expect_refused([](Graph& g) { g.nodes.clear(); }, "graph 'g': no node computes an output");
}

TEST(GraphVerify, OperandsMayBeLeftOut) {
  Graph graph = small();
  graph.nodes[0].inputs = {0, no_value};
  EXPECT_NO_THROW(verify(graph));
}

}  // namespace
}  // namespace lathe::test
