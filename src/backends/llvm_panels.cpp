// llvm_panels.cpp: AMX as LLVM's intrinsics. Interface: llvm_panels.h.
#include "backends/llvm_panels.h"

#include <llvm/IR/IntrinsicsX86.h>

namespace lathe {
namespace {

using llvm::Value;

Value* size_of_panel(llvm::IRBuilder<>& builder, long size) {
  return builder.getInt16(static_cast<uint16_t>(size));
}

Value* distance(llvm::IRBuilder<>& builder, long bytes) {
  return builder.getInt64(static_cast<uint64_t>(bytes));
}

}  // namespace

Value* load_panel(llvm::IRBuilder<>& builder, PanelShape shape, Value* from, long row_bytes) {
  return builder.CreateIntrinsic(
      llvm::Intrinsic::x86_tileloadd64_internal, {},
      {size_of_panel(builder, shape.rows), size_of_panel(builder, shape.bytes), from,
       distance(builder, row_bytes)});
}

void store_panel(llvm::IRBuilder<>& builder, PanelShape shape, Value* panel, Value* to,
                 long row_bytes) {
  builder.CreateIntrinsic(llvm::Intrinsic::x86_tilestored64_internal, {},
                          {size_of_panel(builder, shape.rows), size_of_panel(builder, shape.bytes),
                           to, distance(builder, row_bytes), panel});
}

Value* add_panels(llvm::IRBuilder<>& builder, PanelShape sums_shape, const PanelFactors& factors,
                  Value* sums) {
  namespace intrinsics = llvm::Intrinsic;
  bool data_signed = factors.data_type == Element::i8;
  bool weights_signed = factors.weight_type == Element::i8;
  intrinsics::ID id =
      data_signed
          ? (weights_signed ? intrinsics::x86_tdpbssd_internal : intrinsics::x86_tdpbsud_internal)
          : (weights_signed ? intrinsics::x86_tdpbusd_internal : intrinsics::x86_tdpbuud_internal);
  return builder.CreateIntrinsic(
      id, {},
      {size_of_panel(builder, sums_shape.rows), size_of_panel(builder, sums_shape.bytes),
       size_of_panel(builder, factors.depth), sums, factors.data, factors.weights});
}

}  // namespace lathe
