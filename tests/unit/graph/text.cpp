// The text form of graphs: what is printed is read back, and what is wrong has a place.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/graph.h"
#include "models/model.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

using Kind = Value::Kind;

/// Expects that a graph is read back as it was.
void expect_round_trip(const Graph& graph) {
  std::string text = print(graph);
  Graph read = parse_graph(text);
  EXPECT_EQ(print(read), text);
  EXPECT_EQ(read.name, graph.name);
  ASSERT_EQ(read.nodes.size(), graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    EXPECT_EQ(read.nodes[i].name, graph.nodes[i].name);
    EXPECT_EQ(read.nodes[i].op, graph.nodes[i].op);
    EXPECT_EQ(read.nodes[i].inputs.size(), graph.nodes[i].inputs.size());
  }
  EXPECT_EQ(structural_hash(read), structural_hash(graph));
}

/// A graph of one node whose parts have these names.
Graph named(const std::string& graph_name, const std::string& input, const std::string& output,
            const std::string& node) {
  Graph graph;
  graph.name = graph_name;
  graph.values = {{input, Kind::input, {Element::f32, {2}}},
                  {output, Kind::computed, {Element::f32, {2}}}};
  graph.nodes = {{node, "relu", {}, {0}, {1}}};
  graph.inputs = {0};
  graph.outputs = {1};
  return graph;
}

TEST(GraphText, OddNames) {
  for (const std::string& name : {std::string("layer1.0.conv1"),
                                  std::string("/layer/Conv_1:0"),
                                  std::string("a b"),
                                  std::string("\"quoted\""),
                                  std::string("back\\slash"),
                                  std::string("two\nlines"),
                                  std::string("#comment"),
                                  std::string("1x3"),
                                  std::string("12"),
                                  std::string("\xc3\xa9"),
                                  std::string("a."),
                                  std::string(".a"),
                                  std::string("_a"),
                                  std::string("nan"),
                                  std::string("input"),
                                  std::string("output"),
                                  std::string("weight"),
                                  std::string("graph"),
                                  std::string("stored"),
                                  std::string("f32")}) {
    SCOPED_TRACE(name);
    expect_round_trip(named(name, "x", "y", "y"));
    expect_round_trip(named("g", name, "y", "y"));
    expect_round_trip(named("g", "x", name, name));
    expect_round_trip(named("g", "x", "y", name));
  }
}

// "_" stands for an operand that is left out, and "as" for a node's name.
TEST(GraphText, ValuesNamedLikeSymbols) {
  expect_round_trip(named("g", "_", "y", "y"));
  expect_round_trip(named("g", "x", "_", "_"));
  Graph graph = named("g", "x", "y", "y");
  graph.values.push_back({"as", Kind::computed, {Element::f32, {2}}});
  graph.nodes.push_back({"as", "relu", {}, {1}, {2}});
  graph.outputs = {2};
  expect_round_trip(graph);
}

TEST(GraphText, EveryKindOfAttribute) {
  Graph graph = named("g", "x", "y", "y");
  double inf = std::numeric_limits<double>::infinity();
  graph.nodes[0].attributes = {
      {"integer", 7L},
      {"negative", -7L},
      {"least", std::numeric_limits<long>::lowest()},
      {"most", std::numeric_limits<long>::max()},
      {"real", 0.1},
      {"whole", 2.0},
      {"tiny", 1e-300},
      {"huge", 1.7976931348623157e308},
      {"plus_inf", inf},
      {"minus_inf", -inf},
      {"not_a_number", std::nan("")},
      {"minus_zero", -0.0},
      {"text", std::string("a \"b\"\n\\ c")},
      {"empty_text", std::string()},
      {"integers", Shape{1, -2, 3}},
      {"none", Shape{}},
      {"reals", std::vector<double>{1, -2.5, inf, -inf}},
      {"texts", std::vector<std::string>{"a", "", "b,c]"}},
  };
  expect_round_trip(graph);
  Graph read = parse_graph(print(graph));
  for (const auto& [name, value] : graph.nodes[0].attributes) {
    const Attribute& got = read.nodes[0].attributes.at(name);
    EXPECT_EQ(got.index(), value.index()) << name;
    EXPECT_EQ(print_attribute(got), print_attribute(value)) << name;
  }
}

