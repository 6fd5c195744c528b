// What the loops of a statement count: indices of its tensors. That tells which loop counts samples
// or groups, and which loops of several statements count the same, whatever they are called.
//
//   O[n, 8*g + co, oh] += W[8*g + co, ci] * I[n, 4*g + ci, oh]
//
//   n counts the first index of O and I alone: samples. g and co count the second index of O
//   together. In  O2[s, c, x] = max(O[s, c, x], 0)  the loops s, c, x count what n, co, oh do.
#pragma once

#include "schedules/schedule_roles.h"

namespace lathe::schedules {

/// One index of a tensor, as the loops of a statement count it from 0 on.
struct Counted {
  std::string loop;  ///< the innermost of the loops; "" if none counts it, or more than two do
  std::string outer = "";  ///< the loop around it where two count together: extent * outer + loop
  long extent = 1;         ///< of both together
};

/// Returns what counts each index of an access. A constant may be added to an index.
std::vector<Counted> counted_indices(const Access& access, const Order& order);

/// Returns the loop that counts samples; "" if there is none. It alone counts the first index of
/// the data, and of the result. Where samples are summed up, it counts the first index of both
/// factors instead.
std::string samples_loop(const Nest& nest, size_t statement);

/// Returns whether two loops of a statement count one index of its result together.
bool count_together(const Nest& nest, size_t statement, const std::string& outer,
                    const std::string& inner);

/// A loop of another statement that counts what a loop of the main statement counts, but has
/// another name.
struct OtherName {
  size_t statement;
  size_t depth;      ///< of the loop, from outside in
  std::string name;  ///< of the main statement's loop
  bool whole;        ///< does each loop of the statement count what one of the main statement does?
};

/// Returns all loops of other names. Their statements set the result of the main statement, or make
/// something of it.
std::vector<OtherName> other_names(const Nest& nest, size_t main);

/// Gives a loop the main statement's name. If the statement has another loop of this name, that one
/// gets a new name.
void rename_loop(RecipeWriter& writer, const OtherName& other);

/// Gives loops the main statement's names, in statements that have no other loops.
void name_alike(RecipeWriter& writer, size_t main);

}  // namespace lathe::schedules
