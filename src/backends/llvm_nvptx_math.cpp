// llvm_nvptx_math.cpp: functions of f64, as polynomials. Interface: llvm_nvptx_math.h.
//
// Each maps its argument to a short range by an identity, and sums a series there. All cases are
// computed and one is chosen: threads of a warp would wait for each other anyway.
#include "backends/llvm_nvptx_math.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <vector>

#include "base/error.h"

namespace lathe {
namespace {

using llvm::Value;
namespace intrinsics = llvm::Intrinsic;

constexpr double half_pi = std::numbers::pi / 2;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr long exponent_bias = 1023, mantissa_bits = 52;

/// ln(2) in two parts: a multiple of the first by a whole number below 2048 is exact.
constexpr double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;

/// pi/2 in three parts, each the nearest f64 to what is left.
constexpr double half_pi_parts[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54,
                                    -0x1.f1976b7ed8fbcp-110};

/// Writes formulas of f64.
class Formulas {
 public:
  explicit Formulas(llvm::IRBuilder<>& builder) : b_(builder) {}

  Value* exponential(Value* x) {
    // Beyond these the result is infinite, or 0; NaN goes through.
    Value* bounded = smaller(larger(x, -746), 710);
    Value* n = call(intrinsics::rint, {b_.CreateFMul(bounded, real(std::numbers::log2e))});
    Value* rest = fma(n, real(-ln2_low), fma(n, real(-ln2_high), bounded));
    std::vector<double> series;
    for (int k = 13; k >= 0; --k) series.push_back(1 / std::tgamma(k + 1.0));
    Value* whole = b_.CreateFPToSI(b_.CreateSelect(is_nan(x), real(0), n), b_.getInt64Ty());
    // 2 to the n in two steps, as n itself may be beyond the exponents.
    Value* half = b_.CreateAShr(whole, 1);
    Value* result = polynomial(rest, series);
    for (Value* part : {half, b_.CreateSub(whole, half)}) {
      result = b_.CreateFMul(result, power_of_two(part));
    }
    return b_.CreateSelect(is_nan(x), x, result);
  }

  /// x = 2^n m, with m between the roots of 1/2 and 2; then from the series of artanh.
  Value* logarithm(Value* x) {
    constexpr double scale = 0x1p54;  // makes the smallest numbers ordinary ones
    Value* small = b_.CreateFCmpOLT(x, real(0x1p-1022));
    Value* scaled = b_.CreateSelect(small, b_.CreateFMul(x, real(scale)), x);
    Value* bits = b_.CreateBitCast(scaled, b_.getInt64Ty());
    constexpr uint64_t root_of_half = 0x3fe6a09e667f3bcd;
    Value* n = b_.CreateAShr(b_.CreateSub(bits, b_.getInt64(root_of_half)), mantissa_bits);
    Value* m =
        b_.CreateBitCast(b_.CreateSub(bits, b_.CreateShl(n, mantissa_bits)), b_.getDoubleTy());
    Value* power = b_.CreateFAdd(b_.CreateSIToFP(n, b_.getDoubleTy()),
                                 b_.CreateSelect(small, real(-54), real(0)));
    Value* f = b_.CreateFSub(m, real(1));
    Value* s = b_.CreateFDiv(f, b_.CreateFAdd(m, real(1)));
    Value* square = b_.CreateFMul(s, s);
    std::vector<double> series;
    for (int k = 12; k >= 1; --k) series.push_back(2.0 / (2 * k + 1));
    Value* more = b_.CreateFMul(b_.CreateFMul(s, square), polynomial(square, series));
    more = fma(power, real(ln2_low), more);
    Value* result = b_.CreateFAdd(fma(power, real(ln2_high), b_.CreateFMul(s, real(2))), more);
    result = b_.CreateSelect(b_.CreateFCmpOEQ(x, real(infinity)), x, result);
    result = b_.CreateSelect(b_.CreateFCmpOEQ(x, real(0)), real(-infinity), result);
    return b_.CreateSelect(b_.CreateFCmpULT(x, real(0)), nan(), result);
  }

