// wide_sums.cpp: sums of narrow numbers. Interface: wide_sums.h.
#include "nest/wide_sums.h"

#include <fmt/format.h>

#include <algorithm>

#include "poly/relation.h"

namespace lathe {
namespace {

/// Names the loop that walks an index of the sums in a statement: as the last of the loops there
/// that it takes, if that name is not taken.
std::string name_of_index(const Statement& like, const isl::aff& index,
                          const std::vector<std::string>& taken) {
  std::string name = fmt::format("i{}", taken.size());
  for (size_t i = 0; i < like.dims.size(); ++i) {
    bool is_free = std::find(taken.begin(), taken.end(), like.dims[i]) == taken.end();
    if (is_free && poly::involves(index, i)) name = like.dims[i];
  }
  return name;
}

/// Returns the statement that copies one tensor to another of the same shape. Its loops have the
/// names of those that index the sums in "like".
Statement copying(const Nest& nest, const std::string& name, size_t from, size_t to,
                  const Statement& like) {
  const std::vector<long>& shape = nest.tensors()[to].shape;
  Statement s;
  s.name = fresh_name(nest, name);
  s.domain = poly::box(nest.ctx(), shape);
  std::vector<isl::aff> index = poly::parts(like.write.at);
  for (size_t d = 0; d < shape.size(); ++d) {
    s.dims.push_back(name_of_index(like, index[d], s.dims));
  }
  isl::multi_aff all = poly::identity(s.domain.space());
  s.write = {to, all};
  s.reads = {{from, all}};
  s.value = read(0);
  s.origin = {s.name, all};
  return without_units(s);
}

const Statement* first_sum(const Nest& nest, size_t tensor) {
  for (const Statement& s : nest.statements()) {
    if (s.write.tensor == tensor && s.update == Update::add) return &s;
  }
  return nullptr;
}

}  // namespace

bool has_sums(const Nest& nest, size_t tensor) { return first_sum(nest, tensor) != nullptr; }

Nest with_own_sums(const Nest& nest, size_t output, const std::string& name) {
  std::vector<Tensor> tensors = nest.tensors();
  size_t sums = tensors.size();
  tensors.push_back(tensors[output]);
  tensors[sums].name = fresh_name(nest, tensors[output].name + ".sums");
  tensors[sums].role = Role::local;
  Statement copy = copying(nest, name, sums, output, *first_sum(nest, output));
  std::vector<Statement> statements = nest.statements();
  for (Statement& s : statements) {
    for (Access& read : s.reads) read.tensor = read.tensor == output ? sums : read.tensor;
    if (s.write.tensor == output) s.write.tensor = sums;
  }
  std::vector<Order> order = nest.order;
  long last = 0;
  for (const Order& o : order) last = std::max(last, o.at[0]);
  order.push_back(plain_order(copy, {last + 1}));
  statements.push_back(std::move(copy));
  return assemble_nest(nest.name, std::move(tensors), std::move(statements), std::move(order));
}

Nest with_wide_sums(const Nest& nest) {
  Nest result = nest;
  std::vector<size_t> wide;
  for (size_t t = 0; t < nest.tensors().size(); ++t) {
    const Tensor& tensor = nest.tensors()[t];
    bool narrow = is_float(tensor.element) && tensor.element < Element::f32;
    if (!narrow || !has_sums(nest, t)) continue;
    wide.push_back(tensor.role == Role::local ? t : result.tensors().size());
    if (tensor.role != Role::local) result = with_own_sums(result, t);
  }
  if (wide.empty()) return nest;
  std::vector<Tensor> tensors = result.tensors();
  for (size_t t : wide) tensors[t].element = Element::f32;
  return assemble_nest(nest.name, std::move(tensors), result.statements(), result.order);
}

}  // namespace lathe
