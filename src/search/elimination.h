// Finds the choices with the least sum of costs, where each cost depends on a few variables. One
// variable after the other is eliminated: its best choice is noted for every choice of its
// neighbours, and a table of these replaces the tables that it was in.
//
//   a - b - c        b goes: cost(a, c) = min over b of cost(a, b) + cost(b, c)
//
// For a chain this is dynamic programming. A network is nearly a chain: where branches meet again,
// tables have a few variables more.
#pragma once

#include <cstddef>
#include <vector>

namespace lathe {

/// A cost for every choice of some variables, the last of which changes fastest.
struct CostTable {
  std::vector<size_t> variables;  ///< each once
  std::vector<double> costs;      ///< infinity: not to be chosen
};

struct CostProblem {
  std::vector<size_t> sizes;  ///< how many choices each variable has; 0 is the usual one
  std::vector<CostTable> tables;
};

/// Returns a choice for each variable, so that the sum of costs is least. A variable keeps its
/// usual choice if its elimination would take a table of more than "largest" entries.
std::vector<size_t> least_costs(const CostProblem& problem, size_t largest = 1 << 20);

/// Returns the place of a choice in a table.
size_t place_in(const CostTable& table, const std::vector<size_t>& sizes,
                const std::vector<size_t>& choice);

/// Returns what a choice costs.
double cost_of(const CostProblem& problem, const std::vector<size_t>& choice);

}  // namespace lathe
