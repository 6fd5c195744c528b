// Which instances of the original operator the instances of a nest stand for.
#pragma once

#include <map>
#include <set>
#include <string>

#include "support/brute_force.h"

namespace lathe::test {

/// Instances of original statements, each with how often it is there.
using Origins = std::map<std::pair<std::string, Point>, int>;

/// Counts how often each original instance is in "nest". What steps added is no part of it.
inline Origins origins(const Nest& nest, const std::set<std::string>& originals) {
  Origins result;
  for (const Statement& s : nest.statements()) {
    if (!originals.contains(s.origin.statement)) continue;
    PointFunction origin(s.origin.at);
    for (const Point& at : points(s.domain)) ++result[{s.origin.statement, origin(at)}];
  }
  return result;
}

}  // namespace lathe::test
