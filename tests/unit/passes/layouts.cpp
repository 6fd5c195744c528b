// Layouts that somebody chose: networks compute the same in all of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "autodiff/gradient.h"
#include "base/random.h"
#include "compile/executor.h"
#include "compile/ready.h"
#include "passes/pass_layout.h"
#include "support/interpreted.h"
#include "support/run_graph.h"

namespace lathe::test {
namespace {

/// A residual sum, a concatenation, windows with and without sums over channels.
const char* const network =
    "graph g\n"
    "input x: f32[1x3x9x9]\n"
    "weight w1: f32[64x3x3x3] = normal(0.1)\n"
    "weight w2: f32[64x64x3x3] = normal(0.1)\n"
    "weight w3: f32[32x64x1x1] = normal(0.1)\n"
    "weight w4: f32[96x1x3x3] = normal(0.1)\n"
    "weight w5: f32[10x96x1x1] = normal(0.1)\n"
    "a = conv(x, w1, pads=[1, 1, 1, 1]): f32[1x64x9x9]\n"
    "p = conv(a, w2, pads=[1, 1, 1, 1]): f32[1x64x9x9]\n"
    "b = conv(p, w2, pads=[1, 1, 1, 1]): f32[1x64x9x9]\n"
    "s = add(b, a): f32[1x64x9x9]\n"
    "c = conv(s, w3): f32[1x32x9x9]\n"
    "j = concat(s, c, axis=1): f32[1x96x9x9]\n"
    "d = conv(j, w4, groups=96, pads=[1, 1, 1, 1], strides=[2, 2]): f32[1x96x5x5]\n"
    "m = max_pool(d, kernel=[2, 2], strides=[1, 1]): f32[1x96x4x4]\n"
    "y = conv(m, w5): f32[1x10x4x4]\n"
    "output y\n";

Graph graph_of(const char* text) { return initialised(parse_graph(text), 1); }

Layouts simple_layouts(const Graph& graph, long vector_bytes = 16) {
  return layouts_of(simplified(graph), vector_bytes);
}

LayoutChoice random_choice(const Layouts& layouts, Random& random) {
  auto drawn = [&](const std::vector<long>& blocks) { return blocks[random.below(blocks.size())]; };
  LayoutChoice choice;
  for (const LayoutClass& each : layouts.classes) choice.blocks.push_back(drawn(each.blocks));
  for (size_t n = 0; n < layouts.graph.nodes.size(); ++n) {
    if (!can_read_copy(layouts, n) || random.below(2) == 0) continue;
    size_t of = layouts.class_of[layouts.graph.nodes[n].inputs.front()];
    choice.copies[n] = drawn(layouts.classes[of].blocks);
  }
  return choice;
}

TEST(Layouts, NetworksComputeTheSameInAll) {
  Graph graph = graph_of(network);
  Layouts layouts = simple_layouts(graph);
  std::vector<lathe::Array> inputs = random_inputs(graph);
  std::vector<double> wanted = interpreted(graph, inputs).front().reals();
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Random random(seed, "layouts");
    LayoutChoice choice = random_choice(layouts, random);
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, print(choice)));
    ASSERT_TRUE(fits(layouts, choice));
    verify(stored(layouts, choice));
    CompileOptions options;
    options.target = native_target();
    options.layouts = [&](const std::string&) { return choice; };
    expect_elements(Runner(compile(graph, options), 1).run(inputs).front(), wanted, 1e-4);
  }
}

TEST(Layouts, SumsAndConcatenationsShareThem) {
  Layouts layouts = simple_layouts(graph_of(network));
  auto of = [&](const char* name) { return layouts.class_of[*find_value(layouts.graph, name)]; };
  EXPECT_EQ(of("a"), of("s"));
  EXPECT_EQ(of("s"), of("j"));
  EXPECT_EQ(of("c"), of("j"));
  EXPECT_NE(of("x.stored"), of("a"));
  EXPECT_NE(of("p"), of("a"));
  EXPECT_EQ(of("y"), no_class) << "callers read it";
  // 64, 32 and 96 channels; a window with weights of its own per channel walks few at a time.
  EXPECT_EQ(layouts.classes[of("a")].blocks, (std::vector<long>{16, 32}));
}

