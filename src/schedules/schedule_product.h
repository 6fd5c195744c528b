// Sums of products, and what each of their loops moves: the weights, the data or the result.
#pragma once

#include "schedules/schedule_roles.h"

namespace lathe::schedules {

/// The loops of a sum of products. "both" move weights and data, "positions" only the data, and
/// "sums" do not move the result.
struct ProductLoops {
  size_t weight, data;  ///< reads
  std::string vector;   ///< moves the weights and the result
  std::vector<std::string> both, positions, sums;
  bool packs = false;  ///< the weights are computed, but small: each run packs them
};

/// Returns the loops of the statement. Returns nothing if the statement adds no products, or if no
/// loop moves one factor alone.
std::optional<ProductLoops> product_loops(const Situation& situation, const Roles& roles);

/// Returns whether rows and columns can be walked by one loop, in every tensor that they move.
bool are_flat(const Situation& situation, const std::string& rows, const std::string& columns);

/// Returns the sum that runs along the data in memory: its factors are loaded together.
std::string neighbours(const Roles& roles, const ProductLoops& loops);

}  // namespace lathe::schedules