  Value* power(Value* x, Value* y) {
    Value* size = call(intrinsics::fabs, {x});
    Value* result = exponential(b_.CreateFMul(y, logarithm(size)));
    Value* whole = b_.CreateFCmpOEQ(call(intrinsics::floor, {y}), y);
    Value* half = b_.CreateFMul(y, real(0.5));
    Value* odd = b_.CreateAnd(whole, b_.CreateFCmpONE(call(intrinsics::floor, {half}), half));
    Value* negative = b_.CreateICmpSLT(b_.CreateBitCast(x, b_.getInt64Ty()), b_.getInt64(0));
    Value* turned = b_.CreateSelect(b_.CreateAnd(negative, odd), b_.CreateFNeg(result), result);
    Value* below = b_.CreateFCmpOLT(x, real(0));
    Value* finite = b_.CreateFCmpONE(size, real(infinity));
    Value* none = b_.CreateAnd(b_.CreateAnd(below, finite), b_.CreateNot(whole));
    turned = b_.CreateSelect(none, nan(), turned);
    Value* endless = b_.CreateFCmpOEQ(call(intrinsics::fabs, {y}), real(infinity));
    Value* one = b_.CreateAnd(b_.CreateFCmpOEQ(size, real(1)),
                              b_.CreateOr(b_.CreateFCmpOEQ(x, real(1)), endless));
    one = b_.CreateOr(one, b_.CreateFCmpOEQ(y, real(0)));
    return b_.CreateSelect(one, real(1), turned);
  }

  /// Sine and cosine of what is left of quarter turns; "quarters" more of them are asked for.
  Value* sine(Value* x, long quarters) {
    Value* n = call(intrinsics::rint, {b_.CreateFMul(x, real(1 / half_pi))});
    Value* rest = x;
    for (double part : half_pi_parts) rest = fma(n, real(-part), rest);
    Value* square = b_.CreateFMul(rest, rest);
    std::vector<double> odd, even;
    for (int k = 8; k >= 0; --k) {
      double sign = k % 2 == 0 ? 1 : -1;
      odd.push_back(sign / std::tgamma(2 * k + 2.0));
      even.push_back(sign / std::tgamma(2 * k + 1.0));
    }
    Value *sin = b_.CreateFMul(rest, polynomial(square, odd)), *cos = polynomial(square, even);
    Value* whole = b_.CreateIntrinsic(intrinsics::fptosi_sat, {b_.getInt64Ty(), n->getType()}, {n});
    Value* turn = b_.CreateAdd(whole, b_.getInt64(static_cast<uint64_t>(quarters)));
    auto bit = [&](uint64_t mask) {
      return b_.CreateICmpNE(b_.CreateAnd(turn, b_.getInt64(mask)), b_.getInt64(0));
    };
    Value* result = b_.CreateSelect(bit(1), cos, sin);
    return b_.CreateSelect(bit(2), b_.CreateFNeg(result), result);
  }

  /// Beyond 1 from the inverse; then the angle is halved twice.
  Value* arc_tangent(Value* x) {
    Value* size = call(intrinsics::fabs, {x});
    Value* large = b_.CreateFCmpOGT(size, real(1));
    Value* t = b_.CreateSelect(large, b_.CreateFDiv(real(1), size), size);
    for (int halving = 0; halving < 2; ++halving) {
      Value* root = call(intrinsics::sqrt, {fma(t, t, real(1))});
      t = b_.CreateFDiv(t, b_.CreateFAdd(root, real(1)));
    }
    Value* square = b_.CreateFMul(t, t);
    std::vector<double> series;
    for (int k = 12; k >= 0; --k) series.push_back((k % 2 == 0 ? 4.0 : -4.0) / (2 * k + 1));
    Value* result = b_.CreateFMul(t, polynomial(square, series));
    result = b_.CreateSelect(large, b_.CreateFSub(real(half_pi), result), result);
    return call(intrinsics::copysign, {result, x});
  }

  Value* arc_sine(Value* x) {
    Value* rest = b_.CreateFMul(b_.CreateFSub(real(1), x), b_.CreateFAdd(real(1), x));
    return arc_tangent(b_.CreateFDiv(x, call(intrinsics::sqrt, {rest})));
  }

  Value* arc_cosine(Value* x) {
    Value* ratio = b_.CreateFDiv(b_.CreateFSub(real(1), x), b_.CreateFAdd(real(1), x));
    return b_.CreateFMul(real(2), arc_tangent(call(intrinsics::sqrt, {ratio})));
  }

