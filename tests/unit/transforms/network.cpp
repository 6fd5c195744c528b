// Recipes for whole networks: text, files, and what they make of a graph.
#include "transforms/transform_network.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "compile/executor.h"
#include "models/model.h"
#include "ops/op_graph.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

/// Expects an error that contains a text.
template <class Action>
void expect_error(const std::string& part, Action action) {
  try {
    action();
    ADD_FAILURE() << "no error: " << part;
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

const std::string lines =
    "layer3.*: group(4)\n"
    "layer4.?.conv1: bottleneck(2, deepen) -> group(2)\n"
    "fc: \n";

TEST(NetworkRecipe, PrintsWhatItParses) {
  NetworkRecipe recipe = parse_network_recipe("\n  layer3.* :group(4)\n\n" + lines);
  ASSERT_EQ(recipe.size(), 4u);
  EXPECT_EQ(recipe[0], (LayerRecipe{"layer3.*", {{"group", {4L}}}}));
  EXPECT_EQ(recipe[3], (LayerRecipe{"fc", {}}));
  EXPECT_EQ(print(parse_network_recipe(lines)), lines);
  EXPECT_TRUE(parse_network_recipe("").empty());
}

TEST(NetworkRecipe, SaysHowALineIsWritten) {
  expect_error("write it as 'LAYERS: RECIPE'", [] { parse_network_recipe("group(4)"); });
  expect_error("write it as 'LAYERS: RECIPE'", [] { parse_network_recipe(": group(4)"); });
}

TEST(NetworkRecipe, ReadsTheFileThatItWrote) {
  TemporaryDirectory directory;
  NetworkRecipe recipe = parse_network_recipe(lines);
  write_network_recipe(recipe, directory.file("recipe.json"));
  EXPECT_EQ(read_network_recipe(directory.file("recipe.json")), recipe);
  EXPECT_EQ(network_recipe_from_json(to_json(recipe)), recipe);
  // The recipe of a layer is what it is everywhere else.
  EXPECT_EQ(recipe_from_json(to_json(recipe)["layers"][0]["recipe"]), recipe[0].recipe);
}

TEST(NetworkRecipe, ReadsRecipesAsText) {
  TemporaryDirectory directory;
  std::string path = directory.file(
      "recipe.json", R"json({"layers": [{"match": "layer3.*", "recipe": "group(4)"}]})json");
  EXPECT_EQ(read_network_recipe(path), parse_network_recipe("layer3.*: group(4)"));
}

TEST(NetworkRecipe, SaysWhatIsWrongWithAFile) {
  TemporaryDirectory directory;
  auto read = [&](const std::string& text) {
    return [&, text] { read_network_recipe(directory.file("recipe.json", text)); };
  };
  expect_error("cannot read", [&] { read_network_recipe(directory.file("none.json")); });
  expect_error("is no JSON", read("layer3.*: group(4)"));
  expect_error("no list \"layers\"", read("{}"));
  expect_error("no list \"layers\"", read("[]"));
  expect_error("must have a \"match\" and a \"recipe\"",
               read(R"json({"layers": [{"match": "a"}]})json"));
  expect_error("expected", read(R"json({"layers": [{"match": "a", "recipe": "group(4"}]})json"));
  expect_error("no \"lathe_recipe\"",
               read(R"json({"layers": [{"match": "a", "recipe": {}}]})json"));
  expect_error("version 2 is not known",
               read(R"json({"lathe_network_recipe": 2, "layers": []})json"));
  expect_error("cannot write", [&] { write_network_recipe({}, directory.file("no/where.json")); });
}

TEST(NetworkRecipe, PatternsOfNamesMatchThemAlone) {
  EXPECT_EQ(pattern_of("layer1.0.conv1"), "layer1.0.conv1");
  GraphBuilder g("net");
  ValueId x = g.input("x", {Element::f32, {1, 4, 4, 4}});
  for (const char* name : {"a[1]*", "a1b"}) {
    ValueId w = g.weight(std::string(name) + ".w", {4, 4, 1, 1}, {Initial::Kind::normal, 1});
    x = g.call("conv", {x, w}, {}, name);
  }
  g.output(x);
  Graph graph = transformed(g.build(), {{pattern_of("a[1]*"), parse_recipe("group(2)")}});
  EXPECT_EQ(call_of(graph, graph.nodes[0]).integer("groups"), 2);
  EXPECT_EQ(call_of(graph, graph.nodes[1]).integer("groups"), 1);
}

long groups_of(const Graph& graph, const std::string& node) {
  return call_of(graph, graph.nodes[find_node(graph, node).value()]).integer("groups");
}

TEST(TransformedNetwork, ChangesTheLayersThatMatch) {
  Graph graph = load_model("resnet18-cifar");
  Graph changed =
      transformed(graph, parse_network_recipe("layer3.*.conv?: group(4)\nlayer4.[01].conv1: "
                                              "group(8)"));
  EXPECT_EQ(groups_of(changed, "layer3.0.conv1"), 4);
  EXPECT_EQ(groups_of(changed, "layer3.1.conv2"), 4);
  EXPECT_EQ(groups_of(changed, "layer4.1.conv1"), 8);
  EXPECT_EQ(groups_of(changed, "layer4.1.conv2"), 1);
  EXPECT_EQ(changed.nodes.size(), graph.nodes.size());
}

TEST(TransformedNetwork, RecipesOfOneLayerFollowEachOther) {
  Graph graph = load_model("resnet18-cifar");
  Graph two = transformed(
      graph, parse_network_recipe("layer4*: bottleneck(2, repeat)\nlayer4.*.conv2: group(4)"));
  Graph one = transformed(
      graph, parse_network_recipe("layer4*conv1: bottleneck(2, repeat)\nlayer4*downsample*: "
                                  "bottleneck(2, repeat)\n"
                                  "layer4*conv2: bottleneck(2, repeat) -> group(4)"));
  EXPECT_EQ(structural_hash(two), structural_hash(one));
}

TEST(TransformedNetwork, LeavesTheNetworkAsItIsWhereOnlyTheOrderChanges) {
  Graph graph = load_model("resnet18-cifar");
  EXPECT_EQ(print(transformed(graph, {})), print(graph));
  EXPECT_EQ(print(transformed(graph, parse_network_recipe("layer1*: interchange(co, ci)"))),
            print(graph));
}

TEST(TransformedNetwork, SuitsAnyBatch) {
  GraphBuilder g("net");
  ValueId x = g.input("x", {Element::f32, {3, 4, 5, 5}});
  ValueId w = g.weight("w", {6, 4, 3, 3}, {Initial::Kind::normal, 1});
  ValueId b = g.weight("b", {6}, {Initial::Kind::normal, 1});
  g.output(g.call("conv", {x, w, b}, {}, "layer"));
  Graph changed = transformed(g.build(), parse_network_recipe("layer: group(2)"));
  EXPECT_EQ(groups_of(changed, "layer"), 2);
  EXPECT_EQ(weight_count(changed), 6 * 2 * 9 + 6);
}

TEST(TransformedNetwork, SaysWhichLayerAndWhy) {
  Graph graph = load_model("resnet18-cifar");
  auto apply = [&](const std::string& text) {
    return [&, text] { transformed(graph, parse_network_recipe(text)); };
  };
  expect_error("the nearest name is 'layer4.1.conv2'", apply("layer4.1.konv2: group(2)"));
  expect_error("no convolution or fully connected layer is called 'bn1'", apply("bn1: group(2)"));
  expect_error("layer 'layer1.0.conv1': group(5): 5 does not divide", apply("layer*: group(5)"));
  expect_error("layer 'conv1': group(2)", apply("*: group(2)"));
  expect_error("no step 'grup'", apply("layer1*: grup(2)"));
  expect_error("positions cannot be taken",
               apply("layer1.0.conv1: reorder(oh, co) -> bottleneck(2)"));
  expect_error("let it come first", apply("layer1.0.conv1: group(2) -> bottleneck(2)"));
  expect_error(
      "layer 'layer1.1.conv2' would have 16 filters, and 'layer1.0.conv2', which is coupled "
      "with it, 32",
      apply("layer1.0.conv2: bottleneck(2)\nlayer1.1.conv2: bottleneck(4)"));
  expect_error("the 10 channels of 'fc.weight' reach an input or output",
               apply("fc: bottleneck(2)"));
}

TEST(TransformedNetwork, CoupledLayersLoseTheirFiltersTogether) {
  Graph graph = load_model("resnet18-cifar");
  auto shape = [](const Graph& in, const std::string& name) {
    return in.values[*find_value(in, name)].type.shape;
  };
  // Inside a block: the layer, and what the next one reads; other steps come after.
  Graph inner = transformed(
      graph, parse_network_recipe("layer1.0.conv1: bottleneck(2) -> group(2)\nlayer1.0.conv2: "
                                  "group(4)"));
  EXPECT_EQ(shape(inner, "layer1.0.conv1.weight"), (Shape{32, 32, 3, 3}));
  EXPECT_EQ(shape(inner, "layer1.0.conv2.weight"), (Shape{64, 8, 3, 3}));
  EXPECT_EQ(shape(inner, "layer1.0.bn1.weight"), (Shape{32}));
  // Across residual adds: all that make or read the sum.
  Graph outer = transformed(graph, parse_network_recipe("layer1.0.conv2: bottleneck(4)"));
  EXPECT_EQ(shape(outer, "conv1.weight"), (Shape{16, 3, 3, 3}));
  EXPECT_EQ(shape(outer, "layer1.1.conv2.weight"), (Shape{16, 64, 3, 3}));
  EXPECT_EQ(shape(outer, "layer2.0.downsample.0.weight"), (Shape{128, 16, 1, 1}));
  // Twice is a quarter.
  Graph twice =
      transformed(graph, parse_network_recipe("layer1.0.conv2: bottleneck(2) -> bottleneck(2)"));
  EXPECT_EQ(shape(twice, "conv1.weight"), (Shape{16, 3, 3, 3}));
}

/// Expects that a step that keeps so many filters makes the network that another recipe makes.
void expect_same(const char* model, const std::string& recipe, const std::string& other) {
  SCOPED_TRACE(fmt::format("{}: {}", model, recipe));
  Graph graph = load_model(model);
  Graph a = transformed(graph, parse_network_recipe(recipe)),
        b = transformed(graph, parse_network_recipe(other));
  EXPECT_EQ(structural_hash(a), structural_hash(b));
}

TEST(TransformedNetwork, KeepsAnyNumberOfFilters) {
  // Where it divides, it is a bottleneck: residual adds, groups, depthwise layers, concatenations,
  // flattened channels before a fully connected layer.
  expect_same("resnet18-cifar", "layer1.0.conv2: keep(16)", "layer1.0.conv2: bottleneck(4)");
  expect_same("resnext29_2x64d", "layer1.0.conv1: keep(64)", "layer1.0.conv1: bottleneck(2)");
  expect_same("mobilenet_v2-cifar", "features.3.conv.0.0: keep(48)",
              "features.3.conv.0.0: bottleneck(3)");
  expect_same("densenet121-cifar", "features.denseblock1.denselayer2.conv2: keep(8)",
              "features.denseblock1.denselayer2.conv2: bottleneck(4)");
  expect_same("vgg11", "features.18: keep(256)", "features.18: bottleneck(2)");
  // And where it does not.
  Graph graph = load_model("resnext29_2x64d");
  Graph kept = transformed(
      graph, parse_network_recipe("layer1.0.conv2: fuse(g, co) -> keep(88)\nlayer1.0.conv3: "
                                  "keep(200)\nlayer1.1.conv1: keep(40) -> group(4)"));
  auto shape = [&](const std::string& name) {
    return kept.values[*find_value(kept, name)].type.shape;
  };
  EXPECT_EQ(shape("layer1.0.conv2.weight"), (Shape{88, 64, 3, 3}));
  EXPECT_EQ(shape("layer1.0.conv3.weight"), (Shape{200, 88, 1, 1}));
  EXPECT_EQ(shape("layer1.1.conv1.weight"), (Shape{40, 50, 1, 1}));
  EXPECT_EQ(shape("layer1.1.conv2.weight"), (Shape{128, 20, 3, 3}));
  EXPECT_EQ(shape("layer2.0.downsample.0.weight"), (Shape{512, 200, 1, 1}));
}

TEST(TransformedNetwork, WeightsOfTheSameNameAndShapeAreTheSameNumbers) {
  Graph original = initialised(load_model("resnet18-cifar"), 5);
  const NetworkRecipe recipe = parse_network_recipe(
      "layer1.*.conv?: group(4)\nlayer2.*.conv?: reorder(oh, ci, co) -> group(2)\n"
      "layer3.*.conv?: bottleneck(2, deepen)\nlayer4.0.conv2: split_range(co, 1/2) -> group(2)");
  Graph changed = initialised(transformed(load_model("resnet18-cifar"), recipe), 5);
  Graph again = initialised(transformed(load_model("resnet18-cifar"), recipe), 5);
  size_t same = 0, other = 0;
  for (const Value& value : changed.values) {
    if (!value.data) continue;
    EXPECT_EQ(value.data->reals(),
              again.values[find_value(again, value.name).value()].data->reals())
        << value.name;
    auto old = find_value(original, value.name);
    if (old && original.values[*old].type == value.type) {
      ++same;
      EXPECT_EQ(value.data->reals(), original.values[*old].data->reals()) << value.name;
    } else {
      ++other;
    }
  }
  EXPECT_GT(same, 80u);
  // Four in groups; four halved; four narrowed, each with five more; one in two parts.
  EXPECT_EQ(other, 4u + 4 * 2 + 4 * 6 + 2);
}

TEST(TransformedNetwork, KeepsDataThatAreThere) {
  Graph graph = initialised(load_model("resnet18-cifar"), 1);
  Graph changed = transformed(graph, parse_network_recipe("layer1.0.conv1: bottleneck(2, repeat)"));
  const Value& old = graph.values[find_value(graph, "layer1.0.conv1.weight").value()];
  const Value& now = changed.values[find_value(changed, "layer1.0.conv1.weight").value()];
  std::vector<double> first = old.data->reals();
  first.resize(first.size() / 2);
  EXPECT_EQ(now.data->reals(), first);
}

}  // namespace
}  // namespace lathe::test
