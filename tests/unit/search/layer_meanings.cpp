// What every layer's space must hold, where sizes divide: each meaning by a recipe written here, on
// layers of 3x3, strided 3x3, 1x1, 5x5 and 7x7. And nothing is lost by not trying everything.
#include <gtest/gtest.h>

#include <set>

#include "legality/legality.h"
#include "nest/canonical.h"
#include "nest/dependence.h"
#include "nest/footprint.h"
#include "program/lift.h"
#include "search/layer_variants.h"
#include "transforms/transform_network.h"

namespace lathe::test {
namespace {

/// A layer, and the canonical forms of all its variants.
class VariantForms {
 public:
  explicit VariantForms(const std::string& text) : layer_(parse_call(text)) {
    nest_ = samples_inward(nest_of(context_, layer_));
    variants_ = variants_of(layer_);
    for (const LayerVariant& variant : variants_) {
      forms_.insert(canonical(replay(nest_, variant.recipe)));
    }
  }

  const std::vector<LayerVariant>& variants() const { return variants_; }
  size_t forms() const { return forms_.size(); }
  const Nest& nest() const { return nest_; }
  bool has(const Nest& nest) const { return forms_.contains(canonical(nest)); }

  void expect(const std::string& recipe) const {
    SCOPED_TRACE(recipe);
    EXPECT_TRUE(has(replay(nest_, parse_recipe(recipe))));
  }

  /// Expects a recipe with each of these numbers in place of "N".
  void expect(const std::string& recipe, std::initializer_list<long> numbers) const {
    for (long n : numbers) {
      std::string text = recipe;
      for (size_t at; (at = text.find('N')) != std::string::npos;) {
        text.replace(at, 1, std::to_string(n));
      }
      expect(text);
    }
  }

