// Products with factors of f16 that the instruction broadcasts itself, on x86-64.
//
//   vpbroadcastw (%rdi), %zmm2;  vfmadd231ph %zmm2, %zmm1, %zmm0   two of the units that multiply
//   vfmadd231ph (%rdi){1to32}, %zmm1, %zmm0                        one of them, and a load
//
// A broadcast of 16 bits takes one of the two units that multiply; one of 32 bits does not. On a
// Sapphire Rapids, twelve products of vectors with six factors took 10.3 cycles the first way, 8.1
// the second. The best is to do some each way: then units and loads have as much to do.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "codegen/target.h"

namespace lathe {

class LlvmBroadcasts {
 public:
  LlvmBroadcasts(llvm::IRBuilder<>& builder, const Target& target)
      : builder_(builder), target_(target) {}

  /// Returns  a * b + c  with a factor that was just loaded and that the instruction broadcasts;
  /// null if that is not possible, or not quicker. The factor multiplies so many vectors.
  llvm::Value* fma(llvm::Value* a, llvm::Value* b, llvm::Value* c, size_t vectors);

 private:
  llvm::IRBuilder<>& builder_;
  const Target& target_;
  const llvm::LoadInst* last_ = nullptr;  ///< the factor of the last product
  long factors_ = 0;                      ///< that there were

  /// Returns the load of a factor that is the same in all lanes, if nothing was stored since.
  llvm::LoadInst* loaded(llvm::Value* factor) const;
};

}  // namespace lathe
