// Products of small matrices, which the warps of some GPUs compute with one instruction.
//
//   thread.y y < 8: thread.x x < 4:
//     vector r < 2: vector c < 2: vector p < 4: vector q < 2:
//       S[y, r, x, c] += A[y, r, p, q] * B[p, q, x, c]
//
// A is of 16 rows and 8 columns, B of 8 rows and 8 columns, both of tf32; S is of f32. (Of f16 and
// bf16 A has 16 columns: q counts to 4.) As the nest says it, a thread multiplies two rows by two
// columns. As the instruction wants it, each thread hands over other factors than those that it
// multiplies: those of column p = x of A and of row p = x of B, and of B those of the sums that
// thread y is named after, x = y / 2 and c = y mod 2. So the factors must be in memory that all
// threads of a warp see.
//
// All threads of a warp take part, even if the statement has a condition: whoever has no row or
// column loads some other element, and what is added to its sums is never used (phantoms.h).
#pragma once

#include <optional>

#include "codegen/code.h"

namespace lathe {

/// Threads of a warp along y and x, and the loops inside: rows and columns of a thread, and groups
/// of its products.
inline constexpr long matrix_down = 8, matrix_across = 4, matrix_own = 2;

/// Returns how many products of these factors an instruction adds in each group; 0 if the target
/// has no such instruction.
long terms_of_matrix(const Target& target, Element factors);

/// A statement in four loops that are a product of matrices.
struct MatrixProduct {
  size_t rows, columns;       ///< the reads of A and B
  size_t r, c, p, q;          ///< depths of the loops
  size_t y, x;                ///< depths of the loops of threads
  long terms;                 ///< iterations of q
  const LoopNode* statement;  ///< inside all of them
};

/// Returns the product of matrices that a loop is the outermost of, if the target has it.
std::optional<MatrixProduct> matrix_of(const LoopNode& loop, const Nest& nest,
                                       const Target& target);

/// Returns the offsets from which each thread loads what it hands over: of row "r" of A, or of B.
/// The first element of the group is meant; its others differ in q.
poly::Affine offset_of_rows(const MatrixProduct& matrix, long r);
poly::Affine offset_of_columns(const MatrixProduct& matrix);

/// Returns the conditions under which there are these elements.
Guard guard_of_rows(const MatrixProduct& matrix, long r);
Guard guard_of_columns(const MatrixProduct& matrix);

}  // namespace lathe