 private:
  Context context_;
  Call layer_;
  Nest nest_;
  std::vector<LayerVariant> variants_;
  std::set<std::string> forms_;
};

void expect_groups(const VariantForms& layer) {
  layer.expect("group(N)", {2, 4, 8, 16, 32});
  // Group g reads channels g, g + N, ... ; or some of each block of neighbours.
  layer.expect("split(ci, N) -> interchange(ci.o, ci.i) -> group(N)", {2, 4, 8, 16});
  layer.expect("split(ci, 16) -> interchange(ci.o, ci.i) -> group(2)");
  layer.expect("split(ci, 8) -> interchange(ci.o, ci.i) -> group(4)");
}

void expect_other_pairs(const VariantForms& layer) {
  long half = layer.nest().order[0].loops[2].extent / 2;
  layer.expect(
      "split(oh, N) -> interchange(co, oh.o) -> group(2) -> interchange(ci, oh.i) -> "
      "fuse(g, oh.i, oh)",
      {half});
  layer.expect("interchange(co, oh) -> group(N)", {2, 4});
  layer.expect("interchange(co, ow) -> group(N)", {2, 4});
  layer.expect("split(oh, 2) -> interchange(co, oh.i) -> group(2)");
  layer.expect("split(ci, N) -> interchange(co, oh) -> interchange(ci.o, ci.i) -> group(N)",
               {2, 4});
  layer.expect("split(co, N) -> interchange(co.o, co.i) -> interchange(co.o, ci) -> group(N)",
               {2, 4, 8});
}

void expect_bottlenecks(const VariantForms& layer) {
  layer.expect("interchange(co, ci) -> bottleneck(N)", {2, 4, 8, 16});
  layer.expect("split(ci, N) -> interchange(co, ci.i) -> bottleneck(N)", {2, 4, 8, 16});
  layer.expect("bottleneck(N, repeat)", {2, 4, 8, 16});
  layer.expect("bottleneck(N, expand)", {4, 8, 16});
  layer.expect("bottleneck(N, deepen)", {4, 8, 16});
  layer.expect("interchange(co, oh) -> bottleneck(2, repeat)");
  layer.expect("interchange(co, ow) -> bottleneck(2, repeat)");
  layer.expect(
      "interchange(co, oh) -> bottleneck(2, repeat) -> interchange(conv:oh, conv:ow) -> "
      "bottleneck(2, repeat)");
}

void expect_combinations(const VariantForms& layer) {
  layer.expect("bottleneck(4, expand) -> group(N)", {2, 4});
  layer.expect("bottleneck(4, deepen) -> group(N)", {2, 4});
  layer.expect("bottleneck(2, repeat) -> group(N)", {2, 4, 8});
  layer.expect("bottleneck(2, repeat) -> split(ci, N) -> interchange(ci.o, ci.i) -> group(N)",
               {2, 4, 8});
  layer.expect("interchange(co, ci) -> bottleneck(2) -> interchange(ci, co) -> group(N)",
               {2, 4, 8});
  layer.expect("group(4) -> interchange(g, ci) -> bottleneck(2)");
  layer.expect("group(2) -> interchange(g, oh) -> bottleneck(2, repeat)");
}

void expect_parts(const VariantForms& layer) {
  layer.expect("unroll(co, 16) -> group(N)", {2, 4, 8});
  layer.expect("split_range(co, 1/2) -> group(N)", {2, 4, 8});
  layer.expect("split_range(co, 1/4) -> interchange(co.0, co.1) -> group(N)", {2, 4});
  layer.expect("split_range(co, 1/2) -> group(2) -> interchange(co.0, co.1) -> group(N)", {4, 8});
  layer.expect("split_range(co, 1/2) -> group(4) -> interchange(co.0, co.1) -> group(2)");
  layer.expect(
      "split_range(co, 1/2) -> split(conv.0:ci, 2) -> interchange(ci.o, ci.i) -> group(2) -> "
      "interchange(co.0, co.1) -> split(conv.1:ci, 4) -> interchange(conv.1:ci.o, conv.1:ci.i) -> "
      "group(4)");
  layer.expect("split_range(co, 1/2) -> interchange(co.0, conv.0:ci) -> bottleneck(N)", {2, 4});
}

void expect_all(const VariantForms& layer) {
  expect_groups(layer);
  expect_other_pairs(layer);
  expect_bottlenecks(layer);
  expect_combinations(layer);
  expect_parts(layer);
}

/// Expects what has a 1x1 convolution behind, and computes less only where the window is larger.
void expect_mixing(const VariantForms& layer) {
  layer.expect("group(N, expand)", {2, 4, 8, 16});
  layer.expect("group(N, deepen)", {2, 4, 8, 16});
  layer.expect("split(ci, N) -> interchange(ci.o, ci.i) -> group(N, expand)", {2, 4, 8, 16});
  layer.expect("split(ci, N) -> interchange(ci.o, ci.i) -> group(N, deepen)", {2, 4, 8, 16});
  layer.expect("bottleneck(2, expand)");
  layer.expect("bottleneck(2, deepen)");
}

/// Expects that all variants differ and compute less.
void expect_less(const VariantForms& layer) {
  const std::vector<LayerVariant>& all = layer.variants();
  EXPECT_EQ(layer.forms(), all.size()) << "two variants mean the same";
  EXPECT_TRUE(all.front().recipe.empty());
  EXPECT_EQ(all.front().family, Family::same);
  for (size_t v = 1; v < all.size(); ++v) {
    EXPECT_LT(all[v].macs, all[0].macs) << print(all[v].recipe);
    EXPECT_NE(all[v].family, Family::same) << print(all[v].recipe);
    EXPECT_NE(all[v].family, Family::other) << print(all[v].recipe);
  }
}

TEST(LayerMeanings, OfALayerOf3x3) {
  VariantForms layer("conv(f32[1x32x8x8], f32[32x32x3x3], pads=[1, 1, 1, 1])");
  expect_all(layer);
  expect_mixing(layer);
  layer.expect("group(32, expand)");
  layer.expect("group(32, deepen)");
  expect_less(layer);
}

TEST(LayerMeanings, OfAStridedLayerOf3x3) {
  VariantForms layer("conv(f32[1x32x8x8], f32[64x32x3x3], pads=[1, 1, 1, 1], strides=[2, 2])");
  expect_all(layer);
  expect_mixing(layer);
  layer.expect("bottleneck(2, expand) -> group(32)");
  layer.expect("bottleneck(2, deepen) -> group(32)");
  expect_less(layer);
}

TEST(LayerMeanings, OfALayerOf1x1) {
  VariantForms layer("conv(f32[1x32x8x8], f32[32x32x1x1])");
  expect_all(layer);
  expect_less(layer);
}

TEST(LayerMeanings, OfALayerOf5x5) {
  VariantForms layer("conv(f32[1x32x8x8], f32[32x32x5x5], pads=[2, 2, 2, 2])");
  expect_all(layer);
  expect_mixing(layer);
  expect_less(layer);
}

TEST(LayerMeanings, OfALayerOf7x7) {
  VariantForms layer("conv(f32[1x32x8x8], f32[32x32x7x7], pads=[3, 3, 3, 3])");
  expect_all(layer);
  expect_mixing(layer);
  expect_less(layer);
}

TEST(LayerMeanings, AThirdNeuralStepIsAnOption) {
  Call layer = parse_call("conv(f32[1x4x4x4], f32[4x4x3x3], pads=[1, 1, 1, 1])");
  Context context;
  Nest nest = samples_inward(nest_of(context, layer));
  std::string wanted =
      canonical(replay(nest, parse_recipe("interchange(co, ci) -> bottleneck(2) -> interchange(ci, "
                                          "co) -> group(2) -> interchange(g, oh) -> "
                                          "bottleneck(2, repeat)")));
  for (size_t neural : {2, 3}) {
    bool found = false;
    for (const LayerVariant& variant : variants_of(layer, {.neural = neural})) {
      found = found || canonical(replay(nest, variant.recipe)) == wanted;
    }
    EXPECT_EQ(found, neural == 3);
  }
}

/// Tries all program steps, blindly, and then all neural steps.
class BlindSearch {
 public:
  explicit BlindSearch(const VariantForms& layer) : layer_(layer) {
    macs_ = cost(layer.nest()).macs;
    shapes_ = output_shapes(layer.nest());
    walk(layer.nest(), 3);
  }

