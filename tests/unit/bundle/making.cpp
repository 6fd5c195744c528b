// Bundles that are made again: the same bytes, also where nothing is tuned.
#include "bundle/making.h"

#include <gtest/gtest.h>

#include "compile/tuned.h"
#include "onnx/onnx.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

Graph small_network() {
  Graph graph = parse_graph(R"(graph small
input x: f32[1x8x6x6]
weight w: f32[16x8x3x3] = normal(0.1)
c = conv(x, w, pads=[1, 1, 1, 1]): f32[1x16x6x6]
r = relu(c): f32[1x16x6x6]
weight v: f32[16x16x3x3] = normal(0.1)
d = conv(r, v, pads=[1, 1, 1, 1]): f32[1x16x6x6]
output d
)");
  return graph;
}

bool is_convolution(const std::string& unit) { return unit.find("conv(") != std::string::npos; }

/// Choices for the convolutions, as tuning has them.
CompileOptions tuned_options() {
  CompileOptions options;
  options.target = native_target();
  options.choose = [](const std::string& key) -> std::optional<Choice> {
    if (!is_convolution(key)) return std::nullopt;
    return Choice{"contraction", {}};
  };
  return options;
}

Making making_of_small() {
  Making making{{"small.graph", "0123"}};
  making.seed = 7;
  making.about = {{"network", "small"}, {"ms", 1.5}};
  return making;
}

const NetworkRecipe recipe = parse_network_recipe("d: group(2)");

TEST(Making, SameBytesAgain) {
  TemporaryDirectory folder;
  make_bundle(small_network(), recipe, making_of_small(), tuned_options(), folder.file("a"));
  Remade again = read_making(folder.file("a/winner.recipe"));
  EXPECT_EQ(again.recipe, recipe);
  make_bundle(small_network(), again.recipe, again.making, options_of(again.making),
              folder.file("b"));
  std::vector<std::string> names{"bundle.json"};
  const nlohmann::json bundle = read_bundle(folder.file("a"));
  for (const auto& [name, hash] : bundle["files"].items()) names.push_back(name);
  EXPECT_GE(names.size(), 10u);
  for (const std::string& name : names) {
    EXPECT_EQ(content_of(folder.file("a/" + name)), content_of(folder.file("b/" + name))) << name;
  }
  EXPECT_TRUE(changes_in(folder.file("b"), bundle_files(folder.file("b"))).empty());
}

TEST(Making, WhatUsersChangedIsNotReplaced) {
  TemporaryDirectory folder;
  auto make = [&] {
    make_bundle(small_network(), recipe, making_of_small(), {.target = native_target()},
                folder.file("a"));
  };
  make();
  folder.file("a/notes.txt", "mine");
  folder.file("a/library/notes.txt", "mine, too");
  make();
  EXPECT_EQ(content_of(folder.file("a/notes.txt")), "mine");
  EXPECT_EQ(content_of(folder.file("a/library/notes.txt")), "mine, too");
  folder.file("a/model.npz", "trained");
  expect_failure(make, {folder.file("a"), "'model.npz'", "was changed after Lathe wrote it"});
  expect_failure([&] { check_bundle_folder(folder.file("a")); }, {"'model.npz'"});
  EXPECT_EQ(content_of(folder.file("a/model.npz")), "trained");
  std::filesystem::remove(folder.file("a/model.npz"));
  make();
  EXPECT_TRUE(changes_in(folder.file("a"), bundle_files(folder.file("a"))).empty());
}

TEST(Making, OnlyBundlesAreReplaced) {
  TemporaryDirectory folder;
  std::filesystem::create_directories(folder.file("mine/library"));
  folder.file("mine/model.onnx", "mine");
  folder.file("mine/library/notes.txt", "mine");
  expect_failure(
      [&] {
        make_bundle(small_network(), recipe, making_of_small(), {.target = native_target()},
                    folder.file("mine"));
      },
      {"is not replaced", "it is no bundle: it has no bundle.json"});
  EXPECT_EQ(content_of(folder.file("mine/model.onnx")), "mine");
  EXPECT_EQ(content_of(folder.file("mine/library/notes.txt")), "mine");
  EXPECT_FALSE(std::filesystem::exists(folder.file("mine/bundle.json")));
}

