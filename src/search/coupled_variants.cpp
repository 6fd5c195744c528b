// coupled_variants.cpp: layers with fewer channels. Interface: coupled_variants.h.
#include "search/coupled_variants.h"

#include <fmt/ranges.h>

#include <tuple>

#include "base/error.h"
#include "nest/footprint.h"
#include "search/layer_variants.h"
#include "transforms/transform_neural.h"
#include "transforms/transform_precision.h"

namespace lathe {
namespace {

/// Channels of a group that fewer channels are put into are a multiple of this.
constexpr long vector = 8;

/// Returns a recipe without its completions: each step takes channels away for good.
Recipe uncompleted(Recipe recipe) {
  for (Step& step : recipe) {
    bool keeps = step.name == "keep" && step.args.size() > 1;
    if (keeps) step.args.pop_back();
  }
  return recipe;
}

void append(Recipe& recipe, const Recipe& more) {
  recipe.insert(recipe.end(), more.begin(), more.end());
}

std::string shuffled_groups(long groups) { return fmt::format("shuffled groups x{}", groups); }

}  // namespace

std::string label_of(const LayerVariant& variant) {
  return print(variant.coupling ? uncompleted(variant.recipe) : variant.recipe);
}

CoupledLayer::CoupledLayer(const Call& layer) {
  Context context;
  Nest nest = samples_inward(nest_of(context, layer));
  auto target = find_target(nest);
  check(target.has_value(), "a layer sums up products");
  if (nest.statements().size() > 1) statement_ = nest.statements()[*target].name + ":";
  const Shape &input = layer.shape(0), &weight = layer.shape(1);
  filters_ = weight[0];
  inputs_ = input[1];
  own_groups_ = inputs_ / weight[1];
  depthwise_ = weight[1] == 1 && own_groups_ == filters_ && filters_ > 1;
  Cost all = cost(nest);
  macs_ = all.macs;
  biases_ = layer.inputs() > 2 && layer.has(2) ? filters_ : 0;
  weights_ = all.weights - biases_;
}

Step CoupledLayer::with_loops(const char* step, const char* first, const char* second) const {
  return {step, {statement_ + first, statement_ + second}};
}

/// Returns steps after which the layer reads its first channels; those of each group, if it has
/// any.
Recipe CoupledLayer::reading(long channels) const {
  if (channels == inputs_ || depthwise_) return {};
  Step swap = with_loops("interchange", own_groups_ > 1 ? "g" : "co", "ci");
  return {swap, {"keep", {channels / own_groups_}}, swap};
}

/// Returns steps after which the layer has its first filters. Alone, others stand for those that
/// are gone: what reads them gets as much from each.
Recipe CoupledLayer::having(long filters, bool alone) const {
  if (filters == filters_) return {};
  Step keep{"keep", {filters}};
  if (alone) keep.args.emplace_back("repeat");
  if (own_groups_ == 1 || depthwise_) return {keep};
  // All filters of a network's layer are counted; alone, those of each group are.
  if (!alone) return {with_loops("fuse", "g", "co"), keep};
  keep.args.front() = filters / own_groups_;
  Step swap = with_loops("interchange", "g", "co");
  return {swap, keep};
}

/// Returns steps that put the layer into groups, each of which reads every n-th channel.
Recipe CoupledLayer::in_groups(long groups) const {
  if (groups == 1) return {};
  return {{"split", {statement_ + "ci", groups}},
          with_loops("interchange", "ci.o", "ci.i"),
          {"group", {groups}}};
}

std::optional<LayerVariant> CoupledLayer::variant(Coupling coupling) const {
  auto [filters, inputs, groups] = std::tuple(coupling.filters, coupling.inputs, coupling.groups);
  bool divides = filters % groups == 0 && inputs % groups == 0 && filters % own_groups_ == 0 &&
                 inputs % own_groups_ == 0;
  bool fits = filters >= 1 && filters <= filters_ && inputs >= 1 && inputs <= inputs_;
  if (depthwise_) divides = fits = filters == inputs && filters <= filters_ && groups == 1;
  bool is_same = filters == filters_ && inputs == inputs_;
  // What a group has is counted in vectors: code for other numbers is slow.
  bool fills = groups == 1 || (filters / groups % vector == 0 && inputs / groups % vector == 0);
  if (!divides || !fits || is_same || !fills || (groups > 1 && own_groups_ > 1)) {
    return std::nullopt;
  }
  LayerVariant variant;
  variant.recipe = reading(inputs);
  append(variant.recipe, having(filters, true));
  // What reaches a depthwise layer shrinks by what makes it.
  if (!depthwise_) append(coupling.recipe, having(filters, false));
  std::vector<std::string> words;
  if (filters < filters_) words.push_back(fmt::format("{} of {} filters", filters, filters_));
  if (inputs < inputs_ && !depthwise_) {
    words.push_back(fmt::format("reads {} of {}", inputs, inputs_));
  }
  append(variant.recipe, in_groups(groups));
  append(coupling.recipe, in_groups(groups));
  if (groups > 1) words.push_back(shuffled_groups(groups));
  variant.meaning = fmt::format("{}", fmt::join(words, ", "));
  // Instances and weights are boxes: their numbers are products in which each channel counts once.
  long all = depthwise_ ? filters_ : filters_ * inputs_ * groups;
  long left = depthwise_ ? filters : filters * inputs;
  variant.macs = macs_ * left / all;
  variant.weights = weights_ * left / all + biases_ / filters_ * filters;
  variant.coupling = std::move(coupling);
  variant.family = Family::narrow;
  return variant;
}

std::optional<LayerVariant> CoupledLayer::shuffled(long groups) const {
  bool divides = own_groups_ == 1 && filters_ % groups == 0 && inputs_ % groups == 0;
  if (!divides || groups == 1) return std::nullopt;
  LayerVariant variant{in_groups(groups), shuffled_groups(groups), macs_ / groups,
                       weights_ / groups + biases_};
  variant.family = Family::shuffled;
  return variant;
}

std::optional<long> CoupledLayer::groups_of(const LayerVariant& variant) const {
  if (variant.coupling) return variant.coupling->groups;
  Recipe steps = without_precision(variant.recipe);
  if (steps.empty()) return 1;
  const Step& last = steps.back();
  if (last.name != "group" || last.args.size() != 1) return std::nullopt;
  long groups = std::get<long>(last.args[0]);
  return steps == in_groups(groups) ? std::optional(groups) : std::nullopt;
}

}  // namespace lathe
