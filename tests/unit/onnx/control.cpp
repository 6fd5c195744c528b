// Branches and loops of ONNX: what they become, whose names they see, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>

#include "compile/executor.h"
#include "support/onnx_model.h"

namespace lathe::test {
namespace {

/// A loop's body that hands on "sum" plus what "added" names, and collects the sums.
OnnxModel adding(const std::string& added) {
  OnnxModel body;
  body.input("i", {}, Element::i64);
  body.input("on", {}, Element::boolean);
  body.input("sum", {2});
  body.node("Identity", {"on"}, {"still_on"});
  body.node("Add", {"sum", added}, {"next"}, {}, "step");
  body.node("Identity", {"next"}, {"seen"});
  for (const char* name : {"still_on", "next", "seen"}) body.output(name);
  return body;
}

/// A model that runs a body "rounds" times on "x".
OnnxModel looping(long rounds, OnnxModel body, const std::vector<std::string>& outputs = {"y"}) {
  OnnxModel m;
  m.input("x", {2});
  m.integer("rounds", rounds);
  OnnxModel::add_body(m.node("Loop", {"rounds", "", "x"}, outputs, {}, "loop"), "body", body);
  for (const std::string& name : outputs) m.output(name);
  return m;
}

long count_nodes(const Graph& graph, const std::string& op) {
  return std::count_if(graph.nodes.begin(), graph.nodes.end(),
                       [&](const Node& node) { return node.op == op; });
}

std::vector<double> run_on(const Graph& graph, const std::vector<double>& x, size_t output = 0) {
  Array input = Array::of_reals(Element::f32, {static_cast<long>(x.size())}, x);
  return Executor(graph, {.target = native_target()}).run({input})[output].reals();
}

TEST(OnnxLoop, BecomesItsRounds) {
  Graph graph = looping(3, adding("x"), {"y", "seen"}).parse();
  EXPECT_EQ(count_nodes(graph, "add"), 3);
  EXPECT_EQ(graph.values[graph.outputs[0]].name, "y");
  EXPECT_EQ(run_on(graph, {1, 10}), (std::vector<double>{4, 40}));
  EXPECT_EQ(graph.values[graph.outputs[1]].type.shape, (Shape{3, 2}));
  EXPECT_EQ(run_on(graph, {1, 10}, 1), (std::vector<double>{2, 20, 3, 30, 4, 40}));
}

TEST(OnnxLoop, NoRounds) {
  for (long rounds : {0L, -5L}) {
    EXPECT_EQ(run_on(looping(rounds, adding("x")).parse(), {1, 2}), (std::vector<double>{1, 2}));
    EXPECT_EQ(looping(rounds, adding("x"), {"y", "seen"}).error(),
              "node 'loop' (Loop): without rounds the shape of 'seen' is not known");
  }
  OnnxModel body = adding("x");
  auto* type = body.graph().mutable_output(2)->mutable_type()->mutable_tensor_type();
  type->set_elem_type(1);
  type->mutable_shape()->add_dim()->set_dim_value(2);
  Graph graph = looping(0, body, {"y", "seen"}).parse();
  EXPECT_EQ(graph.values[graph.outputs[1]].type.shape, (Shape{0, 2}));
}

TEST(OnnxLoop, ConditionEndsIt) {
  OnnxModel body = adding("x");
  body.integer("last", 1);
  body.node("Less", {"i", "last"}, {"goes_on"});
  body.graph().mutable_output(0)->set_name("goes_on");
  Graph graph = looping(1L << 40, body).parse();
  EXPECT_EQ(count_nodes(graph, "add"), 2);
}

TEST(OnnxLoop, BodiesSeeWhatIsComputedLater) {
  OnnxModel m = looping(2, adding("twice"));
  m.node("Add", {"x", "x"}, {"twice"});
  EXPECT_EQ(run_on(m.parse(), {1, 2}), (std::vector<double>{5, 10}));
  EXPECT_EQ(looping(2, adding("nothing")).error(),
            "m.onnx: node 'loop' (Loop) reads 'nothing', which is neither an input nor computed");
}

TEST(OnnxLoop, BodiesMayHideNames) {
  OnnxModel body = adding("x");
  body.graph().mutable_input(2)->set_name("x");
  body.graph().mutable_node(1)->set_input(0, "x");
  OnnxModel m = looping(2, body);
  m.node("Sub", {"y", "x"}, {"z"});
  m.output("z");
  Graph graph = m.parse();
  EXPECT_EQ(run_on(graph, {1, 2}), (std::vector<double>{4, 8}));
  EXPECT_EQ(run_on(graph, {1, 2}, 1), (std::vector<double>{3, 6}));
}

/// A body that runs another loop, twice, on its sum.
OnnxModel nested(const std::string& added) {
  OnnxModel inner = adding(added);
  for (int i = 0; i < 3; ++i) {
    std::string* name = inner.graph().mutable_input(i)->mutable_name();
    *name = "inner_" + *name;
  }
  inner.graph().mutable_node(0)->set_input(0, "inner_on");
  inner.graph().mutable_node(1)->set_input(0, "inner_sum");
  OnnxModel body = adding("x");
  body.integer("two", 2);
  onnx::NodeProto& node = *body.graph().mutable_node(1);
  node.set_op_type("Loop");
  node.clear_input();
  for (const char* name : {"two", "on", "sum"}) node.add_input(name);
  OnnxModel::add_body(node, "body", inner);
  return body;
}

TEST(OnnxLoop, LoopsInLoops) {
  Graph graph = looping(3, nested("x")).parse();
  EXPECT_EQ(count_nodes(graph, "add"), 6);
  EXPECT_EQ(run_on(graph, {1, 2}), (std::vector<double>{7, 14}));
}

TEST(OnnxLoop, TooManyRounds) {
  std::string refusal = "the model's loops unroll to more than 65536 nodes";
  EXPECT_EQ(looping(1L << 62, adding("x")).error(), "node 'loop' (Loop): " + refusal);
  EXPECT_EQ(looping(20000, nested("x")).error(), "node 'step' (Loop): " + refusal);
}

TEST(OnnxLoop, WhatIsNotKnown) {
  OnnxModel m;
  m.input("x", {2});
  m.input("rounds", {}, Element::i64);
  OnnxModel body = adding("x");
  OnnxModel::add_body(m.node("Loop", {"rounds", "", "x"}, {"y"}, {}, "loop"), "body", body);
  m.output("y");
  EXPECT_EQ(m.error(),
            "node 'loop' (Loop): the trip count ('rounds') must be known when the network is "
            "imported");
  Array two = Array::of_integers(Element::i64, {}, std::vector<long>{2});
  EXPECT_EQ(count_nodes(m.parse({.values = {{"rounds", two}}}), "add"), 2);
  OnnxModel until = adding("x");
  until.node("ReduceMax", {"next"}, {"top"}, {{"keepdims", 0L}});
  until.node("Cast", {"top"}, {"goes_on"}, {{"to", 9L}});
  until.graph().mutable_output(0)->set_name("goes_on");
  EXPECT_EQ(looping(2, until).error(),
            "node 'loop' (Loop): its condition must be known when the network is imported");
  EXPECT_EQ(looping(1, until).error(), "");
}

TEST(OnnxLoop, BodiesThatDoNotFit) {
  OnnxModel m;
  m.input("x", {2});
  m.integer("rounds", 1);
  m.node("Loop", {"rounds", "", "x"}, {"y"}, {}, "loop");
  m.output("y");
  EXPECT_EQ(m.error(), "node 'loop' (Loop): it has no graph 'body'");
  OnnxModel body = adding("x");
  body.graph().mutable_output()->RemoveLast();
  body.graph().mutable_output()->RemoveLast();
  EXPECT_EQ(looping(1, body).error(), "node 'loop' (Loop): its body has 1 outputs, but needs 2");
  OnnxModel small = adding("x");
  small.graph().mutable_input()->RemoveLast();
  small.graph().mutable_node(1)->set_input(0, "x");
  EXPECT_EQ(looping(1, small).error(), "node 'loop' (Loop): its body takes 2 inputs, but gets 3");
  OnnxModel missing = adding("x");
  missing.node("Invented", {"x"}, {"other"}, {}, "inside");
  EXPECT_EQ(looping(1, missing).error(),
            "m.onnx: these operators are not supported:\n"
            "  Invented (domain ai.onnx, operator set 17), node 'inside'");
}

TEST(OnnxLoop, ListsGrow) {
  OnnxModel body;
  body.input("i", {}, Element::i64);
  body.input("on", {}, Element::boolean);
  body.input("list", {});
  body.node("SequenceInsert", {"list", "x"}, {"longer"});
  for (const char* name : {"on", "longer"}) body.output(name);
  OnnxModel m;
  m.input("x", {2});
  m.integer("rounds", 3);
  m.node("SequenceEmpty", {}, {"none"});
  OnnxModel::add_body(m.node("Loop", {"rounds", "", "none"}, {"list"}), "body", body);
  m.node("ConcatFromSequence", {"list"}, {"y"}, {{"axis", 0L}});
  m.output("y");
  EXPECT_EQ(run_on(m.parse(), {1, 2}), (std::vector<double>{1, 2, 1, 2, 1, 2}));
}

/// A model that takes "x" times itself or "x" plus itself.
OnnxModel choosing(const std::string& otherwise = "Add") {
  OnnxModel m, yes, no;
  yes.node("Mul", {"x", "x"}, {"product"});
  yes.output("product");
  no.node(otherwise, {"x", "x"}, {"sum"}, {{"axis", 0L}});
  no.output("sum");
  m.input("x", {2});
  m.input("which", {}, Element::boolean);
  onnx::NodeProto& node = m.node("If", {"which"}, {"y"}, {}, "if");
  OnnxModel::add_body(node, "then_branch", yes);
  OnnxModel::add_body(node, "else_branch", no);
  m.output("y");
  return m;
}

TEST(OnnxIf, KnownConditionsTakeOneBranch) {
  for (long which : {0, 1}) {
    Array known = Array::of_integers(Element::boolean, {}, std::vector<long>{which});
    Graph graph = choosing().parse({.values = {{"which", known}}});
    EXPECT_EQ(count_nodes(graph, "mul"), which);
    EXPECT_EQ(count_nodes(graph, "add"), 1 - which);
  }
}

TEST(OnnxIf, OutputsHaveNamesOfTheirOwn) {
  OnnxModel m = choosing();
  onnx::NodeProto& node = *m.graph().mutable_node(0);
  for (auto& attribute : *node.mutable_attribute()) {
    *attribute.mutable_g()->add_output() = attribute.g().output(0);
    attribute.mutable_g()->add_output()->set_name("x");
  }
  for (const char* name : {"again", "same"}) {
    node.add_output(name);
    m.output(name);
  }
  Array yes = Array::of_integers(Element::boolean, {}, std::vector<long>{1});
  Graph graph = m.parse({.values = {{"which", yes}}});
  std::vector<std::string> names;
  for (ValueId id : graph.outputs) names.push_back(graph.values[id].name);
  EXPECT_EQ(names, (std::vector<std::string>{"y", "again", "same"}));
}

TEST(OnnxIf, OtherwiseBothAreComputed) {
  EXPECT_EQ(count_nodes(choosing().parse(), "where"), 1);
  EXPECT_EQ(choosing("Concat").error(),
            "node 'if' (If): its condition is not known, and its branches differ in their shapes");
}

TEST(OnnxScan, CountsOfOperands) {
  for (long count : {-1L, 0L, 2L, 1L << 40}) {
    OnnxModel m, body;
    m.input("x", {2});
    body.output("x");
    onnx::NodeProto& node = m.node("Scan", {"x"}, {"y"}, {{"num_scan_inputs", count}}, "scan");
    OnnxModel::add_body(node, "body", body);
    m.output("y");
    EXPECT_EQ(m.error(), fmt::format("node 'scan' (Scan): num_scan_inputs={} does not fit its "
                                     "operands",
                                     count));
  }
}

TEST(OnnxKnown, FollowsFromWhatIsGiven) {
  OnnxModel m;
  m.input("x", {6});
  m.input("rows", {1}, Element::i64);
  m.integers("open", {-1});
  m.integers("one", {1});
  m.node("Add", {"rows", "one"}, {"more"});
  m.node("Concat", {"more", "open"}, {"shape"}, {{"axis", 0L}});
  m.node("Reshape", {"x", "shape"}, {"y"});
  m.output("y");
  Array two = Array::of_integers(Element::i64, {1}, std::vector<long>{2});
  Graph graph = m.parse({.values = {{"rows", two}}});
  EXPECT_EQ(graph.values[graph.outputs[0]].type.shape, (Shape{3, 2}));
  EXPECT_EQ(m.error(),
            "node 'y' (Reshape): shape ('shape') must be known when the network is "
            "imported");
}

}  // namespace
}  // namespace lathe::test