TEST(Making, ChangedFilesAreNamed) {
  TemporaryDirectory folder;
  make_bundle(small_network(), recipe, making_of_small(), {.target = native_target()},
              folder.file("a"));
  folder.file("a/model.py", "pass");
  std::filesystem::remove(folder.file("a/library/model.h"));
  std::vector<FileChange> changes = changes_in(folder.file("a"), bundle_files(folder.file("a")));
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].name, "library/model.h");
  EXPECT_EQ(changes[0].kind, FileChange::Kind::missing);
  EXPECT_EQ(changes[1].name, "model.py");
  EXPECT_EQ(changes[1].kind, FileChange::Kind::changed);
}

TEST(Making, KnowsWhatWasChosen) {
  TemporaryDirectory folder;
  make_bundle(small_network(), recipe, making_of_small(), tuned_options(), folder.file("a"));
  Making making = read_making(folder.file("a/winner.recipe")).making;
  EXPECT_EQ(making.origin.network, "small.graph");
  EXPECT_EQ(making.origin.file, "0123");
  EXPECT_EQ(making.seed, 7u);
  EXPECT_EQ(making.graph, structural_hash(small_network()));
  EXPECT_EQ(making.about["ms"], 1.5);
  EXPECT_EQ(making.machine, tuned_target(native_target()));
  size_t chosen = 0;
  for (const auto& [unit, choice] : making.choices.schedules) {
    EXPECT_EQ(choice.has_value(), is_convolution(unit)) << unit;
    chosen += choice ? 1 : 0;
  }
  EXPECT_EQ(chosen, 2u);
  EXPECT_EQ(making.choices.layouts.size(), 1u);
}

TEST(Making, ARecipeAloneIsNotEnough) {
  TemporaryDirectory folder;
  write_network_recipe(recipe, folder.file("plain.recipe"));
  expect_failure([&] { read_making(folder.file("plain.recipe")); }, {"no \"made\"", "--apply"});
  folder.file("odd.recipe", R"({"layers": [], "made": {"network": {"name": "x"}, "graph": "z"}})");
  expect_failure([&] { read_making(folder.file("odd.recipe")); },
                 {"odd.recipe", "not what Lathe writes"});
}

TEST(Making, RecipesWithItAreRecipes) {
  TemporaryDirectory folder;
  make_bundle(small_network(), recipe, making_of_small(), {.target = native_target()},
              folder.file("a"));
  EXPECT_EQ(read_network_recipe(folder.file("a/winner.recipe")), recipe);
}

TEST(Making, KnowsTheUnitsOfTheNetworkItBecame) {
  TemporaryDirectory folder;
  Graph network = load_model("resnet20-cifar", {.size = 8});
  NetworkRecipe changed =
      parse_network_recipe("layer1.*: group(2)\nlayer2.0.conv2: bottleneck(2, repeat)");
  make_bundle(network, changed, making_of_small(), {.target = native_target()}, folder.file("a"));
  Making making = read_making(folder.file("a/winner.recipe")).making;
  Graph trained = import_onnx(folder.file("a/model.onnx"));
  EXPECT_NE(structure_of(trained), making.structure);
  EXPECT_EQ(structure_of(initialised(network, 5)), making.structure);
  ChoiceRecord record;
  compile(trained, record.noting(with_choices({.target = native_target()}, making.choices)));
  EXPECT_EQ(record.choices(), making.choices);
}

TEST(Making, ComesBackFromJson) {
  Making making = making_of_small();
  making.origin.shapes = {"x=1x8x6x6"};
  making.origin.applied = {parse_network_recipe("c: group(2)"),
                           parse_network_recipe("d: group(4)")};
  making.origin.model = {2, 10, std::nullopt};
  making.target = target_named("x86-64-v3");
  making.target.workers = 2;
  making.max_error = 0.25;
  making.choices.layouts["n"] = parse_layout_choice("16 8; 3:8");
  making.choices.schedules["u"] = Choice{"window", {{"block", 16}}};
  making.choices.schedules["v"] = std::nullopt;
  Making back = making_from_json(to_json(making));
  EXPECT_EQ(to_json(back), to_json(making));
  EXPECT_EQ(back.choices, making.choices);
  EXPECT_EQ(back.target.workers, 2);
}

TEST(Making, ComesBackWithTheExtrasOfItsTarget) {
  Making making = making_of_small();
  making.target = target_named("x86-64-v4+f16+dot");
  Making back = making_from_json(to_json(making));
  EXPECT_EQ(full_name(back.target), "x86-64-v4+f16+dot");
  EXPECT_EQ(back.target.name, "x86-64-v4");
  EXPECT_EQ(back.target.architecture, Architecture::x86_64);
}

}  // namespace
}  // namespace lathe::test
