// partial_sums.cpp: long sums in two stages. Interface: partial_sums.h.
#include "nest/partial_sums.h"

#include <numeric>

namespace lathe {
namespace {

/// A sum is long if it has more terms than this, and parts of it are worth while that have some.
constexpr long long_sum = 2048, least_part = 16;
/// The most elements that parts may take.
constexpr long most_parts = 1 << 20;

long product(const std::vector<long>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 1L, std::multiplies<>());
}

/// Has the result a coordinate that this factor moves with and the other does not?
bool has_own_coordinate(const Statement& s, const Access& factor, const Access& other) {
  for (size_t i = 0; i < s.dims.size(); ++i) {
    if (poly::involves(s.write.at, i) && poly::involves(factor.at, i) &&
        !poly::involves(other.at, i)) {
      return true;
    }
  }
  return false;
}

/// Is it a sum of products as of matrices: the gradient by a convolution's weights, say? There is
/// far more to compute than to read, and it takes tiles of sums in registers to be quick: parts
/// would have to leave them.
bool is_contraction(const Statement& s) {
  return s.value.op == Expr::Op::mul && s.reads.size() == 2 &&
         has_own_coordinate(s, s.reads[0], s.reads[1]) &&
         has_own_coordinate(s, s.reads[1], s.reads[0]);
}

/// Returns the outermost coordinate of a sum that is better split.
std::optional<size_t> coordinate_to_split(const Statement& s, const Tensor& to) {
  if (s.update != Update::add || !is_float(to.element) || is_contraction(s)) return std::nullopt;
  if (!poly::is_box_from_zero(s.domain)) return std::nullopt;
  std::vector<long> extents = lathe::extents(plain_order(s, {}));
  std::optional<size_t> outer;
  long terms = 1;
  for (size_t i = 0; i < extents.size(); ++i) {
    if (poly::involves(s.write.at, i)) continue;
    if (!outer) outer = i;
    terms *= extents[i];
  }
  if (!outer || terms <= long_sum || terms / extents[*outer] < least_part) return std::nullopt;
  if (product(to.shape) * extents[*outer] > most_parts) return std::nullopt;
  // Parts of elements that nothing writes would not be there.
  if (poly::count_image(s.domain, s.write.at) != product(to.shape)) return std::nullopt;
  return outer;
}

}  // namespace

Nest with_partial_sums(const Nest& nest) {
  std::vector<Tensor> tensors = nest.tensors();
  std::vector<Statement> statements;
  bool changed = false;
  for (size_t i : sequence(nest.order)) {
    Statement s = nest.statements()[i];
    const Tensor to = tensors[s.write.tensor];
    auto outer = coordinate_to_split(s, to);
    if (!outer) {
      statements.push_back(std::move(s));
      continue;
    }
    changed = true;
    long parts = poly::range(s.domain, *outer).size();
    Tensor part = to;
    part.name = fresh_name(nest, fmt::format("{}.part{}", to.name, tensors.size()));
    part.role = Role::local;
    part.shape.insert(part.shape.begin(), parts);
    part.pad.assign(part.shape.size(), {});
    part.padding = 0;
    tensors.push_back(part);

    Statement total;
    total.name = s.name + "_total";
    total.dims = {s.dims[*outer]};
    for (size_t d = 0; d < to.shape.size(); ++d) total.dims.push_back(fmt::format("i{}", d));
    total.domain = poly::box(nest.ctx(), part.shape);
    isl::space space = total.domain.space();
    std::vector<isl::aff> at;
    for (size_t d = 0; d < to.shape.size(); ++d) at.push_back(poly::coordinate(space, d + 1));
    total.write = {s.write.tensor, poly::tuple(space, at)};
    total.update = Update::add;
    total.reads = {{tensors.size() - 1, poly::identity(space)}};
    total.value = read(0);
    total.origin = {total.name, poly::identity(space)};

    std::vector<isl::aff> indices = poly::parts(s.write.at);
    indices.insert(indices.begin(), poly::coordinate(s.domain.space(), *outer));
    s.write = {tensors.size() - 1, poly::tuple(s.domain.space(), indices)};
    statements.push_back(std::move(s));
    statements.push_back(without_units(total));
  }
  if (!changed) return nest;
  std::vector<Order> order;
  for (const Statement& s : statements) {
    order.push_back(plain_order(s, {static_cast<long>(order.size())}));
  }
  return make_nest(nest.name, std::move(tensors), std::move(statements), std::move(order));
}

}  // namespace lathe
