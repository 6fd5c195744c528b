// Compares a compiled network with the interpreter, at full size. The network runs node by node on
// random inputs. The interpreter gets the tensors that the compiled network handed to a unit, and
// says what the unit must make of them.
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

/// Compares each unit of a network once, except those that are "known". "ready" is the graph as it
/// was compiled: ready_to_compile() (ready.h). "made" is what its units became. Also checks that a
/// value is unchanged when it is read. If it is not, the unit that reads it is wrong.
std::vector<UnitCheck> check_at_full_size(const Graph& ready, const Compiled& compiled,
                                          const MadeUnits& made,
                                          const std::set<std::string>& known);

}  // namespace lathe
