// Sums in two stages: partial sums, and their total.
#pragma once

#include <optional>

#include "nest/nest.h"

namespace lathe::transforms {

/// Where partial sums are added up: where each is complete, or once all of them are. In the second
/// case each is copied when it is complete: until then it may be in registers.
enum class Total { inside, after };

struct PartialSums {
  Nest nest;
  long products;  ///< of each partial sum
};

/// Adds up the products of each iteration of a loop on their own, in a type, or in that of the sum.
/// Throws a UserError if no products are added up inside the loop.
PartialSums with_sums_apart(const Nest& nest, const std::string& loop, std::optional<Element> type,
                            Total where);

}  // namespace lathe::transforms
