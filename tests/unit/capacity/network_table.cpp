// Tables of trained networks, with and without scores.
#include "capacity/network_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "models/model.h"
#include "ops/op_graph.h"
#include "support/repository.h"
#include "support/shared_data.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

/// A network with two 3x3 convolutions, except the one that reads the image.
Graph two_layers() {
  GraphBuilder builder("two");
  ValueId x = builder.input("x", {Element::f32, {1, 3, 8, 8}});
  for (int i = 0; i < 3; ++i) {
    Shape shape{8, i == 0 ? 3 : 8, 3, 3};
    ValueId w = builder.weight("w" + std::to_string(i), shape, he_fan_out(shape));
    x = builder.call("conv", {x, w}, {{"pads", Shape{1, 1, 1, 1}}}, "conv" + std::to_string(i));
  }
  builder.output(x);
  return builder.build();
}

NetworkTable read(const std::string& text, const char* name = "t.csv") {
  TemporaryDirectory directory;
  return read_network_table(directory.file(name, text), "two", two_layers());
}

const std::string header = "name,top1,parameters,conv0,conv1\n";
const std::string original = "own,91,90,dense,dense\n";

TEST(NetworkTable, HasKindsOfLayers) {
  NetworkTable table = read(header + original + "one,90.5,100,dense,group-2\r\n\ntwo,88,90,dw,dw");
  ASSERT_EQ(table.networks.size(), 3u);
  EXPECT_EQ(table.name, "t");
  EXPECT_EQ(table.original().name, "own");
  EXPECT_EQ(table.networks[1].name, "one");
  EXPECT_EQ(table.networks[1].accuracy(), 90.5);
  EXPECT_EQ(table.networks[1].parameters, 100);
  EXPECT_EQ(print(table.networks[1].recipe), "conv2: group(2)\n");
  EXPECT_EQ(table.networks[2].recipe.size(), 2u);
}

TEST(NetworkTable, HasRecipesAndNetworksThatWereTrainedAgain) {
  NetworkTable table = read(
      "# what others measured\n# dataset: cifar10\n# epochs: 12\n# training: from scratch\n"
      "name,seed,top1,recipe\nown,0,91,\nown,1,90,\n"
      "half,0,89,\"conv1: split(ci, 2) -> interchange(ci.o, ci.i) -> group(2); conv2: group(2)\"\n"
      "quarter,0,88,\"conv1: group(4)\nconv2: group(4)\"\n");
  EXPECT_EQ(table.original().top1, (std::vector<double>{91, 90}));
  EXPECT_EQ(table.original().accuracy(), 90.5);
  EXPECT_EQ(table.networks[1].recipe.size(), 2u);
  EXPECT_EQ(print(table.networks[2].recipe), "conv1: group(4)\nconv2: group(4)\n");
  EXPECT_EQ(print(table.origin), "two on cifar10, 12 epochs, from scratch");
}

