// Views: calls that only choose elements of their operand, dimension by dimension. Nothing has to
// be copied: what reads the result can read the operand instead.
//
//   slice(x, starts=[0, 32, 0, 0], ...)     V[n, c, h, w] = x[n, c + 32, h, w]
//   take(x, axis=1, indices=[0, 2, 1, 3])   V[n, 2*g + c, h, w] = x[n, 2*c + g, h, w]
#pragma once

#include <optional>

#include "ops/op.h"

namespace lathe::ops {

/// For each dimension, the indices of the operand that are chosen.
using View = std::vector<Shape>;

/// Returns which elements of its first operand a call chooses; nothing if it does anything else.
std::optional<View> view_of(const Call& call);

/// Returns the view of a view: "inner" chooses among what "outer" chose.
View composed(const View& outer, const View& inner);

/// Returns  list[index]  as a function on "domain", where "index" is within the list. There is one
/// for lists of the form  start + a*(i / n) + b*(i % n), and nothing for others.
std::optional<isl::aff> chosen(const Shape& list, const isl::aff& index, const isl::set& domain);

/// Is the list  start, start + 1, ...?
bool is_stretch(const Shape& list);

}  // namespace lathe::ops