/// Returns a network with what GraSP asks for: the gradients of the gradients by its weights.
Graph with_second_derivatives() {
  Graph graph = graph_of(
      "graph g\n"
      "input x: f64[2x16x8x8]\n"
      "weight w1: f64[32x16x3x3] = normal(0.1)\n"
      "weight w2: f64[16x32x3x3] = normal(0.1)\n"
      "a = conv(x, w1, pads=[1, 1, 1, 1]): f64[2x32x8x8]\n"
      "r = relu(a): f64[2x32x8x8]\n"
      "b = conv(r, w2, pads=[1, 1, 1, 1]): f64[2x16x8x8]\n"
      "y = mul(b, b): f64[2x16x8x8]\n"
      "output y\n");
  std::vector<ValueId> weights{*find_value(graph, "w1"), *find_value(graph, "w2")};
  Gradients first = with_gradients(graph, *find_value(graph, "y"), weights);
  std::vector<Counted> of;
  for (ValueId id : first.by) of.push_back({id, id});
  Gradients second = with_gradients(first.graph, of, weights);
  second.graph.outputs = second.by;
  return without_dead(second.graph);
}

TEST(Layouts, SecondDerivativesLieInBlocks) {
  Graph graph = with_second_derivatives();
  Layouts layouts = simple_layouts(graph);
  for (const Node& node : layouts.graph.nodes) {
    for (ValueId id : node.outputs) {
      const Value& value = layouts.graph.values[id];
      bool is_activation = value.type.shape.size() == 4 && value.type.shape[2] == 8;
      if (!is_activation) continue;
      EXPECT_NE(layouts.class_of[id], no_class) << node.name;
    }
  }
}

TEST(Layouts, SecondDerivativesAreTheSameInBlocks) {
  Graph graph = with_second_derivatives();
  std::vector<lathe::Array> inputs = random_inputs(graph);
  std::vector<lathe::Array> wanted = interpreted(graph, inputs);
  std::vector<lathe::Array> found =
      Runner(compile(graph, {.target = native_target()}), 1).run(inputs);
  for (size_t i = 0; i < wanted.size(); ++i) expect_elements(found[i], wanted[i].reals(), 1e-9);
}

TEST(Layouts, AllChannelsWhereTheyAreAsMany) {
  Layouts layouts = simple_layouts(
      graph_of("graph g\ninput x: f32[1x16x4x4]\nweight w: f32[128x16x1x1] = normal(0.1)\n"
               "weight v: f32[8x128x1x1] = normal(0.1)\n"
               "a = conv(x, w): f32[1x128x4x4]\nb = conv(a, v): f32[1x8x4x4]\noutput b\n"));
  ASSERT_EQ(layouts.classes.size(), 2u);
  EXPECT_EQ(layouts.classes[0].blocks, std::vector<long>{16});
  EXPECT_EQ(layouts.classes[1].blocks, (std::vector<long>{64, 16, 32, 128}));
}

TEST(Layouts, BlocksFillVectors) {
  std::string text =
      "graph g\ninput x: f16[1x16x4x4]\nweight w: f16[96x16x1x1] = normal(0.1)\n"
      "weight d: f16[96x1x1x1] = normal(0.1)\nweight v: f16[48x96x1x1] = normal(0.1)\n"
      "weight u: f16[8x48x1x1] = normal(0.1)\na = conv(x, w): f16[1x96x4x4]\n"
      "b = conv(a, d, groups=96): f16[1x96x4x4]\nc = conv(b, v): f16[1x48x4x4]\n"
      "e = conv(c, u): f16[1x8x4x4]\noutput e\n";
  auto block = [&](const char* name, long vector_bytes) {
    Layouts layouts = simple_layouts(graph_of(text.c_str()), vector_bytes);
    return layouts.classes[layouts.class_of[*find_value(layouts.graph, name)]].blocks.front();
  };
  EXPECT_EQ(block("a", 16), 16) << "a window walks few at a time";
  EXPECT_EQ(block("c", 16), 48);
  EXPECT_EQ(block("a", 64), 32) << "but whole vectors";
  EXPECT_EQ(block("c", 64), 48) << "16 would not fill one, either";
}

/// Returns the block in which a convolution in groups stores its channels by default.
long block_of_groups(long channels, long groups) {
  std::string text = fmt::format(
      "graph g\ninput x: f32[1x16x4x4]\nweight w: f32[{0}x16x1x1] = normal(0.1)\n"
      "weight v: f32[{0}x{1}x1x1] = normal(0.1)\nweight u: f32[8x{0}x1x1] = normal(0.1)\n"
      "a = conv(x, w): f32[1x{0}x4x4]\nb = conv(a, v, groups={2}): f32[1x{0}x4x4]\n"
      "c = conv(b, u): f32[1x8x4x4]\noutput c\n",
      channels, channels / groups, groups);
  Layouts layouts = simple_layouts(graph_of(text.c_str()));
  return layouts.classes[layouts.class_of[*find_value(layouts.graph, "b")]].blocks.front();
}

