// What templates for GPUs share: loops become blocks and threads.
#pragma once

#include "schedules/schedule_choices.h"
#include "schedules/schedule_counting.h"
#include "schedules/schedule_roles.h"

namespace lathe::schedules {

/// Binds loops to the blocks of a grid. They are directly inside each other, from outside in. The
/// first ones become one loop if there are more than axes.
void bind_blocks(RecipeWriter& writer, const std::string& prefix, std::vector<std::string> loops);

/// The loops of a product, by what they move.
struct FactorLoops {
  std::vector<std::string> samples, rows, columns, summed;
};

/// Sorts the loops of a statement that adds products of two tensors. Columns lie along memory.
std::optional<FactorLoops> factor_loops(const Statement& s, const Roles& roles);

long product_of_extents(const Roles& roles, const std::vector<std::string>& loops);

/// Makes one loop of several that are directly inside each other. Returns its name.
std::string fused_into_one(RecipeWriter& writer, std::vector<std::string> loops);

/// Gives loops of other statements the names and extents that they have in the main statement: a
/// loop over all channels becomes one over groups and one over the channels of a group, where the
/// main statement has these.
void loops_alike(RecipeWriter& writer, size_t main);

/// Lets weights lie in the order in which they are read. That is done before the network runs: the
/// loops that do it get names of their own, so that no later step is about them.
void pack_weights_apart(RecipeWriter& writer, size_t statement);

/// Lets the iterations of a loop of the sum add up on their own (rfactor). In the sum of these
/// parts, the loop is called "parts".
void share_sum(RecipeWriter& writer, size_t statement, const std::string& loop);

/// Returns how many bytes of shared memory so many elements of f32 need at most: rows that lie
/// apart by a power of two get a few elements more.
long shared_bytes_of(long elements);

/// Returns all names of several lists that are not "".
std::vector<std::string> joined(std::initializer_list<std::vector<std::string>> lists);

/// Returns the greatest divisor of "n" that is at most "most".
long greatest_divisor(long n, long most);

}  // namespace lathe::schedules
