// layer_variants.cpp: variants that lose channels together with others. Interface:
// layer_variants.h; the others are composed in variant_composer.cpp.
#include "search/layer_variants.h"

#include "base/error.h"
#include "nest/footprint.h"
#include "transforms/transform_network.h"

namespace lathe {
namespace {

/// A nest and the steps that made it.
struct Made {
  Nest nest;
  Recipe recipe;
};

Made after(const Made& made, const Step& step) {
  Made next{apply(made.nest, step).nest, made.recipe};
  next.recipe.push_back(step);
  return next;
}

/// Returns steps after which a layer reads one in so many channels.
Recipe reading_less(long factor) {
  if (factor == 1) return {};
  Step swap{"interchange", {"co", "ci"}};
  return {swap, {"bottleneck", {factor}}, swap};
}

/// Returns the layer with one in so many of its filters and inputs, then in groups.
LayerVariant coupled_variant(const Nest& nest, Coupling coupling, long groups) {
  LayerVariant variant;
  variant.recipe = reading_less(coupling.inputs);
  if (coupling.filters > 1) {
    // Alone, other filters stand for those that are gone: what reads them gets as much from each.
    variant.recipe.push_back({"bottleneck", {coupling.filters, "repeat"}});
    coupling.recipe.push_back({"bottleneck", {coupling.filters}});
  }
  if (groups > 1) {
    variant.recipe.push_back({"group", {groups}});
    coupling.recipe.push_back({"group", {groups}});
  }
  Made made{samples_inward(nest), {}};
  for (const Step& step : variant.recipe) made = after(made, step);
  Cost c = cost(made.nest);
  variant.macs = c.macs;
  variant.weights = c.weights;
  std::vector<std::string> words;
  if (coupling.filters > 1) words.push_back(fmt::format("1/{} of the filters", coupling.filters));
  if (coupling.inputs > 1) words.push_back(fmt::format("reads 1/{}", coupling.inputs));
  if (groups > 1) words.push_back(fmt::format("grouped x{}", groups));
  variant.meaning = fmt::format("{}", fmt::join(words, ", "));
  variant.coupling = std::move(coupling);
  variant.family = Family::narrow;
  return variant;
}

}  // namespace

std::string label_of(const LayerVariant& variant) {
  Recipe recipe = reading_less(variant.coupling ? variant.coupling->inputs : 1);
  recipe.insert(recipe.end(), variant.said().begin(), variant.said().end());
  return print(recipe);
}

std::vector<LayerVariant> coupled_variants_of(const Call& layer, bool filters, bool inputs) {
  constexpr long half = 2;
  constexpr long group_counts[] = {1, 2, 4};  // few, as all coupled variants are measured
  std::vector<Coupling> couplings;
  if (filters) couplings.push_back({half, 1, {}});
  if (inputs) couplings.push_back({1, half, {}});
  if (filters && inputs) couplings.push_back({half, half, {}});
  Context context;
  Nest nest = nest_of(context, layer);
  std::vector<LayerVariant> variants;
  for (const Coupling& coupling : couplings) {
    for (long groups : group_counts) {
      try {
        variants.push_back(coupled_variant(nest, coupling, groups));
      } catch (const UserError&) {
        // It does not divide.
      }
    }
  }
  return variants;
}

}  // namespace lathe