TEST(Layouts, BlocksEndWhereGroupsEnd) {
  EXPECT_EQ(block_of_groups(256, 4), 64);
  EXPECT_EQ(block_of_groups(128, 8), 64) << "a block of four groups";
  EXPECT_EQ(block_of_groups(352, 4), 8) << "32 divides 352, but not the 88 of a group";
  EXPECT_EQ(block_of_groups(504, 2), 4);
  EXPECT_EQ(block_of_groups(120, 4), 8) << "nothing fits 30";
}

TEST(Layouts, ReadersOfTheSameCopyShareIt) {
  Layouts layouts = simple_layouts(
      graph_of("graph g\ninput x: f32[1x3x4x4]\nweight w: f32[64x3x1x1] = normal(0.1)\n"
               "weight v: f32[8x64x1x1] = normal(0.1)\nweight u: f32[4x64x1x1] = normal(0.1)\n"
               "a = conv(x, w): f32[1x64x4x4]\nb = conv(a, v): f32[1x8x4x4]\n"
               "c = conv(a, u): f32[1x4x4x4]\noutput b\noutput c\n"));
  LayoutChoice choice = own_choice(layouts);
  size_t nodes = with_layouts(layouts, choice).nodes.size();
  for (const char* reader : {"b", "c"}) choice.copies[*find_node(layouts.graph, reader)] = 16;
  EXPECT_EQ(with_layouts(layouts, choice).nodes.size(), nodes + 1);
  for (auto& [n, block] : choice.copies) block = 64;
  EXPECT_EQ(with_layouts(layouts, choice).nodes.size(), nodes) << "they lie so already";
}

TEST(Layouts, WhatDoesNotFitIsNotTaken) {
  Graph graph = graph_of(network);
  Layouts layouts = simple_layouts(graph);
  LayoutChoice usual = own_choice(layouts), none, odd = usual, far = usual;
  odd.blocks.back() = 5;
  far.copies[1000] = 16;
  EXPECT_TRUE(fits(layouts, usual));
  for (const LayoutChoice& wrong : {none, odd, far}) {
    EXPECT_FALSE(fits(layouts, wrong));
    Graph got = ready_to_compile(graph, {.layouts = [&](const std::string&) { return wrong; }});
    for (ValueId id = 0; id < got.values.size(); ++id) {
      EXPECT_EQ(got.values[id].storage, ready_to_compile(graph).values[id].storage);
    }
  }
}

TEST(Layouts, KeysAreAboutShapesOnly) {
  std::string text = network, renamed = text, other = text;
  renamed.replace(renamed.find("graph g"), 7, "graph h");
  for (size_t at = renamed.find("w3"); at != std::string::npos; at = renamed.find("w3")) {
    renamed.replace(at, 2, "weight3");
  }
  other.replace(other.find("strides=[1, 1]"), 14, "strides=[2, 2]");
  other.replace(other.find("4x4]\ny"), 4, "2x2]");
  other.replace(other.find("4x4]\noutput"), 4, "2x2]");
  auto key = [](const std::string& of, uint64_t seed) {
    return layout_key(simplified(initialised(parse_graph(of), seed)));
  };
  EXPECT_EQ(key(text, 1), key(text, 2));
  EXPECT_EQ(key(text, 1), key(renamed, 1));
  EXPECT_NE(key(text, 1), key(other, 1));
}

TEST(Layouts, WhateverRunsANetworkAsksForTheSameKey) {
  Graph graph = graph_of(network);
  std::vector<std::string> keys;
  auto ask = [&](const std::string& key) -> std::optional<LayoutChoice> {
    keys.push_back(key);
    return std::nullopt;
  };
  compile(graph, {.target = native_target(), .layouts = ask});
  Executor(graph, {.target = native_target(), .layouts = ask}).run(random_inputs(graph));
  EXPECT_EQ(keys, std::vector(2, layout_key(simplified(graph))));
}

TEST(Layouts, AreReadAsTheyArePrinted) {
  LayoutChoice choice{{64, 16}, {{3, 32}, {12, 8}}};
  EXPECT_EQ(print(choice), "64 16; 3:32 12:8");
  EXPECT_EQ(parse_layout_choice(print(choice)), choice);
  EXPECT_EQ(parse_layout_choice(print(LayoutChoice{})), LayoutChoice{});
  for (const char* wrong : {"", "64 16", "64 x; 3:2", "64; 3", "64; 3-2", "64 ;"}) {
    EXPECT_FALSE(parse_layout_choice(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace lathe::test
