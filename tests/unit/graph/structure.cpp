// What can be read off a graph: its structural hash, who reads what, what no output needs.
#include <gtest/gtest.h>

#include "graph/graph.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

const std::string text = R"(graph g
input x: f32[2x3]
input y: f32[2x3]
weight w: f32[3] = normal(0.5)
constant c: f32[3] = [1.0, 2.0, 3.0]
a = add(x, w): f32[2x3]
b = mul(y, c): f32[2x3]
d = sub(a, b): f32[2x3]
e = softmax(d, axis=1): f32[2x3]
output e
)";

uint64_t hash_of(const std::string& of) { return structural_hash(parse_graph(of)); }

std::string replaced(std::string in, const std::string& what, const std::string& by) {
  size_t at = in.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return in.replace(at, what.size(), by);
}

TEST(StructuralHash, IgnoresNamesAndTheOrderOfIndependentNodes) {
  std::string a = "a = add(x, w): f32[2x3]\n", b = "b = mul(y, c): f32[2x3]\n";
  EXPECT_EQ(hash_of(text), hash_of(replaced(text, a + b, b + a)));
  Graph graph = parse_graph(text);
  uint64_t hash = structural_hash(graph);
  graph.name = "other";
  for (Value& value : graph.values) value.name += "'";
  for (Node& node : graph.nodes) node.name += "'";
  EXPECT_EQ(structural_hash(graph), hash);
}

TEST(StructuralHash, IgnoresWhatNoOutputNeeds) {
  std::string more = replaced(text, "output e", "f = relu(e): f32[2x3]\noutput e");
  EXPECT_EQ(hash_of(text), hash_of(more));
}

TEST(StructuralHash, SeesEverythingElse) {
  uint64_t hash = hash_of(text);
  for (const auto& [what, by] : std::vector<std::pair<std::string, std::string>>{
           {"axis=1", "axis=0"},
           {"axis=1", "axis=1.0"},
           {"softmax(d, axis=1)", "softmax(d)"},
           {"softmax(d", "hardmax(d"},
           {"2.0, 3.0", "2.0, 4.0"},
           {"normal(0.5)", "normal(0.25)"},
           {"normal(0.5)", "uniform(0.5)"},
           {"normal(0.5)", "[1.0, 2.0, 3.0]"},
           {"weight w", "state w"},
           {"sub(a, b)", "sub(b, a)"},
           {"sub(a, b)", "sub(a, b, _)"},
           {"add(x, w)", "add(y, w)"},
           {"output e", "output d"},
           {"output e", "output e\noutput d"},
           {"output e", "input z: f32[1]\noutput e"}}) {
    EXPECT_NE(hash_of(replaced(text, what, by)), hash) << what << " -> " << by;
  }
  Graph swapped = parse_graph(text);
  std::swap(swapped.inputs[0], swapped.inputs[1]);
  EXPECT_NE(structural_hash(swapped), hash);
}

TEST(StructuralHash, TellsTheOutputsOfANodeApart) {
  std::string two = "graph g\ninput x: f32[4]\na, b = top_k(x, k=2): f32[2], i64[2]\noutput a\n";
  EXPECT_NE(hash_of(two), hash_of(replaced(two, "output a", "output b")));
}

TEST(StructuralHash, IsTheSameOnEveryMachine) {
  EXPECT_EQ(fmt::format("{:016x}", hash_of(text)), "9394a8c0347bbfc4");
}

TEST(Graph, ConsumersComeInOrderAndOnce) {
  Graph graph = parse_graph(
      "graph g\ninput x: f32[2]\na = mul(x, x): f32[2]\nb = add(a, x): f32[2]\n"
      "c = clip(b, _, a): f32[2]\noutput c\n");
  auto readers = consumers(graph);
  EXPECT_EQ(readers[*find_value(graph, "x")], (std::vector<size_t>{0, 1}));
  EXPECT_EQ(readers[*find_value(graph, "a")], (std::vector<size_t>{1, 2}));
  EXPECT_EQ(readers[*find_value(graph, "c")], std::vector<size_t>{});
  EXPECT_EQ(find_value(graph, "nothing"), std::nullopt);
  EXPECT_EQ(find_node(graph, "b"), std::optional<size_t>(1));
  EXPECT_EQ(find_node(graph, "x"), std::nullopt);
}

TEST(Graph, DeadNodesAndValuesGo) {
  Graph graph = parse_graph(R"(graph g
input x: f32[4]
input unused: f32[1]
weight w: f32[4] = ones
weight dead: f32[4] = ones
a = add(x, dead): f32[4]
v, i = top_k(x, k=4): f32[4], i64[4]
b = relu(a): f32[4]
c = mul(v, w): f32[4]
output c
)");
  Graph alive = without_dead(graph);
  verify(alive);
  EXPECT_EQ(print(alive), R"(graph g
input x: f32[4]
input unused: f32[1]
weight w: f32[4] = ones
v, i = top_k(x, k=4): f32[4], i64[4]
c = mul(v, w): f32[4]
output c
)");
  EXPECT_EQ(structural_hash(alive), structural_hash(graph));
  EXPECT_EQ(print(without_dead(alive)), print(alive));
}

TEST(Graph, WeightsAreCounted) {
  EXPECT_EQ(weight_count(parse_graph(text)), 3);
  EXPECT_EQ(weight_count(parse_graph(
                "graph g\nweight a: f32[2x3] = ones\nstate b: f32[7] = ones\noutput a\n")),
            6);
}

}  // namespace
}  // namespace lathe::test