TEST(GraphText, DataOfEveryElementType) {
  for (Element element : all_elements()) {
    SCOPED_TRACE(name_of(element));
    Graph graph = named("g", "x", "y", "y");
    Array data = element == Element::string
                     ? Array::of_strings({2}, {"a\"\n", ""})
                     : Array::of_integers(element, {2}, std::vector<long>{1, 0});
    graph.values.push_back({"c", Kind::constant, {element, {2}}, data});
    graph.nodes[0].inputs.push_back(2);
    expect_round_trip(graph);
    Graph read = parse_graph(print(graph));
    EXPECT_TRUE(*read.values[*find_value(read, "c")].data == data);
  }
}

TEST(GraphText, ExtremeData) {
  double inf = std::numeric_limits<double>::infinity();
  for (const Array& data :
       {Array::of_reals(Element::f64, {4}, std::vector<double>{inf, -inf, 0.1, -0.0}),
        Array::of_reals(Element::f32, {2}, std::vector<double>{1e-45, 3.4028234663852886e38}),
        Array::of_integers(Element::i64, {2},
                           std::vector<long>{std::numeric_limits<long>::lowest(),
                                             std::numeric_limits<long>::max()}),
        Array::of_integers(Element::u64, {1}, std::vector<long>{-1}), Array(Element::f32, {0, 3}),
        Array(Element::i8, {})}) {
    SCOPED_TRACE(print_type({data.element(), data.shape()}));
    Graph graph = named("g", "x", "y", "y");
    graph.values.push_back({"c", Kind::weight, {data.element(), data.shape()}, data});
    graph.nodes[0].inputs.push_back(2);
    expect_round_trip(graph);
    Graph read = parse_graph(print(graph));
    EXPECT_TRUE(*read.values[*find_value(read, "c")].data == data);
  }
}

TEST(GraphText, LongDataAreNotPrinted) {
  Graph graph = named("g", "x", "y", "y");
  Array data = Array::of_integers(Element::i64, {17}, std::vector<long>(17, 1));
  graph.values.push_back({"c", Kind::constant, {Element::i64, {17}}, data});
  graph.values.push_back({"w", Kind::weight, {Element::i64, {17}}, data});
  graph.nodes[0].inputs = {0, 2, 3};
  std::string text = print(graph);
  EXPECT_NE(text.find("constant c: i64[17] = stored\n"), std::string::npos);
  EXPECT_NE(text.find("weight w: i64[17] = stored\n"), std::string::npos);
  Graph read = parse_graph(text);
  EXPECT_EQ(read.values[*find_value(read, "c")].data->integers(), std::vector<long>(17, 0));
  EXPECT_FALSE(read.values[*find_value(read, "w")].data.has_value());
}

TEST(GraphText, HandWritten) {
  for (const std::string text : {R"(graph g
input x: f32[1x3x8x8]
input i: i64[]
weight w: f32[4x3x3x3] = normal(0.25)
weight u: f32[4] = uniform(2.0)
state m: f32[4] = zeros
state v: f32[4] = ones
weight trained: f32[2] = [0.5, -1.0]
weight none: bf16[2]
constant s: string[2] = ["a", "b"]
y = conv(x, w, u, pads=[1, 1, 1, 1]): f32[1x4x8x8]
z = clip(y, _, i, max=6.0): f32[1x4x8x8] as "the clip"
a, b = top_k(z, k=3): f32[1x4x8x3], i64[1x4x8x3] as top
n = non_zero(z): i64[?]
"a b" = relu(n): f32[?]
output a
output "a b"
output b
)",
                                 "graph \"\"\ninput x: f32[0]\noutput x\n"}) {
    Graph graph = parse_graph(text);
    EXPECT_EQ(print(graph), text);
    expect_round_trip(graph);
  }
}

