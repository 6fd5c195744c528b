// Precision as one more choice of each layer: in which every variant can be chosen.
//
//   NetworkSpace space = with_every_layer(network_space(...), network);
//   PrecisionTable f16 = measured_in(Precision::f16, space, bench, ...);
//   KnownSpace all = with_precisions(space, tables, {f32, f16, int8}, Precision::int8);
//
// Every variant is measured in one precision, the base: that in which the network as it was is
// fastest. How much slower or faster a layer is in another precision is measured once, for the
// layer as it was, and taken to hold for what it can become. What is chosen is measured exactly
// then, and other precisions near to it are tried (strategies/strategy_precision.h).
#pragma once

#include "search/width_tables.h"
#include "transforms/transform_precision.h"

namespace lathe {

/// Makes of a network what is measured: each layer has the precision that the recipe says.
using NetworkFinish = std::function<Graph(const Graph& network, const NetworkRecipe& recipe)>;

/// What is known of the network as it was in one precision.
struct PrecisionTable {
  Precision precision = Precision::f32;
  std::string failure;         ///< why it cannot be used; "" if it can
  double time = 0, own = 0;    ///< seconds: of the whole, and of the network in f32 beside it
  std::vector<double> layers;  ///< seconds of each site
  double rest = 0;             ///< of what belongs to no site
  double points = 0;           ///< of accuracy that are gained by it, if all layers have it

  /// Returns the time where the network in f32 takes so long.
  double time_beside(double original) const { return time * original / own; }
};

/// Returns the space with a site for every layer that a recipe can be for. Those that cannot change
/// otherwise are only as they were.
NetworkSpace with_every_layer(NetworkSpace space, const Graph& network);

/// Measures the network as it was in one precision; the journal keeps that.
PrecisionTable measured_in(Precision precision, const NetworkSpace& space, const Graph& narrow,
                           NetworkMeasurer& bench, Journal& journal);

/// Returns the space in which each variant can have each of the precisions, and its tables. The
/// times in "tables" are of networks in the precision "base". Variant 0 is the layer as it was in
/// f32.
KnownSpace with_precisions(const NetworkSpace& space, const LayerTables& tables,
                           const std::vector<PrecisionTable>& precisions, Precision base);

/// Returns the variant of a site that is as another one, but for its precision; nothing if there is
/// none.
std::optional<size_t> in_precision(const NetworkSpace& space, size_t site, size_t variant,
                                   Precision precision);

}  // namespace lathe
