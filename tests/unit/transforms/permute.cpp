// Orders of channels as steps: text, and what they make of networks.
#include "transforms/transform_permute.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "base/error.h"
#include "models/model.h"
#include "support/random_nest.h"
#include "support/run_graph.h"
#include "transforms/transform.h"
#include "transforms/transform_network.h"

namespace lathe::test {
namespace {

TEST(Permute, NamesWhatComesFirst) {
  EXPECT_EQ(print(permute_step({5, 0, 1, 2, 3, 4, 6, 7})), "permute(5)");
  EXPECT_EQ(print(permute_step({7, 6, 5, 4, 0, 1, 2, 3})), "permute(7..4)");
  EXPECT_EQ(print(permute_step({4, 5, 6, 7, 1, 0, 2, 3})), "permute(4..7, 1)");
  EXPECT_EQ(print(permute_step({0, 2, 1})), "permute(0, 2)");
  EXPECT_EQ(print(permute_step({0, 1, 2})), "permute(0)");
  EXPECT_EQ(print(permute_step({0})), "permute(0)");
}

TEST(Permute, StandsForAnOrder) {
  auto order = [](const char* text, long channels) {
    return order_of(parse_recipe(text).at(0), channels);
  };
  EXPECT_EQ(order("permute(5, 0..1)", 6), (Shape{5, 0, 1, 2, 3, 4}));
  EXPECT_EQ(order("permute(3..2, 1..1)", 4), (Shape{3, 2, 1, 0}));
}

TEST(Permute, OfHundredsOfChannelsIsReadBack) {
  std::mt19937 random(1);
  for (int k = 0; k < 50; ++k) {
    Shape order(512);
    std::iota(order.begin(), order.end(), 0L);
    std::shuffle(order.begin(), order.begin() + 10 * (k + 1), random);
    // Those that are kept, in order: what a search for the best channels writes.
    if (k % 2 == 0) std::sort(order.begin(), order.begin() + 5 * (k + 1));
    Recipe recipe = {permute_step(order)};
    EXPECT_EQ(order_of(recipe[0], 512), order);
    EXPECT_EQ(parse_recipe(print(recipe)), recipe);
    EXPECT_EQ(recipe_from_json(to_json(recipe)), recipe);
  }
}

/// Returns the message of the error that the action throws.
template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Permute, SaysWhatIsWrong) {
  auto order = [](const char* text) {
    return error_of([&] { order_of(parse_recipe(text).at(0), 8); });
  };
  EXPECT_EQ(order("permute(8)"), "permute(8): there is no channel 8; they count from 0 to 7");
  EXPECT_EQ(order("permute(2, 0..3)"), "permute(2, 0..3): channel 2 is named twice");
  EXPECT_NE(order("permute(co)").find("expected a channel (5) or a range"), std::string::npos);
  EXPECT_NE(order("permute(1/2)").find("expected a channel (5) or a range"), std::string::npos);
  EXPECT_NE(order("permute()").find("too few arguments"), std::string::npos);
  EXPECT_NE(error_of([] { parse_recipe("permute(1..)"); }).find("the last of a range"),
            std::string::npos);
  EXPECT_NE(error_of([] { parse_recipe("permute(1..x)"); }).find("the last of a range"),
            std::string::npos);
}

const std::string residual =
    "graph small\n"
    "input x: f32[1x3x6x6]\n"
    "weight stem.weight: f32[8x3x3x3] = normal(0.5)\n"
    "weight stem.bias: f32[8] = normal(0.5)\n"
    "weight inside.weight: f32[6x8x3x3] = normal(0.5)\n"
    "weight back.weight: f32[8x6x3x3] = normal(0.5)\n"
    "weight groups.weight: f32[8x4x1x1] = normal(0.5)\n"
    "weight last.weight: f32[2x8x1x1] = normal(0.5)\n"
    "stem = conv(x, stem.weight, stem.bias, pads=[1, 1, 1, 1]): f32[1x8x6x6]\n"
    "inside = conv(stem, inside.weight, pads=[1, 1, 1, 1]): f32[1x6x6x6]\n"
    "active = relu(inside): f32[1x6x6x6]\n"
    "back = conv(active, back.weight, pads=[1, 1, 1, 1]): f32[1x8x6x6]\n"
    "sum = add(stem, back): f32[1x8x6x6]\n"
    "groups = conv(sum, groups.weight, groups=2): f32[1x8x6x6]\n"
    "last = conv(groups, last.weight): f32[1x2x6x6]\n"
    "output last\n";

Graph residual_network() { return initialised(parse_graph(residual), 3); }

Graph changed_by(const Graph& graph, const std::string& recipe) {
  Graph result = transformed(graph, parse_network_recipe(recipe));
  verify_types(result);
  return result;
}

std::vector<double> data_of(const Graph& graph, const char* name) {
  return graph.values[find_value(graph, name).value()].data->reals();
}

/// Returns the numbers of one filter.
std::vector<double> filter(const Graph& graph, const char* name, long number) {
  const Value& value = graph.values[find_value(graph, name).value()];
  std::vector<double> all = value.data->reals();
  long row = value.data->count() / value.type.shape[0];
  return {all.begin() + number * row, all.begin() + (number + 1) * row};
}

TEST(Permute, ReordersAllThatIsCoupled) {
  Graph before = residual_network();
  Graph after = changed_by(before, "back: permute(2, 0, 3, 1, 7..4)");
  for (const char* name : {"stem.weight", "stem.bias", "back.weight"}) {
    EXPECT_EQ(filter(after, name, 0), filter(before, name, 2)) << name;
    EXPECT_EQ(filter(after, name, 4), filter(before, name, 7)) << name;
  }
  EXPECT_NE(data_of(after, "inside.weight"), data_of(before, "inside.weight"));
  EXPECT_NE(data_of(after, "groups.weight"), data_of(before, "groups.weight"));
  EXPECT_EQ(data_of(after, "last.weight"), data_of(before, "last.weight"));
  expect_same_outputs(before, after);
}

TEST(Permute, LetsKeepKeepTheChosenChannels) {
  Graph before = residual_network();
  Graph after = changed_by(before, "inside: permute(5, 1, 4) -> keep(3)");
  long kept = 0;
  for (long channel : {5, 1, 4}) {
    EXPECT_EQ(filter(after, "inside.weight", kept++), filter(before, "inside.weight", channel));
  }
  EXPECT_EQ(after.values[*find_value(after, "back.weight")].type.shape, (Shape{8, 3, 3, 3}));
  // The same as without the others: what they make was 0.
  Graph silent = before;
  Value& weight = silent.values[*find_value(silent, "inside.weight")];
  std::vector<double> numbers = weight.data->reals();
  long row = 8 * 9;
  for (long channel : {0, 2, 3}) std::fill_n(numbers.begin() + channel * row, row, 0.0);
  weight.data = Array::of_reals(Element::f32, weight.type.shape, numbers);
  expect_same_outputs(silent, after);
}

TEST(Permute, OfGroupsKeepsTheFirstOfEachGroup) {
  Graph before = residual_network();
  Graph after = changed_by(before, "stem: permute(3, 1, 0, 2, 6, 4..5, 7) -> keep(4)");
  long kept = 0;
  for (long channel : {3, 1, 6, 4}) {
    EXPECT_EQ(filter(after, "stem.weight", kept++), filter(before, "stem.weight", channel));
  }
}

TEST(Permute, WholeGroupsMoveTogetherWithWhatTheyMake) {
  Graph before = residual_network();
  Graph after = changed_by(before, "stem: permute(4..7)\ngroups: permute(4..7)");
  EXPECT_EQ(filter(after, "groups.weight", 0), filter(before, "groups.weight", 4));
  expect_same_outputs(before, after);
}

TEST(Permute, FollowsAndPrecedesOtherSteps) {
  Graph before = residual_network();
  Graph twice = changed_by(before, "inside: permute(1, 0) -> permute(5, 1)");
  expect_same_outputs(before, twice);
  EXPECT_EQ(filter(twice, "inside.weight", 1), filter(before, "inside.weight", 0));
  Graph both = changed_by(before, "inside: keep(4) -> permute(3) -> group(2)");
  EXPECT_EQ(both.values[*find_value(both, "inside.weight")].type.shape, (Shape{4, 4, 3, 3}));
  // Layers that are coupled may say the same.
  EXPECT_EQ(data_of(changed_by(before, "stem: permute(1)\nback: permute(1)"), "back.weight"),
            data_of(changed_by(before, "stem: permute(1)"), "back.weight"));
}

TEST(Permute, SaysWhyNetworksKeepAnOrder) {
  auto error = [](const std::string& recipe) {
    return error_of([&] { changed_by(residual_network(), recipe); });
  };
  EXPECT_EQ(error("last: permute(1)"),
            "layer 'last': permute: the 2 channels of 'last.weight' stay in their order: output "
            "'last' fixes it");
  EXPECT_EQ(error("stem: permute(4)"),
            "layer 'stem': permute: 'groups' never brings together channel 4 of 'sum' with channel "
            "0 of 'groups', as this order needs; where groups read channels, these stay in their "
            "group, or whole groups move, together with the channels that they make");
  EXPECT_EQ(error("stem: permute(1)\nback: permute(2)"),
            "layer 'back' would have its channels in another order than 'stem', which is coupled "
            "with it");
  EXPECT_EQ(error("inside: group(2) -> permute(1)"),
            "layer 'inside': permute(1): channels are reordered before other steps change the "
            "layer; let it come first");
  EXPECT_EQ(error("inside: permute(6)"),
            "layer 'inside': permute(6): there is no channel 6; they count from 0 to 5");
}

TEST(Permute, LeavesWeightsThatWillBeDrawn) {
  Graph graph = parse_graph(residual);
  EXPECT_EQ(print(changed_by(graph, "inside: permute(5)")), print(graph));
}

TEST(Permute, AppliesToNoNest) {
  Context context;
  Nest nest = load(context, "conv(co=4, ci=4, oh=4, ow=4, k=1)");
  EXPECT_NE(error_of([&] { apply(nest, parse_recipe("permute(1)")[0]); }).find("of a network"),
            std::string::npos);
}

}  // namespace
}  // namespace lathe::test
