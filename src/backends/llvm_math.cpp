// llvm_math.cpp: the functions of expressions. Interface: llvm_math.h; conversions of numbers are
// in llvm_convert.cpp. The interpreter's evaluate() (nest/expr.cpp) says what each function means.
#include "backends/llvm_math.h"

#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/llvm_nvptx_math.h"
#include "base/error.h"

namespace lathe {

using llvm::Value;
using llvm::Intrinsic::ID;
namespace intrinsics = llvm::Intrinsic;

llvm::Type* LlvmMath::type() {
  // Memory of bf16 is read as integers; what dot products take are floats.
  return number_ == Number::bf16 ? builder_.getBFloatTy() : memory_type(number_);
}

llvm::Type* LlvmMath::like(llvm::Type* scalar, Value* value) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector == nullptr ? scalar
                           : static_cast<llvm::Type*>(
                                 llvm::FixedVectorType::get(scalar, vector->getNumElements()));
}

Value* LlvmMath::number(double value) {
  if (is_float(number_)) return llvm::ConstantFP::get(type(), value);
  long whole = std::isinf(value) ? (value < 0 ? std::numeric_limits<long>::lowest()
                                              : std::numeric_limits<long>::max())
                                 : static_cast<long>(value);
  return llvm::ConstantInt::getSigned(type(),
                                      number_ == Number::i32 ? static_cast<int>(whole) : whole);
}

Value* LlvmMath::widened(Value* value, long lanes) {
  if (lanes == 1 || value->getType()->isVectorTy()) return value;
  return builder_.CreateVectorSplat(static_cast<unsigned>(lanes), value);
}

Value* LlvmMath::same(double value, Value* like_this) {
  return llvm::ConstantFP::get(like_this->getType(), value);
}

Value* LlvmMath::integer_same(long value, Value* like_this) {
  return llvm::ConstantInt::getSigned(like_this->getType(), value);
}

Value* LlvmMath::truth(Value* condition) {
  if (!is_float(number_)) return builder_.CreateZExt(condition, like(type(), condition));
  return builder_.CreateUIToFP(condition, like(type(), condition));
}

Value* LlvmMath::intrinsic(unsigned id, const std::vector<Value*>& args) {
  return builder_.CreateIntrinsic(args[0]->getType(), static_cast<ID>(id), args);
}

/// Calls a function of the C library on one lane. A GPU has none: there it is one of ours, on f64.
Value* LlvmMath::called(const char* name, std::vector<Value*> args) {
  if (architecture_ == Architecture::nvptx) {
    for (Value*& a : args) a = builder_.CreateFPCast(a, builder_.getDoubleTy());
    return builder_.CreateFPCast(builder_.CreateCall(nvptx_function(module_, name), args), type());
  }
  std::string symbol = number_ == Number::f32 ? std::string(name) + "f" : name;
  std::vector<llvm::Type*> types(args.size(), type());
  llvm::FunctionCallee function =
      module_.getOrInsertFunction(symbol, llvm::FunctionType::get(type(), types, false));
  return builder_.CreateCall(function, args);
}

/// Calls a function of the C library, lane by lane.
Value* LlvmMath::library(const char* name, const std::vector<Value*>& args) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(args[0]->getType());
  if (vector == nullptr) return called(name, args);
  Value* result = llvm::PoisonValue::get(vector);
  for (uint64_t k = 0; k < vector->getNumElements(); ++k) {
    std::vector<Value*> one;
    for (Value* a : args) one.push_back(builder_.CreateExtractElement(a, k));
    result = builder_.CreateInsertElement(result, called(name, one), k);
  }
  return result;
}

/// Returns a value, or NaN where "b" is that. x86-64 chooses between two by one comparison, which
/// sees NaN only in the first of them; a constant is none. The others have an instruction.
Value* LlvmMath::unless_nan(Value* b, Value* value) {
  if (llvm::isa<llvm::Constant>(b)) return value;
  return builder_.CreateSelect(builder_.CreateFCmpUNO(b, b), b, value);
}

Value* LlvmMath::maximum(Value* a, Value* b) {
  if (!is_float(number_)) return builder_.CreateSelect(builder_.CreateICmpSLT(a, b), b, a);
  if (architecture_ != Architecture::x86_64) return intrinsic(intrinsics::maximum, {a, b});
  if (llvm::isa<llvm::Constant>(a)) std::swap(a, b);
  Value* greater = unless_nan(b, builder_.CreateSelect(builder_.CreateFCmpOLT(a, b), b, a));
  return bounded(Expr::Op::max, a, b, greater);
}