TEST(GraphText, CommentsAndSpaceDoNotMatter) {
  Graph graph = parse_graph(
      "# a comment\ngraph   g input x : f32[ 2 ]\n\n  y=relu(x,):f32[2]# there\noutput y");
  EXPECT_EQ(print(graph), "graph g\ninput x: f32[2]\ny = relu(x): f32[2]\noutput y\n");
}

TEST(GraphText, BuiltInNetworks) {
  for (const ModelEntry& entry : list_models()) {
    SCOPED_TRACE(entry.example);
    expect_round_trip(load_model(entry.example));
  }
}

TEST(GraphText, ErrorsHaveAPlace) {
  const std::string head = "graph g\ninput x: f32[2]\n";
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {"", "a.graph:1:1: expected 'graph', found 'the end'"},
           {"network g", "a.graph:1:1: expected 'graph', found 'network'"},
           {"graph (", "a.graph:1:7: expected a name for the graph, found '('"},
           {head + "y = relu(z): f32[2]\noutput y", "a.graph:3:10: there is no value 'z' so far"},
           {head + "y = relu(x): f33[2]\noutput y", "a.graph:3:14: 'f33' is no element type"},
           {head + "y = relu(x): f32[2y3]\noutput y", "a.graph:3:21: expected a shape like 1x3x32"},
           {head + "y = relu(x): f32[2x]\noutput y", "a.graph:3:20: expected a shape like 1x3x32"},
           {head + "y = relu(x): f32[-2]\noutput y", "a.graph:3:18: expected an extent, found '-'"},
           {head + "y = relu(x): f32[99999999999999999999]\noutput y",
            "a.graph:3:18: expected an extent, found '99999999999999999999'"},
           {head + "x = relu(x): f32[2]\noutput x", "a.graph:3:1: there are two values 'x'"},
           {head + "y = relu(x, a=1, a=2): f32[2]\noutput y",
            "a.graph:3:18: attribute 'a' is given twice"},
           {head + "y = relu(x, a=): f32[2]\noutput y",
            "a.graph:3:15: expected a number, found ')'"},
           {head + "y = relu(x, a=[1, \"b\"]): f32[2]\noutput y",
            "a.graph:3:19: expected a number, found 'b'"},
           {head + "y = relu(x: f32[2]\noutput y", "a.graph:3:11: expected ')', found ':'"},
           {head + "y = relu(x)\noutput y", "a.graph:4:1: expected ':', found 'output'"},
           {head + "y, z = relu(x): f32[2]\noutput y", "a.graph:4:1: expected ',', found 'output'"},
           {head + "y = 3(x): f32[2]\noutput y", "a.graph:3:5: expected an operator, found '3'"},
           {head + "weight w: f32[2] = [1.0]\noutput x",
            "a.graph:3:20: f32[2] needs 2 elements, not 1"},
           {head + "weight w: i32[2] = [1, 2.5]\noutput x", "a.graph:3:20: expected integers"},
           {head + "weight w: f32[2] = some\noutput x",
            "a.graph:3:20: expected data, or how the value begins"},
           {head + "weight w: f32[2] = normal(x)\noutput x",
            "a.graph:3:27: expected a number, found 'x'"},
           {head + "weight w: string[1] = [1]\noutput x",
            "a.graph:3:24: expected a text, found '1'"},
           {head + "output z", "a.graph:3:8: there is no value 'z' so far"},
           {head + "input \"x", "a.graph:3:7: this quote does not close"},
           {head + "constant c: f32[2]\noutput x", "graph 'g': the constant 'c' has no data"},
           {head + "input y: f32[?]\noutput x",
            "graph 'g': only computed values may be dynamic, not 'y'"},
           {head, "graph 'g' has no output"}}) {
    EXPECT_EQ(message_of([&] { parse_graph(text, "a.graph"); }), message) << text;
  }
}

TEST(GraphText, HugeDataAreRefused) {
  EXPECT_EQ(message_of([] {
              parse_graph("graph g\nconstant c: f32[1048576x1048576] = stored\noutput c", "a");
            }),
            "a:2:36: f32[1048576x1048576] is too large");
}

}  // namespace
}  // namespace lathe::test
