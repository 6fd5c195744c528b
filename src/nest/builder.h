// Writes nests in C++ almost as on paper. Used by the operators.
//
//   NestBuilder b(ctx, "conv");
//   size_t O = b.tensor("O", Role::output, {64, 56, 56}), W = ..., I = ...;
//   auto& s = b.statement("conv", {{"co", 64}, {"ci", 64}, {"oh", 56}, ...});
//   s.add(O, {s["co"], s["oh"], s["ow"]}, s.read(W, {...}) * s.read(I, {s["ci"], s["oh"] + s["kh"],
//   ...})); return b.build();
//
// A coordinate of extent 1 becomes the constant 0: it is no loop.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "nest/nest.h"

namespace lathe {

/// An index expression of a statement's coordinates.
struct Index {
  isl::aff value;
};
Index operator+(const Index& a, const Index& b);
Index operator+(const Index& a, long b);
Index operator*(const Index& a, long factor);
Index operator/(const Index& a, long divisor);  ///< rounds down
Index operator%(const Index& a, long divisor);

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);

class StatementBuilder {
 public:
  using Extents = std::vector<std::pair<std::string, long>>;
  StatementBuilder(isl::ctx ctx, std::string name, const Extents& extents);

  /// Returns a coordinate by name.
  Index operator[](const std::string& name) const;
  /// Returns a constant index.
  Index at(long value) const;

  /// Keeps only the instances in which  index >= 0,  or  index < bound.
  void where_not_negative(const Index& index);
  void where_less(const Index& index, long bound);

  /// Adds a read and returns it as an expression.
  Expr read(size_t tensor, const std::vector<Index>& at);

  /// Says what the statement does, once.
  void assign(size_t tensor, const std::vector<Index>& at, Expr value);
  void add(size_t tensor, const std::vector<Index>& at, Expr value);
  void maximum(size_t tensor, const std::vector<Index>& at, Expr value);

  const Statement& statement() const { return statement_; }

 private:
  Statement statement_;
  std::vector<std::pair<std::string, isl::aff>> coordinates_;

  isl::multi_aff tuple(const std::vector<Index>& at) const;
  void update(Update update, size_t tensor, const std::vector<Index>& at, Expr value);
};

class NestBuilder {
 public:
  NestBuilder(isl::ctx ctx, std::string name) : ctx_(ctx), name_(std::move(name)) {}

  /// Declares a tensor. "shape" includes the padding "pad".
  size_t tensor(std::string name, Role role, std::vector<long> shape, std::vector<Pad> pad = {},
                double padding = 0, Element element = Element::f32);
  /// Declares a tensor without padding.
  size_t tensor(std::string name, Role role, std::vector<long> shape, Element element);

  /// Begins a statement; it runs after those before it. The reference stays valid.
  StatementBuilder& statement(std::string name, const StatementBuilder::Extents& extents);

  /// Returns the nest: each statement in loops of its own, in the order in which they were begun.
  Nest build() const;

 private:
  isl::ctx ctx_;
  std::string name_;
  std::vector<Tensor> tensors_;
  std::deque<StatementBuilder> statements_;
};

}  // namespace lathe
