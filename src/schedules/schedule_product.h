// Sums of products. Each of their loops moves the weights, the data, the result, or several of
// them.
#pragma once

#include "schedules/schedule_roles.h"

namespace lathe::schedules {

/// The loops of a sum of products, by what they move.
struct ProductLoops {
  size_t weight, data;                 ///< the two factors, among the reads
  std::string vector;                  ///< the weights and the result: vectors run along it
  std::vector<std::string> both;       ///< the weights, the data and the result
  std::vector<std::string> positions;  ///< the data and the result
  std::vector<std::string> sums;       ///< not the result
  bool packs = false;                  ///< the weights are computed, but small: each run packs them
};

/// Returns the loops of the statement. Returns nothing if the statement adds no products, or if no
/// loop moves one factor alone.
std::optional<ProductLoops> product_loops(const Situation& situation, const Roles& roles);

/// Products that are added up in f16 before the sum goes on in f32: the error grows with the square
/// root of them, and adding to the f32 takes about as long as eight products.
inline constexpr long products_in_f16 = 128;

/// Should the products of a statement be added up in f16? The target must have arithmetic for it,
/// both factors must be f16, the error must be allowed, and the sums must take some time.
bool multiplies_halves(const Situation& situation, size_t statement);

/// Adds up the products of a statement in f16, inside the last of these loops that there is. Loops
/// that do not exist have the name "".
void add_up_halves(RecipeWriter& writer, const std::string& statement,
                   const std::vector<std::string>& loops);

/// Returns how many products of a statement's factors one instruction of the target adds to a sum;
/// 0 if it has none. "weight" is the read of which each lane has its own factors.
long terms_of_dot(const Situation& situation, size_t statement, size_t weight);

/// Returns how many products of a statement's factors a matrix unit of the target adds to a sum for
/// each column; 0 if it has none for them.
long terms_of_panels(const Situation& situation, size_t statement, size_t weight);

/// Makes groups and the channels inside them one loop, if that is how the result is stored.
void fuse_groups(RecipeWriter& writer, const Situation& situation, const Roles& roles,
                 ProductLoops& loops);

/// Makes rows and columns one loop, if one can walk them. In "named" all statements call loops
/// alike.
void fuse_positions(RecipeWriter& writer, const Situation& situation, const Nest& named,
                    ProductLoops& loops);

/// Can one loop walk rows and columns, in every tensor that they move?
bool are_flat(const Situation& situation, const std::string& rows, const std::string& columns);

/// Returns the loop of a sum that runs along the data in memory. Factors that lie side by side can
/// be loaded together. Returns "" if there is no such loop.
std::string neighbours(const Roles& roles, const ProductLoops& loops);

}  // namespace lathe::schedules
