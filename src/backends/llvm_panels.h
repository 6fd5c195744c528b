// Panels (codegen/panels.h) in the registers of x86-64's matrix unit, AMX. LLVM chooses registers,
// and sets up their shapes where a function begins.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "codegen/code.h"

namespace lathe {

/// Rows of a panel, and the bytes of each.
struct PanelShape {
  long rows, bytes;
};

/// Loads a panel whose rows are so many bytes apart.
llvm::Value* load_panel(llvm::IRBuilder<>& builder, PanelShape shape, llvm::Value* from,
                        long row_bytes);

void store_panel(llvm::IRBuilder<>& builder, PanelShape shape, llvm::Value* panel, llvm::Value* to,
                 long row_bytes);

/// The factors of a product: panels of bytes, with a sign or without, of bf16 or of f16.
struct PanelFactors {
  llvm::Value *data, *weights;
  Element data_type, weight_type;
  long depth;  ///< bytes of a row of the data
};

/// Returns the sums and what a product adds to them.
llvm::Value* add_panels(llvm::IRBuilder<>& builder, PanelShape sums_shape,
                        const PanelFactors& factors, llvm::Value* sums);

}  // namespace lathe
