// reduce_min.cpp: the least element along some dimensions; of truth values, whether all hold.
//
//   S[n, c] max= -I[n, c, h, w];  O[n, c] = -S[n, c]
//
// Unsigned types have no negative values: 255 - x takes the place of -x.
#include <limits>

#include "ops/op_reduce.h"

namespace lathe::ops {

Op reduce_min() {
  return reduce({.name = "reduce_min",
                 .summary = "least element along some dimensions",
                 .of_none = std::numeric_limits<double>::infinity(),
                 .update = Update::maximum,
                 .enter = mirrored,
                 .leave = [](Expr s, Element element, long) { return mirrored(s, element); }});
}

}  // namespace lathe::ops
