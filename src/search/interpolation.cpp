// interpolation.cpp: networks between two networks. Interface: interpolation.h.
#include "search/interpolation.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "nest/dependence.h"
#include "program/layers.h"
#include "transforms/transform.h"

namespace lathe {
namespace {

const std::string filters = "co";

/// Layers are cut at multiples of so many filters, and of an eighth of theirs: what is no multiple
/// of vectors in each slice is slow.
constexpr long least_filters = 16, parts = 8;

/// Returns a recipe for one part of the filters: their loop has another name there.
Recipe for_part(const Recipe& recipe, const std::string& loop) {
  Recipe result = recipe;
  for (Step& step : result) {
    for (Arg& arg : step.args) {
      if (arg == Arg(filters)) arg = loop;
    }
  }
  return result;
}

/// Does a recipe apply to a layer, and change what it computes?
bool applies(const Nest& layer, const Recipe& recipe) {
  try {
    Nest nest = layer;
    for (const Step& step : recipe) {
      nest = apply(nest, step).nest;
      bool moves = find_transform(step.name).kind == Transform::Kind::program;
      if (moves && judge_order(nest).violation) return false;
    }
    return true;
  } catch (const UserError&) {
    return false;
  }
}

/// What a kind of layer becomes at each cut: filters that the first recipe has, and the recipe.
using Cuts = std::vector<std::pair<double, Recipe>>;

struct Site {
  std::string layer;
  const Cuts* cuts;
};

class Interpolation {
 public:
  Interpolation(const Graph& network, const Recipe& first, const Recipe& second,
                const InterpolationOptions& options)
      : first_(first), second_(second) {
    for (const Recipe* recipe : {&first, &second}) {
      for (const Step& step : *recipe) find_transform(step.name);  // an unknown one is an error
    }
    LayerChoice choice{.include = options.layers, .pointwise = true};
    for (size_t n : changeable_layers(network, choice)) {
      const Node& node = network.nodes[n];
      const Cuts& of_kind = cuts_of(call_of(network, node));
      if (!of_kind.empty()) sites_.push_back({node.name, &of_kind});
    }
    if (sites_.empty()) {
      fail("'{}' has no convolution that is called '{}' and to which both recipes apply",
           network.name, options.layers);
    }
  }

  /// Every layer has this part of its filters by the second recipe, or nearly so.
  NetworkRecipe by_filters(double part) const {
    NetworkRecipe recipe;
    for (const Site& site : sites_) {
      auto nearest =
          std::min_element(site.cuts->begin(), site.cuts->end(), [&](const auto& a, const auto& b) {
            return std::abs(a.first - part) < std::abs(b.first - part);
          });
      add(recipe, site, nearest->second);
    }
    return recipe;
  }

  /// This part of the layers is by the second recipe: the last ones.
  NetworkRecipe by_layers(double part) const {
    NetworkRecipe recipe;
    auto count = static_cast<double>(sites_.size());
    auto by_first = static_cast<size_t>(std::lround((1 - part) * count));
    for (size_t s = 0; s < sites_.size(); ++s) {
      add(recipe, sites_[s], s < by_first ? first_ : second_);
    }
    return recipe;
  }

 private:
  const Recipe &first_, &second_;
  Context context_;
  std::map<std::string, Cuts> known_;  // networks repeat their layers
  std::vector<Site> sites_;

  static void add(NetworkRecipe& network, const Site& site, const Recipe& recipe) {
    if (!recipe.empty()) network.push_back({pattern_of(site.layer), recipe});
  }

  /// Returns what there is between the two recipes, both of them included; nothing if one of them
  /// does not apply.
  const Cuts& cuts_of(const Call& call) {
    auto [at, is_new] = known_.try_emplace(print(call));
    if (!is_new) return at->second;
    Nest nest = samples_inward(nest_of(context_, call));
    if (!applies(nest, first_) || !applies(nest, second_)) return at->second;
    Cuts& result = at->second;
    result = {{0, first_}, {1, second_}};
    long count = call.operand(1).type.shape[0];
    long unit = std::max(least_filters, count / parts);
    for (long cut = unit; cut < count; cut += unit) {
      Recipe recipe = of_parts(first_, second_, cut);
      double part = 1 - static_cast<double>(cut) / static_cast<double>(count);
      if (applies(nest, recipe)) result.emplace_back(part, std::move(recipe));
    }
    return result;
  }
};

}  // namespace

const char* name_of(Between::Way way) {
  switch (way) {
    case Between::Way::end:
      return "end";
    case Between::Way::filters:
      return "filters";
    case Between::Way::layers:
      return "layers";
  }
  return "";
}

Recipe of_parts(const Recipe& first, const Recipe& second, long count) {
  Recipe recipe{{"split_range", {filters, count}}};
  Recipe part = for_part(first, filters + ".0");
  recipe.insert(recipe.end(), part.begin(), part.end());
  if (second.empty()) return recipe;
  // The second part comes first: neural steps act on the first statement.
  recipe.push_back({"interchange", {filters + ".0", filters + ".1"}});
  part = for_part(second, filters + ".1");
  recipe.insert(recipe.end(), part.begin(), part.end());
  return recipe;
}

std::vector<Between> interpolated(const Graph& network, const Recipe& first, const Recipe& second,
                                  const InterpolationOptions& options) {
  Interpolation row(network, first, second, options);
  std::vector<Between> result{{Between::Way::end, 0, row.by_layers(0)},
                              {Between::Way::end, 1, row.by_layers(1)}};
  auto add = [&](Between::Way way, size_t count) {
    for (size_t i = 1; i <= count; ++i) {
      double part = static_cast<double>(i) / static_cast<double>(count + 1);
      NetworkRecipe recipe =
          way == Between::Way::filters ? row.by_filters(part) : row.by_layers(part);
      bool known = std::any_of(result.begin(), result.end(),
                               [&](const Between& each) { return each.recipe == recipe; });
      if (!known) result.push_back({way, part, std::move(recipe)});
    }
  };
  size_t half = options.points / 2;
  add(Between::Way::filters, options.points - half);
  add(Between::Way::layers, half);
  return result;
}

}  // namespace lathe
