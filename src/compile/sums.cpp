// sums.cpp: sums in blocks of channels. Interface: sums.h.
//
//   O[co, oh, ow] += W * I        =>        T[co, oh, ow] += W * I;  O[co, oh, ow] = T[co, oh, ow]
//
// A tile of sums is written and read again for each chunk of weights: 16 channels side by side are
// four vectors, in rows of their own they are 16 elements.
#include "compile/sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "nest/builder.h"
#include "poly/relation.h"

namespace lathe {
namespace {

/// Has the statement a loop over results that weights differ in, but not the data: a filter?
bool has_filters(const Nest& nest, const Statement& s) {
  bool first = nest.tensors()[s.reads[0].tensor].role == Role::weight;
  const Access &weight = s.reads[first ? 0 : 1], &data = s.reads[first ? 1 : 0];
  for (size_t k = 0; k < s.dims.size(); ++k) {
    if (poly::involves(s.write.at, k) && poly::involves(weight.at, k) &&
        !poly::involves(data.at, k)) {
      return nest.tensors()[weight.tensor].role == Role::weight;
    }
  }
  return false;
}

/// Returns the statement that adds products with the weights of filters, if there is one.
const Statement* sum_of(const Nest& nest) {
  for (const Statement& s : nest.statements()) {
    bool product = s.value.op == Expr::Op::mul && s.reads.size() == 2;
    if (s.update == Update::add && product && has_filters(nest, s)) return &s;
  }
  return nullptr;
}

bool is_row_major(const Layout& layout) {
  return std::all_of(layout.axes.begin(), layout.axes.end(),
                     [](const Layout::Axis& axis) { return axis.block == 1; });
}

/// Returns the names of the loops over a result: of a statement whose dimensions are its own, or
/// where the sum writes it.
std::vector<std::string> names_for(const Statement& sum, size_t rank) {
  std::vector<std::string> names(rank);
  std::vector<isl::aff> parts = poly::parts(sum.write.at);
  isl::space space = sum.domain.space();
  for (size_t i = 0; i < rank; ++i) {
    names[i] = i == 1 ? "co" : fmt::format("o{}", i);  // groups and their channels become one
    for (size_t k = 0; k < sum.dims.size(); ++k) {
      if (poly::same(parts[i], poly::coordinate(space, k))) names[i] = sum.dims[k];
    }
  }
  return names;
}

/// Returns the statement that copies all of "from" to "to".
Statement copy_of(const Nest& nest, const Statement& sum, size_t from, size_t to) {
  const Tensor& tensor = nest.tensors()[to];
  Statement s;
  s.name = fresh_name(nest, "result");
  std::vector<std::string> names = names_for(sum, tensor.shape.size());
  std::vector<long> extents;
  for (size_t i = 0; i < names.size(); ++i) {
    if (tensor.shape[i] == 1) continue;
    s.dims.push_back(names[i]);
    extents.push_back(tensor.shape[i]);
  }
  s.domain = poly::box(nest.ctx(), extents);
  isl::space space = s.domain.space();
  std::vector<isl::aff> at;
  size_t next = 0;
  for (long extent : tensor.shape) {
    at.push_back(extent == 1 ? poly::constant(space, 0) : poly::coordinate(space, next++));
  }
  s.write = {to, poly::tuple(space, at)};
  s.reads = {{from, poly::tuple(space, at)}};
  s.value = read(0);
  s.origin = {s.name, poly::identity(space)};
  return s;
}

Nest with_copied_result(const Nest& nest, const Statement& sum, size_t output) {
  std::vector<Tensor> tensors = nest.tensors();
  size_t local = tensors.size();
  tensors.push_back(tensors[output]);
  tensors[local].name = fresh_name(nest, tensors[output].name + ".sums");
  tensors[local].role = Role::local;
  Statement copy = copy_of(nest, sum, local, output);
  std::vector<Statement> statements = nest.statements();
  for (Statement& s : statements) {
    for (Access& read : s.reads) {
      if (read.tensor == output) read.tensor = local;
    }
    if (s.write.tensor == output) s.write.tensor = local;
  }
  std::vector<Order> order = nest.order;
  long last = 0;
  for (const Order& o : order) last = std::max(last, o.at[0]);
  order.push_back(plain_order(copy, {last + 1}));
  statements.push_back(std::move(copy));
  return assemble_nest(nest.name, std::move(tensors), std::move(statements), std::move(order));
}

}  // namespace

Nest with_blocked_sums(const Nest& nest, std::vector<Layout>& layouts) {
  const Statement* sum = sum_of(nest);
  if (sum == nullptr) return nest;
  size_t tensor = sum->write.tensor;
  const std::vector<long>& shape = nest.tensors()[tensor].shape;
  if (shape.size() < 3 || shape[1] % 4 != 0) return nest;
  long block = std::gcd(shape[1], 16L);
  // What comes after the sums lies as the result does.
  for (size_t t = 0; t < layouts.size(); ++t) {
    if (nest.tensors()[t].role == Role::output && !is_row_major(layouts[t])) return nest;
  }
  if (nest.tensors()[tensor].role == Role::local) {
    layouts[tensor] = blocked_layout(shape, block);
    return nest;
  }
  layouts.push_back(blocked_layout(shape, block));
  return with_copied_result(nest, *sum, tensor);
}

}  // namespace lathe
