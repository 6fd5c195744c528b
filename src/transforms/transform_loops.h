// What the program steps share: finding the loops that a name means, and rewriting orders.
//
// A loop's name means that loop in every statement that has it: "co" after a split of a nest with
// an initialisation is both statements' co. "conv:co" means it in statement "conv" alone.
#pragma once

#include <functional>

#include "transforms/transform.h"

namespace lathe {

/// One loop of one statement.
struct LoopRef {
  size_t statement;
  size_t depth;
};

/// Returns the loops that "name" means: at least one. Throws with the loops that exist.
std::vector<LoopRef> resolve(const Nest& nest, const std::string& name);

/// Returns the tensor of this name. Throws with the tensors that exist.
size_t tensor_named(const Nest& nest, const std::string& name);

/// Returns the fewest iterations that the loops of this name have.
long least_extent(const Nest& nest, const std::string& name);

/// Returns "nest" with another order, whose places are settled.
Nest with_order(const Nest& nest, std::vector<Order> order);

/// Replaces loops from..from+count-1 of a statement by "loops". "old" gives the iterations of the
/// replaced loops from those of the new ones.
Order replace_loops(const Order& order, size_t from, size_t count, std::vector<Loop> loops,
                    const std::function<std::vector<isl::aff>(const std::vector<isl::aff>&)>& old);

/// Puts the loops of one statement into another sequence: new position i holds old loop from[i].
Order permuted(const Order& order, const std::vector<size_t>& from);

/// Splits loop "ref" into  loop / factor  ("x.o") and  loop % factor  ("x.i").
Order split_loop(const Order& order, size_t depth, long factor);

/// Returns whether a loop can be split: the names of its halves must be free in all its statements.
bool can_be_split(const Nest& nest, const std::string& loop);

/// Changes the loops that "name" means, for all statements inside them.
Nest with_loops(const Nest& nest, const std::string& name,
                const std::function<void(Loop&)>& change);

/// Marks a loop.
Nest marked(const Nest& nest, const std::string& loop, Mark mark);

/// Returns one step for each loop that "wanted" accepts, with that loop as its only argument.
std::vector<Step> for_each_loop(const Nest& nest, const std::string& step,
                                const std::function<bool(const Loop&)>& wanted);

/// Returns the divisors of n from 2 to n.
std::vector<long> divisors(long n);

}  // namespace lathe
