// Loops over the elements of a tensor of any rank, and shapes that broadcast.
#pragma once

#include <vector>

#include "nest/builder.h"
#include "ops/op.h"

namespace lathe::ops {

/// Names the dimensions of a tensor by convention: n c h w for four, n c w for three, n c, c.
std::vector<std::string> dim_names(size_t rank);

/// Returns one loop for each dimension.
StatementBuilder::Extents loops_over(const Shape& shape);
/// Returns the coordinates of all these loops.
std::vector<Index> at(const StatementBuilder& s, const StatementBuilder::Extents& loops);

/// Returns the element of a tensor of "shape" that meets element "at" of the broadcast result:
/// dimensions are aligned at the last, and one of extent 1 meets every index.
std::vector<Index> broadcast_at(const StatementBuilder& s, const std::vector<Index>& at,
                                const Shape& shape);

/// Returns the shape of operands "first" to "last" broadcast together.
Shape broadcast(const Call& call, size_t first, size_t last);

/// Declares operand "i" of a call, or an output, as a tensor without padding.
size_t declare(NestBuilder& b, const Call& call, size_t i, const std::string& name);
size_t declare_output(NestBuilder& b, const Type& type, const std::string& name = "O");

/// Fails unless operands 0 and "i" have the same element type.
void check_same_element(const Call& call, size_t i);

}  // namespace lathe::ops
