// Panels (codegen/panels.h) in the registers of x86-64's matrix unit, AMX. LLVM chooses registers,
// and sets up their shapes where a function begins.
#pragma once

#include <llvm/IR/IRBuilder.h>

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

/// Returns the sums and what a product adds to them: u8 data by i8 weights. A row of the data has
/// "depth" bytes.
llvm::Value* add_panels(llvm::IRBuilder<>& builder, PanelShape sums_shape, long depth,
                        llvm::Value* data, llvm::Value* weights, llvm::Value* sums);

}  // namespace lathe
