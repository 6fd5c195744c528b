// Sequences of passes that a search tries: selections and orders of those that it may use.
//
//   PassList random = random_selection(all, rng);       some of them, in any order that can run
//   PassList next = changed(list, pool, rng);           one pass left out, added or moved
#pragma once

#include "base/random.h"
#include "passes/pass.h"

namespace lathe {

using PassList = std::vector<std::string>;

/// Prints a list as parse_passes() reads it.
std::string print_passes(const PassList& passes);

/// Returns the passes in an order that can run: those that choose storage last. Otherwise they keep
/// their order.
PassList in_stages(const PassList& passes);

/// Returns all passes of the pool, in a random order.
PassList random_order(PassList pool, Random& random);

/// Returns some passes of the pool, at least one, in a random order.
PassList random_selection(const PassList& pool, Random& random);

/// Returns the list with one pass left out, one of the pool added, or one moved elsewhere.
PassList changed(const PassList& passes, const PassList& pool, Random& random);

}  // namespace lathe
