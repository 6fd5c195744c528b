// The functions of expressions, and the conversions of elements, in LLVM's language. Private to
// the folder.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/IRBuilder.h>

#include <limits>

#include "codegen/code.h"

namespace lathe {

class LlvmMath {
 public:
  LlvmMath(llvm::IRBuilder<>& builder, llvm::Module& module, Architecture architecture)
      : builder_(builder), module_(module), architecture_(architecture) {}

  /// Sets the type of all values from here on.
  void compute_in(Number number) { number_ = number; }

  /// Returns a number, or a value of one lane in so many.
  llvm::Value* number(double value);
  llvm::Value* widened(llvm::Value* value, long lanes);

  /// Returns the value of a function; all operands have the same lanes.
  llvm::Value* apply(Expr::Op op, const std::vector<llvm::Value*>& args);
  llvm::Value* fma(llvm::Value* a, llvm::Value* b, llvm::Value* c);
  /// Returns x / y for a vector of f32 whose lanes are all divided by one number, given 1 / y.
  llvm::Value* divided_by_one(llvm::Value* x, llvm::Value* y, llvm::Value* reciprocal);
  /// Adds sums of products to a register of sums: as many neighbours of "a" by those of "b" as have
  /// the bytes of a sum.
  llvm::Value* dot(llvm::Value* a, llvm::Value* b, llvm::Value* sums, Number factors);
  llvm::Value* sum(llvm::Value* lanes);
  llvm::Value* greatest(llvm::Value* lanes);

  /// Returns the type of an element in memory; converts what was loaded, and what is stored.
  llvm::Type* memory_type(Element element);
  llvm::Value* loaded(llvm::Value* value, Element element);
  /// Returns a value of another type in the one that is computed in.
  llvm::Value* converted(llvm::Value* value, Number from);
  llvm::Value* stored(llvm::Value* value, Element element);

  /// Returns by how many elements an index of one lane moves a load along a dimension.
  llvm::Value* picked_elements(llvm::Value* index, const Instruction::Picked& along);

 private:
  llvm::IRBuilder<>& builder_;
  llvm::Module& module_;
  Number number_ = Number::f32;
  Architecture architecture_;
  /// Between which numbers reals are that were compared with constants; NaN is between all.
  struct Bounds {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
  };
  llvm::DenseMap<llvm::Value*, Bounds> bounds_;

  /// Notes that the greater, or the smaller, of a value and a constant is "result".
  llvm::Value* bounded(Expr::Op op, llvm::Value* value, llvm::Value* constant, llvm::Value* result);
  llvm::Type* type();
  llvm::Type* like(llvm::Type* scalar, llvm::Value* value);
  llvm::Value* same(double value, llvm::Value* like);
  llvm::Value* integer_same(long value, llvm::Value* like);
  /// Rounds an f32 so that so many of its last bits are 0. Returns its bits.
  llvm::Value* without_last_bits(llvm::Value* value, long count);
  /// Converts reals to integers, towards 0. What is too large becomes the greatest, and what is no
  /// number 0.
  llvm::Value* whole_numbers(llvm::Value* value, llvm::Type* to);
  /// Converts a value that was rounded and is bounded to 32 bits; null if no instruction does both.
  llvm::Value* rounded_at_once(llvm::Value* value);
  llvm::Value* truth(llvm::Value* condition);
  llvm::Value* unless_nan(llvm::Value* b, llvm::Value* value);
  llvm::Value* maximum(llvm::Value* a, llvm::Value* b);
  llvm::Value* minimum(llvm::Value* a, llvm::Value* b);
  llvm::Value* intrinsic(unsigned id, const std::vector<llvm::Value*>& args);
  llvm::Value* called(const char* name, std::vector<llvm::Value*> args);
  llvm::Value* library(const char* name, const std::vector<llvm::Value*>& args);
  llvm::Value* exponential(llvm::Value* x);
  llvm::Value* hyperbolic_tangent(llvm::Value* x);
  llvm::Value* polynomial(llvm::Value* x, std::initializer_list<double> coefficients);
  llvm::Value* error_function(llvm::Value* x);
  llvm::Value* apply_reals(Expr::Op op, const std::vector<llvm::Value*>& args);
  llvm::Value* apply_integers(Expr::Op op, const std::vector<llvm::Value*>& args);
  llvm::Value* divided(Expr::Op op, llvm::Value* x, llvm::Value* y);
  llvm::Value* power(llvm::Value* base, llvm::Value* exponent);
  llvm::Value* shifted(llvm::Value* value, llvm::Value* by);
};

}  // namespace lathe
