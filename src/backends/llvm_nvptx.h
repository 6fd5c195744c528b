// Kernels of NVIDIA's GPUs, as far as they differ from those of CPUs: entries, where tensors lie,
// blocks and threads. Private to the folder.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <map>
#include <vector>

#include "codegen/code.h"

namespace lathe {

/// Adds the entry of a kernel to a module. It gets the address of each tensor of arguments_of(), in
/// this order: they are aligned to vectors. Blocks have as many threads as the axes say.
llvm::Function* nvptx_entry(llvm::Module& module, const std::string& symbol, const Code& code);

/// Returns where tensors begin: arguments, shared memory of the block, or memory of the thread.
std::map<size_t, llvm::Value*> nvptx_bases(llvm::IRBuilder<>& builder, llvm::Function* entry,
                                           const Code& code);

/// Returns the coordinates that blocks and threads stand for.
std::vector<llvm::Value*> nvptx_axes(llvm::IRBuilder<>& builder, const Code& code);

/// Waits for all threads of the block.
void nvptx_barrier(llvm::IRBuilder<>& builder);

/// Writes the instructions of Instruction::Kind::matrix: "args" are the values of its operands, of
/// which the first three hold factors of this type. Returns a vector of the four sums.
llvm::Value* nvptx_matrix(llvm::IRBuilder<>& builder, Number factors,
                          const std::vector<llvm::Value*>& args);

/// Returns the type of coordinates: 32 bits, if all that is computed from them fits.
llvm::IntegerType* nvptx_index(llvm::LLVMContext& context, const Code& code);

/// Returns how an element is aligned that lies so many further than an access says.
llvm::Align nvptx_alignment(const Code& code, const Instruction& access, long further);

}  // namespace lathe