  /// From the exponential; near 0, where that would cancel, from the series.
  Value* hyperbolic_tangent(Value* x) {
    Value* e = exponential(b_.CreateFMul(x, real(2)));
    Value* far = b_.CreateFSub(real(1), b_.CreateFDiv(real(2), b_.CreateFAdd(e, real(1))));
    Value* square = b_.CreateFMul(x, x);
    Value* near = b_.CreateFMul(
        x, polynomial(square, {6404582.0 / 10854718875, -929569.0 / 638512875, 21844.0 / 6081075,
                               -1382.0 / 155925, 62.0 / 2835, -17.0 / 315, 2.0 / 15, -1.0 / 3, 1}));
    Value* small = b_.CreateFCmpOLT(call(intrinsics::fabs, {x}), real(0.125));
    return b_.CreateSelect(small, near, far);
  }

  /// Up to 3 the series  exp(-x²) (1 + 2x²/3 (1 + 2x²/5 (...))), whose terms have one sign; beyond,
  /// 1 less the continued fraction of the complement.
  Value* error_function(Value* x) {
    constexpr double limit = 3;
    constexpr int terms = 60, levels = 24;
    const double scale = 2 / std::sqrt(std::numbers::pi);
    Value* size = smaller(call(intrinsics::fabs, {x}), 6);
    Value* square = b_.CreateFMul(size, size);
    Value* e = exponential(b_.CreateFNeg(square));
    Value* sum = real(1);
    for (int k = terms; k >= 1; --k) {
      sum = fma(b_.CreateFMul(square, real(2.0 / (2 * k + 1))), sum, real(1));
    }
    Value* near = b_.CreateFMul(b_.CreateFMul(b_.CreateFMul(real(scale), size), e), sum);
    Value* fraction = size;
    for (int k = levels; k >= 1; --k) {
      fraction = b_.CreateFAdd(size, b_.CreateFDiv(real(k / 2.0), fraction));
    }
    Value* rest = b_.CreateFDiv(b_.CreateFMul(e, real(scale / 2)), fraction);
    Value* far = b_.CreateFSub(real(1), rest);
    Value* result = b_.CreateSelect(b_.CreateFCmpOLT(size, real(limit)), near, far);
    result = call(intrinsics::copysign, {result, x});
    return b_.CreateSelect(is_nan(x), x, result);
  }

  /// Long division: the divisor is doubled until it is larger than half of the rest, then halved
  /// again; what is subtracted on the way leaves no error.
  Value* remainder(Value* x, Value* y) {
    Value *size = call(intrinsics::fabs, {x}), *by = call(intrinsics::fabs, {y});
    Value* none =
        b_.CreateOr(b_.CreateFCmpUEQ(size, real(infinity)), b_.CreateFCmpUEQ(by, real(0)));
    none = b_.CreateOr(none, is_nan(y));
    Value* done = b_.CreateOr(none, b_.CreateFCmpOLT(size, by));
    Value *from = b_.CreateSelect(done, real(0), size), *unit = b_.CreateSelect(done, real(1), by);

    llvm::BasicBlock* begin = b_.GetInsertBlock();
    auto block = [&](const char* name) {
      return llvm::BasicBlock::Create(b_.getContext(), name, begin->getParent());
    };
    llvm::BasicBlock *up = block("up"), *down = block("down"), *end = block("end");
    b_.CreateBr(up);
    b_.SetInsertPoint(up);
    llvm::PHINode* grown = b_.CreatePHI(b_.getDoubleTy(), 2);
    Value* more = b_.CreateFCmpOLE(grown, b_.CreateFMul(from, real(0.5)));
    grown->addIncoming(unit, begin);
    grown->addIncoming(b_.CreateFMul(grown, real(2)), up);
    b_.CreateCondBr(more, up, down);

    b_.SetInsertPoint(down);
    llvm::PHINode *rest = b_.CreatePHI(b_.getDoubleTy(), 2),
                  *step = b_.CreatePHI(b_.getDoubleTy(), 2);
    Value* fits = b_.CreateFCmpOGE(rest, step);
    Value* left = b_.CreateSelect(fits, b_.CreateFSub(rest, step), rest);
    Value* last = b_.CreateFCmpOLE(step, unit);
    rest->addIncoming(from, up);
    rest->addIncoming(left, down);
    step->addIncoming(grown, up);
    step->addIncoming(b_.CreateFMul(step, real(0.5)), down);
    b_.CreateCondBr(last, end, down);

    b_.SetInsertPoint(end);
    Value* result = b_.CreateSelect(b_.CreateFCmpOLT(size, by), size, left);
    result = call(intrinsics::copysign, {result, x});
    return b_.CreateSelect(none, nan(), result);
  }

