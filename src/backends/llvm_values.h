// The values of a kernel's variables, in registers. A variable of more lanes than a register has is
// several values, so that LLVM need not take anything apart.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>

#include <vector>

#include "backends/llvm_math.h"
#include "codegen/code.h"

namespace lathe {

class LlvmValues {
 public:
  /// The value of a variable: its lanes in order, a register each.
  using Pieces = llvm::SmallVector<llvm::Value*, 4>;

  LlvmValues(llvm::IRBuilder<>& builder, LlvmMath& math, const Code& code, const Target& target)
      : builder_(builder),
        math_(math),
        code_(code),
        target_(target),
        values_(code.variables.size()) {}

  /// The value that a variable has now; empty if it was not set yet.
  Pieces& operator[](size_t variable) { return values_[variable]; }
  const Pieces& operator[](size_t variable) const { return values_[variable]; }

  Number number(size_t variable) const { return code_.variables[variable].number; }
  long lanes(size_t variable) const { return code_.variables[variable].lanes; }

  /// Returns how many registers so many lanes are. Where they fill none evenly, each has a power of
  /// two of them: LLVM takes vectors of other sizes apart, lane by lane. Very short ones are left
  /// to LLVM all the same.
  size_t pieces(long count, Number number) const;
  /// Returns how many lanes each of these registers has.
  long width(long count, Number number) const;
  /// Returns how many lanes are converted at once: a power of two that they consist of, and all if
  /// no piece is as short.
  long converted_at_once(long count, Number number) const;

  /// Returns a variable in so many lanes: it has them, or one that all of them repeat.
  Pieces widened(size_t variable, long count);
  /// Returns a variable as one vector.
  llvm::Value* whole(size_t variable) { return put_together(values_[variable]); }
  /// Returns some of the lanes of pieces that have "each" of them, as one vector; the first and the
  /// last piece are whole.
  llvm::Value* part_of(const Pieces& all, long each, long first, long count);
  /// Returns a vector as the pieces that a variable of so many lanes has.
  Pieces taken_apart(llvm::Value* all, long count, Number number);

 private:
  llvm::IRBuilder<>& builder_;
  LlvmMath& math_;
  const Code& code_;
  const Target& target_;
  std::vector<Pieces> values_;  // of variables

  llvm::Value* put_together(const Pieces& parts);
};

}  // namespace lathe
