// Shapes that operators share: checked sizes, the optional batch dimension, the bias.
//
// Every operator takes n: with n=0 its tensors have no batch dimension, otherwise it comes first
// and n is the outermost loop.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "nest/builder.h"
#include "ops/op.h"

namespace lathe::ops {

/// Returns the parameter n.
Param batch_param();

/// Fails unless every parameter in "sizes" is at least 1 and n is not negative.
void check_sizes(std::string_view op, const Params& p, std::initializer_list<const char*> sizes);

/// Is the parameter "name", which must be 0 or 1, set?
bool is_set(std::string_view op, const Params& p, const std::string& name);

/// Put the batch first, if there is one: in a shape, in the extents of a statement, in an access.
std::vector<long> batched_shape(long n, std::vector<long> shape);
StatementBuilder::Extents batched_loops(long n, StatementBuilder::Extents extents);
std::vector<Index> batched_at(const StatementBuilder& s, long n, std::vector<Index> at);

/// Declares a bias B and begins "output" with it: bias(O, [co, oh, ow]):  O[co, oh, ow] = B[co].
void assign_bias(NestBuilder& b, size_t output, long n, const StatementBuilder::Extents& extents,
                 Element element = Element::f32);

}  // namespace lathe::ops
