// elimination.cpp: the least sum of costs. Interface: elimination.h.
#include "search/elimination.h"

#include <algorithm>
#include <limits>

namespace lathe {
namespace {

/// Goes to the next choice of these variables; returns whether there is one.
bool advance(const std::vector<size_t>& variables, const std::vector<size_t>& sizes,
             std::vector<size_t>& choice) {
  for (size_t i = variables.size(); i-- > 0;) {
    size_t v = variables[i];
    if (++choice[v] < sizes[v]) return true;
    choice[v] = 0;
  }
  return false;
}

bool is_about(const CostTable& table, size_t variable) {
  return std::find(table.variables.begin(), table.variables.end(), variable) !=
         table.variables.end();
}

class Elimination {
 public:
  Elimination(const CostProblem& problem, size_t largest)
      : sizes_(problem.sizes), tables_(problem.tables), largest_(largest) {
    for (size_t v = 0; v < sizes_.size(); ++v) left_.push_back(v);
  }

  std::vector<size_t> run() {
    while (!left_.empty()) {
      std::vector<double> sizes;
      for (size_t v : left_) sizes.push_back(size_without(v));
      auto least = std::min_element(sizes.begin(), sizes.end()) - sizes.begin();
      // Where even the smallest table is too large, the variable with most neighbours is in the
      // way.
      bool too_large = sizes[static_cast<size_t>(least)] > static_cast<double>(largest_);
      auto next = too_large ? std::max_element(sizes.begin(), sizes.end()) - sizes.begin() : least;
      size_t variable = left_[static_cast<size_t>(next)];
      too_large ? keep_usual(variable) : eliminate(variable);
      left_.erase(left_.begin() + next);
    }
    std::vector<size_t> choice(sizes_.size(), 0);
    for (size_t i = eliminated_.size(); i-- > 0;) {
      const Eliminated& each = eliminated_[i];
      choice[each.variable] = each.best[place_in(each.beside, sizes_, choice)];
    }
    return choice;
  }

 private:
  /// What is best for a variable, for every choice of those beside it.
  struct Eliminated {
    size_t variable;
    CostTable beside;  // without costs
    std::vector<size_t> best;
  };
  std::vector<size_t> sizes_;
  std::vector<CostTable> tables_;
  size_t largest_;
  std::vector<size_t> left_;
  std::vector<Eliminated> eliminated_;

  std::vector<size_t> neighbours(size_t variable) const {
    std::vector<size_t> result;
    for (const CostTable& table : tables_) {
      if (is_about(table, variable)) {
        result.insert(result.end(), table.variables.begin(), table.variables.end());
      }
    }
    std::sort(result.begin(), result.end());
    result.erase(std::unique(result.begin(), result.end()), result.end());
    result.erase(std::remove(result.begin(), result.end(), variable), result.end());
    return result;
  }

  /// Returns the entries of the table that takes the variable's place.
  double size_without(size_t variable) const {
    double size = 1;
    for (size_t v : neighbours(variable)) size *= static_cast<double>(sizes_[v]);
    return size;
  }

  void eliminate(size_t variable) {
    Eliminated gone{variable, {neighbours(variable), {}}, {}};
    std::vector<CostTable> about, others;
    for (CostTable& table : tables_) {
      (is_about(table, variable) ? about : others).push_back(std::move(table));
    }
    CostTable rest{gone.beside.variables, {}};
    std::vector<size_t> choice(sizes_.size(), 0);
    do {
      double least = std::numeric_limits<double>::infinity();
      size_t best = 0;
      for (choice[variable] = 0; choice[variable] < sizes_[variable]; ++choice[variable]) {
        double cost = 0;
        for (const CostTable& table : about) cost += table.costs[place_in(table, sizes_, choice)];
        if (cost < least) {
          least = cost;
          best = choice[variable];
        }
      }
      choice[variable] = 0;
      rest.costs.push_back(least);
      gone.best.push_back(best);
    } while (advance(rest.variables, sizes_, choice));
    others.push_back(std::move(rest));
    tables_ = std::move(others);
    eliminated_.push_back(std::move(gone));
  }

  /// Drops all choices of the variable but the usual one.
  void keep_usual(size_t variable) {
    for (CostTable& table : tables_) {
      if (!is_about(table, variable)) continue;
      CostTable rest;
      for (size_t v : table.variables) {
        if (v != variable) rest.variables.push_back(v);
      }
      std::vector<size_t> choice(sizes_.size(), 0);
      do {
        rest.costs.push_back(table.costs[place_in(table, sizes_, choice)]);
      } while (advance(rest.variables, sizes_, choice));
      table = std::move(rest);
    }
    // Nobody asks for it any more: it is 0 wherever a choice begins.
  }
};

}  // namespace

std::vector<size_t> least_costs(const CostProblem& problem, size_t largest) {
  return Elimination(problem, largest).run();
}

size_t place_in(const CostTable& table, const std::vector<size_t>& sizes,
                const std::vector<size_t>& choice) {
  size_t place = 0;
  for (size_t v : table.variables) place = place * sizes[v] + choice[v];
  return place;
}

double cost_of(const CostProblem& problem, const std::vector<size_t>& choice) {
  double cost = 0;
  for (const CostTable& table : problem.tables) {
    cost += table.costs[place_in(table, problem.sizes, choice)];
  }
  return cost;
}

}  // namespace lathe
