// llvm_convert.cpp: numbers of one type in another, and in memory. Interface: llvm_math.h.
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <cmath>

#include "backends/llvm_math.h"
#include "base/error.h"

namespace lathe {

using llvm::Value;
namespace intrinsics = llvm::Intrinsic;

llvm::Type* LlvmMath::memory_type(Element element) {
  switch (element) {
    case Element::f16:
      return builder_.getHalfTy();
    case Element::f32:
    case Element::tf32:
      return builder_.getFloatTy();
    case Element::f64:
      return builder_.getDoubleTy();
    case Element::bf16:
      return builder_.getInt16Ty();
    case Element::string:
      fail("no nest computes on strings");
    default:
      return builder_.getIntNTy(static_cast<unsigned>(8 * size_of(element)));
  }
}

Value* LlvmMath::loaded(Value* value, Element element) {
  llvm::Type* to = like(type(), value);
  if (number_ == Number::bf16) return builder_.CreateBitCast(value, to);
  if (element == Element::bf16) {
    Value* wide = builder_.CreateZExt(value, like(builder_.getInt32Ty(), value));
    Value* bits = builder_.CreateShl(wide, integer_same(16, wide));
    value = builder_.CreateBitCast(bits, like(builder_.getFloatTy(), value));
  }
  if (is_float(element)) return builder_.CreateFPCast(value, to);
  bool is_signed = lowest_of(element) < 0;
  if (!is_float(number_)) return builder_.CreateIntCast(value, to, is_signed);
  return is_signed ? builder_.CreateSIToFP(value, to) : builder_.CreateUIToFP(value, to);
}

Value* LlvmMath::picked_elements(Value* index, const Instruction::Picked& along) {
  llvm::Type* whole = builder_.getInt64Ty();
  if (is_float(number_)) {
    index = whole_numbers(index, whole);
  }
  auto constant = [&](long value) { return builder_.getInt64(static_cast<uint64_t>(value)); };
  Value* from_end = builder_.CreateAdd(index, constant(along.extent));
  index = builder_.CreateSelect(builder_.CreateICmpSLT(index, constant(0)), from_end, index);
  index = builder_.CreateBinaryIntrinsic(intrinsics::smax, index, constant(0));
  index = builder_.CreateBinaryIntrinsic(intrinsics::smin, index, constant(along.extent - 1));
  const Layout::Axis& axis = along.axis;
  if (axis.block == 1) return builder_.CreateMul(index, constant(axis.outer));
  Value* outer = builder_.CreateUDiv(index, constant(axis.block));
  Value* inner = builder_.CreateURem(index, constant(axis.block));
  return builder_.CreateAdd(builder_.CreateMul(outer, constant(axis.outer)),
                            builder_.CreateMul(inner, constant(axis.inner)));
}

Value* LlvmMath::without_last_bits(Value* value, long count) {
  // To the nearest, half to even; what is no number stays so.
  Value* bits = builder_.CreateBitCast(value, like(builder_.getInt32Ty(), value));
  Value* odd = builder_.CreateAnd(builder_.CreateLShr(bits, integer_same(count, bits)),
                                  integer_same(1, bits));
  long half = 1L << (count - 1), mask = -(1L << count);
  Value* rounded = builder_.CreateAdd(bits, builder_.CreateAdd(odd, integer_same(half - 1, bits)));
  rounded = builder_.CreateAnd(rounded, integer_same(mask, bits));
  Value* none = builder_.CreateFCmpUNO(value, value);
  return builder_.CreateSelect(none, integer_same(0x7fc00000, bits), rounded);
}

Value* LlvmMath::stored(Value* value, Element element) {
  if (is_float(element)) {
    bool same = element == Element::f16 && number_ == Number::f16;
    if (element == Element::f64 || element == Element::f32 || same) {
      return builder_.CreateFPCast(value, like(memory_type(element), value));
    }
    Value* single = builder_.CreateFPCast(value, like(builder_.getFloatTy(), value));
    if (element == Element::f16)
      return builder_.CreateFPTrunc(single, like(builder_.getHalfTy(), value));
    constexpr long bits_lost_of_tf32 = 13, bits_lost_of_bf16 = 16;
    if (element == Element::tf32) {
      return builder_.CreateBitCast(without_last_bits(single, bits_lost_of_tf32),
                                    single->getType());
    }
    Value* rounded = without_last_bits(single, bits_lost_of_bf16);
    return builder_.CreateTrunc(
        builder_.CreateLShr(rounded, integer_same(bits_lost_of_bf16, rounded)),
        like(builder_.getInt16Ty(), value));
  }
  llvm::Type* to = like(memory_type(element), value);
  if (element == Element::boolean) {
    Value* zero = llvm::Constant::getNullValue(value->getType());
    Value* is_set = is_float(number_) ? builder_.CreateFCmpUNE(value, zero)
                                      : builder_.CreateICmpNE(value, zero);
    return builder_.CreateZExt(is_set, to);
  }
  if (is_float(number_)) {
    value = whole_numbers(value, like(builder_.getInt64Ty(), value));
  }
  return builder_.CreateIntCast(value, to, lowest_of(element) < 0);
}

Value* LlvmMath::converted(Value* value, Number from) {
  llvm::Type* to = like(type(), value);
  if (is_float(from) && is_float(number_)) return builder_.CreateFPCast(value, to);
  if (is_float(number_)) return builder_.CreateSIToFP(value, to);
  if (!is_float(from)) return builder_.CreateIntCast(value, to, true);
  return whole_numbers(value, to);
}

/// An instruction of x86-64 rounds to the nearest integer as it converts. It is for f32 and 32
/// bits.
Value* LlvmMath::rounded_at_once(Value* value) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(value);
  bool is_rounded = call != nullptr && call->getIntrinsicID() == intrinsics::rint;
  if (!is_rounded || !value->getType()->getScalarType()->isFloatTy()) return nullptr;
  constexpr double beyond = 2147483648;
  Bounds bounds = bounds_.lookup(value);
  if (bounds.low < -beyond || bounds.high >= beyond) return nullptr;
  constexpr unsigned quarter = 4, half = 8, whole = 16;  // lanes of registers
  Value *from = call->getArgOperand(0), *result = nullptr;
  Value* nothing = llvm::Constant::getNullValue(like(builder_.getInt32Ty(), from));
  switch (llvm::cast<llvm::FixedVectorType>(value->getType())->getNumElements()) {
    case quarter:
      result = builder_.CreateIntrinsic(intrinsics::x86_sse2_cvtps2dq, {}, {from});
      break;
    case half:
      result = builder_.CreateIntrinsic(intrinsics::x86_avx_cvt_ps2dq_256, {}, {from});
      break;
    case whole: {
      constexpr int as_ever = 4;  // it rounds as the others do
      result = builder_.CreateIntrinsic(
          intrinsics::x86_avx512_mask_cvtps2dq_512, {},
          {from, nothing, builder_.getInt16(0xffff), builder_.getInt32(as_ever)});
      break;
    }
    default:
      return nullptr;
  }
  return builder_.CreateSelect(builder_.CreateFCmpUNO(from, from), nothing, result);
}

