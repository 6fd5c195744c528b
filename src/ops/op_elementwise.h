// Operators that treat each element alone: O[n, c, h, w] = f(I[n, c, h, w]), or of two inputs A, B.
// Any of n, h and w may be 0: then the tensors lack that dimension.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/builder.h"
#include "ops/op.h"

namespace lathe::ops {

/// Returns the dimensions n, c, h, w that there are.
StatementBuilder::Extents element_dims(std::string_view op, const Params& p);
std::vector<long> shape(const StatementBuilder::Extents& dims);
std::vector<Index> at(const StatementBuilder& s, const StatementBuilder::Extents& dims);

/// Returns the parameters n, c, h and w, and "more".
std::vector<Param> element_params(const std::vector<Param>& more = {});

/// Returns the nest  O[...] = f(I[...]).
Nest unary_nest(isl::ctx ctx, const std::string& op, const Params& p,
                const std::function<Expr(Expr)>& f);
/// Returns the nest  O[...] = f(A[...], B[...]).  Along the dimensions whose flag (bn, bc, bh, bw)
/// is set, B has one element, which meets all elements of A.
Nest binary_nest(isl::ctx ctx, const std::string& op, const Params& p,
                 const std::function<Expr(Expr, Expr)>& f);

/// Describes an operator of one input without parameters of its own, or one of two inputs.
Op unary_op(const std::string& name, const std::string& summary,
            Nest (*nest)(isl::ctx, const Params&));
Op binary_op(const std::string& name, const std::string& summary,
             Nest (*nest)(isl::ctx, const Params&));

}  // namespace lathe::ops