TEST(NetworkTable, SaysWhatIsWrongAndWhere) {
  auto expect_error = [&](const std::string& text, const std::string& part) {
    try {
      read(text);
      ADD_FAILURE() << "no error: " << part;
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  expect_error("", "has no networks");
  expect_error(header, "has no networks");
  expect_error("one,90.5,100,dense\n" + original, "line 1: the columns must be name and top1");
  expect_error(header + "one,90.5,100,dense\n", "line 2: there are 4 fields instead of 5");
  expect_error(header + "one,high,100,dense,dw\n", "line 2: top1 is 'high'");
  expect_error(header + "one,90,1e3,dense,dw\n", "line 2: parameters is '1e3'");
  expect_error(header + original + "two,90,10,dense,wd\n", "line 3: no kind 'wd'");
  expect_error("name,top1,conv0\none,90,dense\n",
               "line 2: there are 1 layers, but 'two' has 2 that");
  expect_error(header + "one,90,10,dense,dw\n", "has no network that is as the original");
  expect_error("name,top1,recipe\none,90,\"conv1: gr", "line 2: a quote is not closed");
  expect_error("name,top1,recipe\none,90,\none,90,conv1: group(2)\n", "is made in two ways");
  expect_error("# epochs: many\nname,top1,recipe\none,90,\n", "is no number of epochs");
  TemporaryDirectory directory;
  EXPECT_THROW(read_network_table(directory.file("none.csv"), "two", two_layers()), UserError);
}

/// Returns a score whose layers add up to the total.
Score score_of(double first, double second) {
  return {first + second, {{"conv1", first}, {"conv2", second}}};
}

TEST(NetworkTable, KeepsScores) {
  NetworkTable table = read(header + original + "one,90.5,100,dense,group-2\n");
  table.origin.dataset = "cifar10";
  table.scored_on = "8 samples";
  table.networks[0].scores = {{"fisher", {score_of(1, 2), score_of(1.0 / 3, 4)}},
                              {"jacob_cov", {{-1.5}, {-2.5}}}};
  // A layer became two; they count together.
  Score parts{5.25, {{"conv1", 1}, {"conv2", 4}, {"conv2.expand", 0.25}}};
  table.networks[1].scores = {{"fisher", {parts, parts}}, {"jacob_cov", {{-1}, {-2}}}};
  std::string text = print_scored(table);
  NetworkTable again = read(text, "t.json");
  EXPECT_EQ(print_scored(again), text);
  EXPECT_EQ(again.origin, table.origin);
  EXPECT_EQ(again.networks[0].scores[0].of_seeds[1].layers[0].score, 0.333333);
  EXPECT_EQ(again.networks[1].scores[0].of_seeds[1].layers[1].score, 4.25);
  EXPECT_TRUE(again.networks[1].scores[1].of_seeds[1].layers.empty());
  std::vector<Metric> metrics{find_metric("fisher"), find_metric("jacob_cov")};
  std::vector<Trained> trained = trained_in(again, metrics);
  ASSERT_EQ(trained.size(), 1u);
  EXPECT_DOUBLE_EQ(trained[0].change, -0.5);
  EXPECT_NEAR(trained[0].comparisons[0].log_ratios[0], std::log(5.25 / 3), 1e-5);
  EXPECT_EQ(trained[0].comparisons[1].differences, (std::vector<double>{0.5, 0.5}));
  EXPECT_THROW(trained_in(again, {find_metric("macs")}), UserError);
  // It is of another network, of another version, or no table at all.
  nlohmann::json json = nlohmann::json::parse(text);
  json["origin"]["structure"] = "another";
  EXPECT_THROW(read(json.dump(), "t.json"), UserError);
  EXPECT_THROW(read("{\"lathe_networks\": 9}", "t.json"), UserError);
  EXPECT_THROW(read("{\"lathe_networks\": 1}", "t.json"), UserError);
  EXPECT_THROW(read("name,top1", "t.json"), UserError);
}

TEST(NetworkTable, CountsTheParametersOfNetworksThatOthersTrained) {
  std::string path = shared_data("transformed34/networks.csv");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "there is no " << path;
  Graph graph = load_model("resnet34-cifar");
  NetworkTable table = read_network_table(path, "resnet34-cifar", graph);
  EXPECT_EQ(table.networks.size(), 37u);
  for (const TrainedNetwork& network : table.networks) {
    EXPECT_EQ(weight_count(transformed(graph, network.recipe)), network.parameters) << network.name;
  }
}

TEST(NetworkTable, TheExampleIsOne) {
  Graph graph = load_model("resnet34-cifar");
  NetworkTable table =
      read_network_table(repository_file("examples/networks.csv"), "resnet34-cifar", graph);
  EXPECT_GE(table.networks.size(), 3u);
  EXPECT_EQ(table.origin.dataset, "cifar10");
  for (const TrainedNetwork& network : table.networks) transformed(graph, network.recipe);
}

}  // namespace
}  // namespace lathe::test
