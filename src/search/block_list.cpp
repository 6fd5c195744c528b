// block_list.cpp: the blocks of published searches as recipes. Interface: block_list.h.
#include "search/block_list.h"

#include "base/error.h"
#include "nest/canonical.h"
#include "nest/footprint.h"
#include "nest/roles.h"
#include "transforms/transform_network.h"
#include "transforms/transform_neural.h"

namespace lathe {
namespace {

/// The numbers of groups, and of channels to one that a bottleneck keeps, in the published lists.
constexpr long group_counts[] = {2, 4, 8, 16}, bottlenecks[] = {2, 4};

/// The loops of a convolution that blocks are made by, as steps name them.
struct Channels {
  std::string filter_loop, channel_loop;
  long filters, channels;
};

/// Finds the loops over filters and channels; nothing if they are not the outermost two, as in a
/// layer that is in groups already.
std::optional<Channels> channels_of(const Nest& nest) {
  auto target = find_target(nest);
  if (!target || nest.order[*target].loops.size() < 2) return std::nullopt;
  NeuralTarget layer = take_statement(nest, *target);
  const std::vector<Loop>& loops = layer.order.loops;
  auto role = [&](size_t loop) { return role_of(layer.statement, nest.tensors(), loop); };
  bool fits = role(0) == CoordinateRole::filter && role(1) == CoordinateRole::channel;
  if (!fits) return std::nullopt;
  // Completions add loops of the same names: the statement tells them apart.
  auto name = [&](size_t loop) { return layer.statement.name + ":" + loops[loop].name; };
  return Channels{name(0), name(1), loops[0].extent, loops[1].extent};
}

bool divides(long factor, long extent) { return extent % factor == 0 && extent > factor; }

/// Returns the recipes of all blocks whose numbers divide the channels.
std::vector<Recipe> block_recipes(const Channels& c) {
  std::vector<Recipe> recipes;
  for (long g : group_counts) {
    if (!divides(g, c.filters) || !divides(g, c.channels)) continue;
    recipes.push_back({{"group", {g}}});
    recipes.push_back({{"group", {g, "expand"}}});
    recipes.push_back({{"group", {g, "deepen"}}});
  }
  for (long b : bottlenecks) {
    if (!divides(b, c.filters) || !divides(b, c.channels)) continue;
    Recipe bottleneck{{"bottleneck", {b, "deepen"}},
                      {"interchange", {c.filter_loop, c.channel_loop}},
                      {"bottleneck", {b, "reduce"}}};
    recipes.push_back(bottleneck);
    for (long g : group_counts) {
      if (!divides(g, c.filters / b) || !divides(g, c.channels / b)) continue;
      Recipe grouped = bottleneck;
      grouped.push_back({"group", {g}});
      recipes.push_back(std::move(grouped));
    }
  }
  if (c.filters == c.channels) {
    recipes.push_back({{"group", {c.channels, "deepen"}}});
  } else if (c.filters % c.channels == 0) {
    // As many depthwise filters as there are channels; the 1x1 convolution makes the others.
    recipes.push_back(
        {{"bottleneck", {c.filters / c.channels, "deepen"}}, {"group", {c.channels}}});
  }
  return recipes;
}

}  // namespace

std::vector<LayerVariant> blocks_of(const Call& layer) {
  Context context;
  Nest nest = nest_of(context, layer);
  Nest inward = samples_inward(nest);
  Cost all = cost(nest);
  std::vector<LayerVariant> blocks{{{}, meaning_name(nest, nest), all.macs, all.weights}};
  auto channels = channels_of(inward);
  if (!channels) return blocks;
  for (Recipe& recipe : block_recipes(*channels)) {
    Nest made = inward;
    for (const Step& step : recipe) made = apply(made, step).nest;
    Cost c = cost(made);
    if (c.macs >= all.macs) continue;
    blocks.push_back({std::move(recipe), meaning_name(nest, made), c.macs, c.weights, std::nullopt,
                      family_of(nest, made)});
  }
  return blocks;
}

}  // namespace lathe
