// Finds the choices whose costs are least together, where each cost depends on a few variables. One
// variable after the other is eliminated: for every choice of its neighbours, its best choice is
// noted, and a table of that replaces the tables that it was in.
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

/// Returns the choice of each variable whose costs are least together. A variable whose
/// elimination would take a table of more than "largest" entries keeps its usual choice.
std::vector<size_t> least_costs(const CostProblem& problem, size_t largest = 1 << 20);

/// Returns the place of a choice in a table.
size_t place_in(const CostTable& table, const std::vector<size_t>& sizes,
                const std::vector<size_t>& choice);

/// Returns what a choice costs.
double cost_of(const CostProblem& problem, const std::vector<size_t>& choice);

}  // namespace lathe