Value* LlvmMath::whole_numbers(Value* value, llvm::Type* to) {
  if (architecture_ != Architecture::x86_64 || !value->getType()->isVectorTy()) {
    return builder_.CreateIntrinsic(intrinsics::fptosi_sat, {to, value->getType()}, {value});
  }
  // LLVM 19 takes such a conversion apart, lane by lane.
  if (value->getType()->getScalarType()->isHalfTy()) {
    value = builder_.CreateFPExt(value, like(builder_.getFloatTy(), value));
  }
  const llvm::fltSemantics& semantics = value->getType()->getScalarType()->getFltSemantics();
  unsigned bits = to->getScalarSizeInBits();
  llvm::APInt greatest = llvm::APInt::getSignedMaxValue(bits);
  auto real = [&](const llvm::APInt& whole) -> Value* {
    llvm::APFloat number(semantics);
    number.convertFromAPInt(whole, true, llvm::APFloat::rmTowardZero);
    return llvm::ConstantFP::get(value->getType(), number);
  };
  Value* none = builder_.CreateFCmpUNO(value, value);
  Value* nothing = llvm::Constant::getNullValue(to);
  // Numbers that small integers stand for were bounded already.
  Bounds bounds = bounds_.lookup(value);
  double beyond = std::ldexp(1, static_cast<int>(bits) - 1);
  if (bounds.low >= -beyond && bounds.high < beyond) {
    if (Value* whole = rounded_at_once(value)) return builder_.CreateSExtOrTrunc(whole, to);
    return builder_.CreateSelect(none, nothing, builder_.CreateFPToSI(value, to));
  }
  Value *low = real(llvm::APInt::getSignedMinValue(bits)), *high = real(greatest);
  Value* above = builder_.CreateFCmpOGT(value, high);
  Value* bounded = builder_.CreateSelect(builder_.CreateFCmpOGT(value, low), value, low);
  bounded = builder_.CreateSelect(builder_.CreateFCmpOLT(bounded, high), bounded, high);
  Value* result = builder_.CreateFPToSI(bounded, to);
  result = builder_.CreateSelect(above, llvm::ConstantInt::get(to, greatest), result);
  return builder_.CreateSelect(none, nothing, result);
}

}  // namespace lathe