Value* LlvmMath::minimum(Value* a, Value* b) {
  if (!is_float(number_)) return builder_.CreateSelect(builder_.CreateICmpSLT(b, a), b, a);
  if (architecture_ != Architecture::x86_64) return intrinsic(intrinsics::minimum, {a, b});
  if (llvm::isa<llvm::Constant>(a)) std::swap(a, b);
  Value* smaller = unless_nan(b, builder_.CreateSelect(builder_.CreateFCmpOLT(b, a), b, a));
  return bounded(Expr::Op::min, a, b, smaller);
}

Value* LlvmMath::bounded(Expr::Op op, Value* value, Value* constant, Value* result) {
  auto* whole = llvm::dyn_cast<llvm::Constant>(constant);
  if (whole != nullptr && whole->getType()->isVectorTy()) whole = whole->getSplatValue();
  auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(whole);
  if (number == nullptr || llvm::isa<llvm::Constant>(result)) return result;
  double bound = number->getValueAPF().convertToDouble();
  Bounds bounds = bounds_.lookup(value);
  auto compared = [&](double old) {
    return op == Expr::Op::max ? std::max(old, bound) : std::min(old, bound);
  };
  bounds_[result] = {compared(bounds.low), compared(bounds.high)};
  return result;
}

Value* LlvmMath::fma(Value* a, Value* b, Value* c) {
  if (!is_float(number_)) return builder_.CreateAdd(builder_.CreateMul(a, b), c);
  return intrinsic(intrinsics::fma, {a, b, c});
}

Value* LlvmMath::dot(Value* a, Value* b, Value* sums, Number factors) {
  if (architecture_ == Architecture::aarch64) {
    ID id = factors == Number::bf16 ? intrinsics::aarch64_neon_bfdot
            : factors == Number::u8 ? intrinsics::aarch64_neon_udot
                                    : intrinsics::aarch64_neon_sdot;
    return builder_.CreateIntrinsic(id, {sums->getType(), a->getType()}, {sums, a, b});
  }
  constexpr unsigned half_register = 8, quarter = 4;  // sums
  unsigned lanes = llvm::cast<llvm::FixedVectorType>(sums->getType())->getNumElements();
  if (factors == Number::bf16) {
    ID id = lanes == quarter         ? intrinsics::x86_avx512bf16_dpbf16ps_128
            : lanes == half_register ? intrinsics::x86_avx512bf16_dpbf16ps_256
                                     : intrinsics::x86_avx512bf16_dpbf16ps_512;
    return builder_.CreateIntrinsic(id, {}, {sums, a, b});
  }
  // Data without a sign come first, weights with one second, both as words.
  Value *data = builder_.CreateBitCast(b, sums->getType()),
        *weights = builder_.CreateBitCast(a, sums->getType());
  ID id = lanes == quarter         ? intrinsics::x86_avx512_vpdpbusd_128
          : lanes == half_register ? intrinsics::x86_avx512_vpdpbusd_256
                                   : intrinsics::x86_avx512_vpdpbusd_512;
  return builder_.CreateIntrinsic(id, {}, {sums, data, weights});
}

Value* LlvmMath::sum(Value* lanes) {
  if (!is_float(number_)) return builder_.CreateAddReduce(lanes);
  llvm::FastMathFlags flags = builder_.getFastMathFlags(), loose = flags;
  loose.setAllowReassoc(true);
  builder_.setFastMathFlags(loose);
  Value* result = builder_.CreateFAddReduce(llvm::ConstantFP::get(type(), -0.0), lanes);
  builder_.setFastMathFlags(flags);
  return result;
}

Value* LlvmMath::greatest(Value* lanes) {
  auto* vector = llvm::cast<llvm::FixedVectorType>(lanes->getType());
  Value* result = builder_.CreateExtractElement(lanes, uint64_t{0});
  for (uint64_t k = 1; k < vector->getNumElements(); ++k) {
    result = maximum(result, builder_.CreateExtractElement(lanes, k));
  }
  return result;
}

