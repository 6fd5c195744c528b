// What is known of layers with fewer channels, between the widths that were measured.
//
// Times and scores are nearly bilinear in filters and inputs: products count both, what is read and
// written counts one. So a layer is measured at few widths (Coupling::is_anchor), and others are
// interpolated. What a search chooses is then scored and measured exactly.
#pragma once

#include "search/layer_tables.h"

namespace lathe {

/// A number that is known of a layer with so many channels.
struct WidthPoint {
  Widths widths;
  double value;
};

/// Returns the number for other widths: bilinear in the smallest rectangle whose corners are known.
/// Where there is none, as for depthwise layers, linear in the work between the nearest two points
/// of which one is narrower and one is wider. Returns nothing where there are no such points.
std::optional<double> interpolated(const std::vector<WidthPoint>& known, Widths widths);

/// Fills in the numbers of coupled variants that were not tried. "row" has one number for each
/// variant of the kind; of those that were tried, infinite ones failed.
void interpolate_widths(const LayerKind& kind, std::vector<double>& row,
                        const std::vector<bool>& tried);

/// A space, and what is known of it.
struct KnownSpace {
  NetworkSpace space;
  LayerTables tables;
};

/// How far the levels of a refined link are apart.
enum class Spacing {
  sixteenths,  ///< of its channels
  steps,       ///< the fewest channels that can be taken away
};

/// Returns the space with levels near to those of an assignment, and what can be told of it from
/// the tables. Sites can become as they are there, too.
KnownSpace refined(const NetworkSpace& space, const LayerTables& tables, const Assignment& around,
                   Spacing spacing);

}  // namespace lathe
