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

/// Returns the instruction that multiplies two panels.
llvm::Intrinsic::ID product_of(Element data, Element weights) {
  namespace intrinsics = llvm::Intrinsic;
  if (data == Element::bf16) return intrinsics::x86_tdpbf16ps_internal;
  if (data == Element::f16) return intrinsics::x86_tdpfp16ps_internal;
  bool is_signed = weights == Element::i8;
  if (data == Element::i8) {
    return is_signed ? intrinsics::x86_tdpbssd_internal : intrinsics::x86_tdpbsud_internal;
  }
  return is_signed ? intrinsics::x86_tdpbusd_internal : intrinsics::x86_tdpbuud_internal;
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
  return builder.CreateIntrinsic(
      product_of(factors.data_type, factors.weight_type), {},
      {size_of_panel(builder, sums_shape.rows), size_of_panel(builder, sums_shape.bytes),
       size_of_panel(builder, factors.depth), sums, factors.data, factors.weights});
}

}  // namespace lathe
