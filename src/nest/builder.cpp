// builder.cpp: nests written in C++. Interface: builder.h.
#include "nest/builder.h"

#include <algorithm>

#include "base/error.h"

namespace lathe {

Index operator+(const Index& a, const Index& b) { return {a.value.add(b.value)}; }
Index operator+(const Index& a, long b) { return {a.value.add_constant(b)}; }
Index operator*(const Index& a, long factor) { return {a.value.scale(factor)}; }
Index operator/(const Index& a, long divisor) { return {poly::quotient(a.value, divisor)}; }
Index operator%(const Index& a, long divisor) { return {poly::remainder(a.value, divisor)}; }

Expr operator+(Expr a, Expr b) { return call(Expr::Op::add, {std::move(a), std::move(b)}); }
Expr operator-(Expr a, Expr b) { return call(Expr::Op::sub, {std::move(a), std::move(b)}); }
Expr operator*(Expr a, Expr b) { return call(Expr::Op::mul, {std::move(a), std::move(b)}); }
Expr operator/(Expr a, Expr b) { return call(Expr::Op::div, {std::move(a), std::move(b)}); }

StatementBuilder::StatementBuilder(isl::ctx ctx, std::string name, const Extents& extents) {
  std::vector<long> kept;
  for (const auto& [dim, extent] : extents) {
    if (extent == 1) continue;
    statement_.dims.push_back(dim);
    kept.push_back(extent);
  }
  isl::space space = poly::tuples(ctx, kept.size());
  size_t next = 0;
  for (const auto& [dim, extent] : extents) {
    coordinates_.emplace_back(
        dim, extent == 1 ? poly::constant(space, 0) : poly::coordinate(space, next++));
  }
  statement_.domain = poly::box(ctx, kept);
  statement_.origin = {name, poly::identity(space)};
  statement_.name = std::move(name);
}

Index StatementBuilder::operator[](const std::string& name) const {
  for (const auto& [dim, value] : coordinates_) {
    if (dim == name) return {value};
  }
  throw InternalError(fmt::format("statement '{}' has no coordinate '{}'", statement_.name, name));
}

Index StatementBuilder::at(long value) const {
  return {poly::constant(statement_.domain.space(), value)};
}

void StatementBuilder::where_not_negative(const Index& index) {
  isl::aff zero = at(0).value;
  statement_.domain = poly::boxed(statement_.domain.intersect(index.value.ge_set(zero)));
}

void StatementBuilder::where_less(const Index& index, long bound) {
  statement_.domain = poly::boxed(statement_.domain.intersect(index.value.lt_set(at(bound).value)));
}

isl::multi_aff StatementBuilder::tuple(const std::vector<Index>& at) const {
  std::vector<isl::aff> parts;
  for (const Index& index : at) parts.push_back(index.value);
  return poly::tuple(statement_.domain.space(), parts);
}

Expr StatementBuilder::read(size_t tensor, const std::vector<Index>& at) {
  statement_.reads.push_back({tensor, tuple(at)});
  return lathe::read(statement_.reads.size() - 1);
}

void StatementBuilder::update(Update how, size_t tensor, const std::vector<Index>& at, Expr value) {
  statement_.write = {tensor, tuple(at)};
  statement_.update = how;
  statement_.value = std::move(value);
}

void StatementBuilder::assign(size_t tensor, const std::vector<Index>& at, Expr value) {
  update(Update::assign, tensor, at, std::move(value));
}

void StatementBuilder::add(size_t tensor, const std::vector<Index>& at, Expr value) {
  update(Update::add, tensor, at, std::move(value));
}

void StatementBuilder::maximum(size_t tensor, const std::vector<Index>& at, Expr value) {
  update(Update::maximum, tensor, at, std::move(value));
}

size_t NestBuilder::tensor(std::string name, Role role, std::vector<long> shape,
                           std::vector<Pad> pad, double padding, Element element) {
  // Here already, as bounds of empty domains do not exist.
  if (std::any_of(shape.begin(), shape.end(), [](long extent) { return extent < 1; })) {
    fail("tensor '{}': every dimension needs at least one element", name);
  }
  pad.resize(shape.size());
  tensors_.push_back({std::move(name), role, element, std::move(shape), std::move(pad), padding});
  return tensors_.size() - 1;
}

size_t NestBuilder::tensor(std::string name, Role role, std::vector<long> shape, Element element) {
  return tensor(std::move(name), role, std::move(shape), {}, 0, element);
}

StatementBuilder& NestBuilder::statement(std::string name,
                                         const StatementBuilder::Extents& extents) {
  return statements_.emplace_back(ctx_, std::move(name), extents);
}

Nest NestBuilder::build() const {
  std::vector<Statement> statements;
  std::vector<Order> order;
  for (const StatementBuilder& builder : statements_) {
    order.push_back(plain_order(builder.statement(), {static_cast<long>(order.size())}));
    statements.push_back(builder.statement());
  }
  return make_nest(name_, tensors_, std::move(statements), std::move(order));
}

}  // namespace lathe