  Value* quotient(Value* a, Value* b) { return b_.CreateFDiv(a, b); }

 private:
  llvm::IRBuilder<>& b_;

  Value* real(double value) { return llvm::ConstantFP::get(b_.getDoubleTy(), value); }
  Value* nan() { return llvm::ConstantFP::getNaN(b_.getDoubleTy()); }
  Value* is_nan(Value* x) { return b_.CreateFCmpUNO(x, x); }
  Value* call(intrinsics::ID id, const std::vector<Value*>& args) {
    return b_.CreateIntrinsic(b_.getDoubleTy(), id, args);
  }
  Value* fma(Value* a, Value* b, Value* c) { return call(intrinsics::fma, {a, b, c}); }
  /// These let NaN through.
  Value* larger(Value* x, double bound) {
    return b_.CreateSelect(b_.CreateFCmpOLT(x, real(bound)), real(bound), x);
  }
  Value* smaller(Value* x, double bound) {
    return b_.CreateSelect(b_.CreateFCmpOGT(x, real(bound)), real(bound), x);
  }

  Value* power_of_two(Value* n) {
    Value* bits = b_.CreateShl(b_.CreateAdd(n, b_.getInt64(exponent_bias)), mantissa_bits);
    return b_.CreateBitCast(bits, b_.getDoubleTy());
  }

  /// From the coefficient of the highest power to that of the lowest.
  Value* polynomial(Value* x, const std::vector<double>& coefficients) {
    Value* sum = nullptr;
    for (double c : coefficients) sum = sum == nullptr ? real(c) : fma(sum, x, real(c));
    return sum;
  }
};

using Formula = std::function<Value*(Formulas&, Value*, Value*)>;

const std::map<std::string, Formula>& formulas() {
  static const std::map<std::string, Formula> all = {
      {"exp", [](Formulas& f, Value* x, Value*) { return f.exponential(x); }},
      {"log", [](Formulas& f, Value* x, Value*) { return f.logarithm(x); }},
      {"pow", [](Formulas& f, Value* x, Value* y) { return f.power(x, y); }},
      {"sin", [](Formulas& f, Value* x, Value*) { return f.sine(x, 0); }},
      {"cos", [](Formulas& f, Value* x, Value*) { return f.sine(x, 1); }},
      {"tan", [](Formulas& f, Value* x, Value*) { return f.quotient(f.sine(x, 0), f.sine(x, 1)); }},
      {"asin", [](Formulas& f, Value* x, Value*) { return f.arc_sine(x); }},
      {"acos", [](Formulas& f, Value* x, Value*) { return f.arc_cosine(x); }},
      {"atan", [](Formulas& f, Value* x, Value*) { return f.arc_tangent(x); }},
      {"tanh", [](Formulas& f, Value* x, Value*) { return f.hyperbolic_tangent(x); }},
      {"erf", [](Formulas& f, Value* x, Value*) { return f.error_function(x); }},
      {"fmod", [](Formulas& f, Value* x, Value* y) { return f.remainder(x, y); }},
  };
  return all;
}

}  // namespace

llvm::Function* nvptx_function(llvm::Module& module, const std::string& name) {
  std::string symbol = "lathe_" + name;
  if (llvm::Function* there = module.getFunction(symbol)) return there;
  auto formula = formulas().find(name);
  check(formula != formulas().end(), "GPUs have the functions of expressions");
  llvm::Type* type = llvm::Type::getDoubleTy(module.getContext());
  std::vector<llvm::Type*> arguments(name == "pow" || name == "fmod" ? 2 : 1, type);
  auto* function = llvm::Function::Create(llvm::FunctionType::get(type, arguments, false),
                                          llvm::Function::InternalLinkage, symbol, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "entry", function));
  Formulas formulas_of(builder);
  Value* second = arguments.size() > 1 ? function->getArg(1) : nullptr;
  builder.CreateRet(formula->second(formulas_of, function->getArg(0), second));
  return function;
}

}  // namespace lathe
