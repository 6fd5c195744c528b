// Is a compiled network what the interpreter says? It runs node by node on random inputs, and the
// outputs of each unit are compared, at full size, with what its nest makes of what was really
// there: the tensors that the compiled network handed on.
//
//   for (const UnitCheck& check : check_at_full_size(ready, compiled, made, known)) ...
#pragma once

#include <set>

#include "compile/units.h"

namespace lathe {

/// What came of comparing one unit.
struct UnitCheck {
  std::string node;       ///< the first that has it
  std::string key;        ///< of the unit (units.h)
  std::string wrong;      ///< what is wrong; "" if nothing is
  std::string unchecked;  ///< why it could not be compared; "" if it was
};

/// Compares each unit of a network once, but for those that are known. "ready" is the graph as it
/// was compiled: ready_to_compile() (ready.h); "made" is what its units became. Also looks whether
/// each value is still the same when it is read: what is not is wrong for the unit that reads it.
std::vector<UnitCheck> check_at_full_size(const Graph& ready, const Compiled& compiled,
                                          const MadeUnits& made,
                                          const std::set<std::string>& known);

}  // namespace lathe