/// e to the x in single precision: 2 to the n times the series of the rest, which is at most
/// ln(2)/2. Seven terms leave an error below one unit in the last place.
Value* LlvmMath::exponential(Value* x) {
  if (number_ != Number::f32) {
    if (architecture_ == Architecture::nvptx) return library("exp", {x});
    return intrinsic(intrinsics::exp, {x});
  }
  // Beyond these the result is infinite, or 0; NaN goes through.
  Value* bounded = minimum(maximum(x, same(-104, x)), same(89, x));
  Value* n =
      intrinsic(intrinsics::rint, {builder_.CreateFMul(bounded, same(1.4426950408889634, x))});
  // ln(2) in two parts, the first with few bits: n times it is exact.
  Value* rest = fma(n, same(-0.693145751953125, x), bounded);
  rest = fma(n, same(-1.42860682030941723e-6, x), rest);
  Value* sum = same(1.0 / 5040, x);
  for (double factorial : {720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0}) {
    sum = fma(sum, rest, same(1 / factorial, x));
  }
  // 2 to the n in two steps, as n itself may be beyond the exponents.
  llvm::Type* whole = like(builder_.getInt32Ty(), x);
  Value* exponent = builder_.CreateFPToSI(n, whole);
  exponent =
      builder_.CreateSelect(builder_.CreateFCmpUNO(x, x), integer_same(0, exponent), exponent);
  Value* half = builder_.CreateAShr(exponent, integer_same(1, exponent));
  Value* others = builder_.CreateSub(exponent, half);
  for (Value* part : {half, others}) {
    Value* bits = builder_.CreateShl(builder_.CreateAdd(part, integer_same(127, part)),
                                     integer_same(23, part));
    sum = builder_.CreateFMul(sum, builder_.CreateBitCast(bits, x->getType()));
  }
  return sum;
}

/// From the exponential; near 0, where that would cancel, from the series.
Value* LlvmMath::hyperbolic_tangent(Value* x) {
  if (number_ != Number::f32) return library("tanh", {x});
  Value* e = exponential(builder_.CreateFMul(x, same(2, x)));
  Value* one = same(1, x);
  Value* far =
      builder_.CreateFSub(one, builder_.CreateFDiv(same(2, x), builder_.CreateFAdd(e, one)));
  Value* square = builder_.CreateFMul(x, x);
  Value* series = fma(square, same(-17.0 / 315, x), same(2.0 / 15, x));
  series = fma(square, series, same(-1.0 / 3, x));
  Value* near = fma(builder_.CreateFMul(builder_.CreateFMul(x, square), one), series, x);
  Value* small = builder_.CreateFCmpOLT(intrinsic(intrinsics::fabs, {x}), same(0.125, x));
  return builder_.CreateSelect(small, near, far);
}

/// Returns a polynomial of x, from the coefficient of the highest power to that of the lowest.
Value* LlvmMath::polynomial(Value* x, std::initializer_list<double> coefficients) {
  Value* sum = nullptr;
  for (double c : coefficients) sum = sum == nullptr ? same(c, x) : fma(sum, x, same(c, x));
  return sum;
}

/// The error function in single precision, within three units in the last place: up to 1, x times a
/// polynomial of its square; beyond, 1 less e to a polynomial, which stands for the logarithm of
/// the complement; from 4 on it is 1. Both polynomials interpolate at Chebyshev's points.
Value* LlvmMath::error_function(Value* x) {
  if (number_ != Number::f32) return library("erf", {x});
  Value* size = intrinsic(intrinsics::fabs, {x});
  Value* square = builder_.CreateFMul(x, x);
  Value* near = builder_.CreateFMul(
      x, polynomial(square, {7.87587508e-05, -0.000801686429, 0.00518908742, -0.026854212,
                             0.112835947, -0.376126267, 1.12837917}));
  Value* logarithm = polynomial(minimum(size, same(4, x)),
                                {-1.32723618e-05, 0.000316937022, -0.00343235138, 0.0226047722,
                                 -0.103281118, -0.639141258, -1.12589365, -0.000765897782});
  Value* far = builder_.CreateFSub(same(1, x), exponential(logarithm));
  far = intrinsic(intrinsics::copysign, {far, x});
  return builder_.CreateSelect(builder_.CreateFCmpOLE(size, same(1, x)), near, far);
}