  size_t meanings() const { return meanings_.size(); }

 private:
  const VariantForms& layer_;
  long macs_;
  std::vector<Shape> shapes_;
  std::set<std::string> seen_, meanings_;
  Recipe recipe_;

  void walk(const Nest& nest, int steps) {
    std::string key = std::to_string(steps);
    for (const Loop& loop : nest.order[0].loops) key += " " + loop.name;
    if (!seen_.insert(key).second) return;
    for (const char* name : {"group", "bottleneck"}) {
      for (const Step& step : find_transform(name).candidates(nest)) check(nest, step);
    }
    if (steps == 0) return;
    for (const char* name : {"interchange", "split", "fuse"}) {
      for (const Step& step : find_transform(name).candidates(nest)) {
        if (judge_order(apply(nest, step).nest).violation) continue;
        recipe_.push_back(step);
        walk(apply(nest, step).nest, steps - 1);
        recipe_.pop_back();
      }
    }
  }

  void check(const Nest& before, const Step& step) {
    bool fills = step.name == "group" && step.args.back() == Arg("repeat");
    if (fills) return;  // such groups are made of whole loops only
    // More slices of fused loops than the outer one has iterations are several moves, or no box.
    // What is filled in along a loop that is written in part is filled in several times.
    const std::string& outer = before.order[0].loops[0].name;
    bool is_fused = outer.find('_') != std::string::npos;
    bool in_part = outer.find("ci") != std::string::npos && step.args.back() == Arg("repeat");
    if (is_fused && (in_part || std::get<long>(step.args[0]) > 2)) return;
    Nest nest = apply(before, step).nest;
    if (output_shapes(nest) != shapes_ || cost(nest).macs >= macs_) return;
    if (!meanings_.insert(canonical(nest)).second) return;
    bool linear = true;
    for (const Statement& s : nest.statements()) {
      linear = linear && poly::is_box_from_zero(s.domain);
      for (const Access& access : s.reads) linear = linear && is_linear(access.at);
    }
    if (!linear) return;  // it has no form in standard operators
    EXPECT_TRUE(layer_.has(nest)) << print(recipe_) << " -> " << print(step);
  }

  static bool is_linear(const isl::multi_aff& at) {
    auto parts = poly::parts(at);
    return std::all_of(parts.begin(), parts.end(),
                       [](const isl::aff& a) { return poly::take_apart(a).is_linear(); });
  }
};

TEST(LayerMeanings, NothingIsLostByNotTryingAll) {
  VariantForms layer("conv(f32[1x4x4x1], f32[4x4x1x1])");
  BlindSearch blind(layer);
  EXPECT_GT(blind.meanings(), 30U);
}

}  // namespace
}  // namespace lathe::test