Value* LlvmMath::apply_reals(Expr::Op op, const std::vector<Value*>& a) {
  using Op = Expr::Op;
  switch (op) {
    case Op::neg:
      return builder_.CreateFNeg(a[0]);
    case Op::add:
      return builder_.CreateFAdd(a[0], a[1]);
    case Op::sub:
      return builder_.CreateFSub(a[0], a[1]);
    case Op::mul:
      return builder_.CreateFMul(a[0], a[1]);
    case Op::div:
      return builder_.CreateFDiv(a[0], a[1]);
    case Op::rem:
      return library("fmod", a);
    case Op::mod: {
      Value* rest = library("fmod", a);
      Value* zero = same(0, rest);
      Value* signs = builder_.CreateXor(builder_.CreateFCmpOLT(rest, zero),
                                        builder_.CreateFCmpOLT(a[1], zero));
      Value* wrong = builder_.CreateAnd(builder_.CreateFCmpONE(rest, zero), signs);
      return builder_.CreateSelect(wrong, builder_.CreateFAdd(rest, a[1]), rest);
    }
    case Op::abs:
      return intrinsic(intrinsics::fabs, a);
    case Op::floor:
      return intrinsic(intrinsics::floor, a);
    case Op::ceil:
      return intrinsic(intrinsics::ceil, a);
    case Op::round: {
      Value* whole = intrinsic(intrinsics::rint, a);
      auto bounds = bounds_.find(a[0]);
      if (bounds == bounds_.end()) return whole;
      auto [low, high] = bounds->second;
      bounds_[whole] = {std::nearbyint(low), std::nearbyint(high)};
      return whole;
    }
    case Op::single:
      if (number_ == Number::f32) return a[0];
      return builder_.CreateFPExt(builder_.CreateFPTrunc(a[0], like(builder_.getFloatTy(), a[0])),
                                  a[0]->getType());
    case Op::sqrt:
      return intrinsic(intrinsics::sqrt, a);
    case Op::exp:
      return exponential(a[0]);
    case Op::tanh:
      return hyperbolic_tangent(a[0]);
    case Op::erf:
      return error_function(a[0]);
    case Op::log:
    case Op::pow:
    case Op::sin:
    case Op::cos:
    case Op::tan:
    case Op::asin:
    case Op::acos:
    case Op::atan:
      return library(std::string(function_of(op).name).c_str(), a);
    default:
      fail("'{}' has no value on floats", function_of(op).name);
  }
}

/// A division takes as long as ten products. The reciprocal of a divisor that all lanes share is
/// divided for once, and two corrections make of each product the quotient: the second rounds it
/// as division does if the first is off by one unit at most (Markstein 1990), which it is as long
/// as nothing under- or overflows. Where there is nothing to correct, because the product is
/// infinite or no number, it is the quotient.
Value* LlvmMath::divided_by_one(Value* x, Value* y, Value* reciprocal) {
  Value* product = builder_.CreateFMul(x, reciprocal);
  Value* minus = builder_.CreateFNeg(y);
  Value* quotient = fma(fma(product, minus, x), reciprocal, product);
  Value* rest = fma(quotient, minus, x);
  Value* corrected = fma(rest, reciprocal, quotient);
  return builder_.CreateSelect(builder_.CreateFCmpORD(rest, rest), corrected, product);
}

/// Division never traps: by 0 it gives 0, and by -1 it negates.
Value* LlvmMath::divided(Expr::Op op, Value* x, Value* y) {
  Value *zero = integer_same(0, x), *one = integer_same(1, x);
  Value* by_zero = builder_.CreateICmpEQ(y, zero);
  Value* by_minus = builder_.CreateICmpEQ(y, integer_same(-1, x));
  Value* safe = builder_.CreateSelect(builder_.CreateOr(by_zero, by_minus), one, y);
  Value* result = nullptr;
  if (op == Expr::Op::div) {
    result = builder_.CreateSelect(by_minus, builder_.CreateNeg(x), builder_.CreateSDiv(x, safe));
  } else {
    result = builder_.CreateSRem(x, safe);
    if (op == Expr::Op::mod) {
      Value* moved = builder_.CreateAdd(result, safe);
      result = builder_.CreateSRem(moved, safe);
    }
    result = builder_.CreateSelect(by_minus, zero, result);
  }
  return builder_.CreateSelect(by_zero, zero, result);
}

/// Squares and multiplies, bit by bit of the exponent.
Value* LlvmMath::power(Value* base, Value* exponent) {
  Value *zero = integer_same(0, base), *one = integer_same(1, base);
  Value *result = one, *square = base;
  auto is_odd = [&](Value* bits) {
    return builder_.CreateICmpNE(builder_.CreateAnd(bits, one), zero);
  };
  for (long bit = 0; bit < 63; ++bit) {
    Value* set = is_odd(builder_.CreateLShr(exponent, integer_same(bit, base)));
    result = builder_.CreateSelect(set, builder_.CreateMul(result, square), result);
    square = builder_.CreateMul(square, square);
  }
  Value* minus = integer_same(-1, base);
  Value* sign = builder_.CreateSelect(is_odd(exponent), minus, one);
  Value* inverse =
      builder_.CreateSelect(builder_.CreateICmpEQ(base, one), one,
                            builder_.CreateSelect(builder_.CreateICmpEQ(base, minus), sign, zero));
  return builder_.CreateSelect(builder_.CreateICmpSLT(exponent, zero), inverse, result);
}

Value* LlvmMath::shifted(Value* value, Value* by) {
  Value *zero = integer_same(0, by), *limit = integer_same(64, by);
  Value* right = builder_.CreateNeg(by);
  auto bounded = [&](Value* amount) {
    Value* fits = builder_.CreateICmpULT(amount, limit);
    return std::pair(fits, builder_.CreateSelect(fits, amount, zero));
  };
  auto [left_fits, left_by] = bounded(by);
  auto [right_fits, right_by] = bounded(right);
  Value* to_left = builder_.CreateSelect(left_fits, builder_.CreateShl(value, left_by), zero);
  Value* to_right = builder_.CreateSelect(right_fits, builder_.CreateLShr(value, right_by), zero);
  return builder_.CreateSelect(builder_.CreateICmpSGE(by, zero), to_left, to_right);
}

Value* LlvmMath::apply_integers(Expr::Op op, const std::vector<Value*>& a) {
  using Op = Expr::Op;
  switch (op) {
    case Op::neg:
      return builder_.CreateNeg(a[0]);
    case Op::add:
      return builder_.CreateAdd(a[0], a[1]);
    case Op::sub:
      return builder_.CreateSub(a[0], a[1]);
    case Op::mul:
      return builder_.CreateMul(a[0], a[1]);
    case Op::div:
    case Op::mod:
    case Op::rem:
      return divided(op, a[0], a[1]);
    case Op::abs:
      return builder_.CreateSelect(builder_.CreateICmpSLT(a[0], integer_same(0, a[0])),
                                   builder_.CreateNeg(a[0]), a[0]);
    case Op::floor:
    case Op::ceil:
    case Op::round:
    case Op::single:
      return a[0];
    case Op::pow:
      return power(a[0], a[1]);
    case Op::bit_and:
      return builder_.CreateAnd(a[0], a[1]);
    case Op::bit_or:
      return builder_.CreateOr(a[0], a[1]);
    case Op::bit_xor:
      return builder_.CreateXor(a[0], a[1]);
    case Op::shift:
      return shifted(a[0], a[1]);
    default:
      fail("'{}' has no value on integers", function_of(op).name);
  }
}

Value* LlvmMath::apply(Expr::Op op, const std::vector<Value*>& a) {
  using Op = Expr::Op;
  bool reals = is_float(number_);
  switch (op) {
    case Op::max:
      return maximum(a[0], a[1]);
    case Op::min:
      return minimum(a[0], a[1]);
    case Op::less:
      return truth(reals ? builder_.CreateFCmpOLT(a[0], a[1]) : builder_.CreateICmpSLT(a[0], a[1]));
    case Op::less_equal:
      return truth(reals ? builder_.CreateFCmpOLE(a[0], a[1]) : builder_.CreateICmpSLE(a[0], a[1]));
    case Op::equal:
      return truth(reals ? builder_.CreateFCmpOEQ(a[0], a[1]) : builder_.CreateICmpEQ(a[0], a[1]));
    case Op::select: {
      Value* zero = llvm::Constant::getNullValue(a[0]->getType());
      Value* chosen =
          reals ? builder_.CreateFCmpUNE(a[0], zero) : builder_.CreateICmpNE(a[0], zero);
      return builder_.CreateSelect(chosen, a[1], a[2]);
    }
    default:
      return reals ? apply_reals(op, a) : apply_integers(op, a);
  }
}

}  // namespace lathe
