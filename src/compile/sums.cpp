// sums.cpp: sums in blocks of channels. Interface: sums.h.
//
//   O[co, oh, ow] += W * I        =>        T[co, oh, ow] += W * I;  O[co, oh, ow] = T[co, oh, ow]
//
// A tile of sums is written and read again for each chunk of weights: 16 channels side by side are
// four vectors, in rows of their own they are 16 elements.
#include "compile/sums.h"

#include <algorithm>
#include <numeric>

#include "nest/wide_sums.h"
#include "poly/relation.h"

namespace lathe {
namespace {

/// Channels that lie together: four vectors of the narrowest target, as many as a tile is wide. A
/// block of fewer than one vector gains nothing.
constexpr long most_together = 16, least_together = 4;

/// Returns the coordinate that moves the result and the weights, but not the data: it counts
/// filters. Returns nothing if there is none, or if the weights are computed.
std::optional<size_t> filters_of(const Nest& nest, const Statement& s) {
  bool first = nest.tensors()[s.reads[0].tensor].role == Role::weight;
  const Access &weight = s.reads[first ? 0 : 1], &data = s.reads[first ? 1 : 0];
  if (nest.tensors()[weight.tensor].role != Role::weight) return std::nullopt;
  for (size_t k = 0; k < s.dims.size(); ++k) {
    if (poly::involves(s.write.at, k) && poly::involves(weight.at, k) &&
        !poly::involves(data.at, k)) {
      return k;
    }
  }
  return std::nullopt;
}

/// Returns the statement that adds products with the weights of filters, if there is one.
const Statement* sum_of(const Nest& nest) {
  for (const Statement& s : nest.statements()) {
    bool product = s.value.op == Expr::Op::mul && s.reads.size() == 2;
    if (s.update == Update::add && product && filters_of(nest, s)) return &s;
  }
  return nullptr;
}

bool is_row_major(const Layout& layout) {
  return std::all_of(layout.axes.begin(), layout.axes.end(),
                     [](const Layout::Axis& axis) { return axis.block == 1; });
}

}  // namespace

Nest with_blocked_sums(const Nest& nest, std::vector<Layout>& layouts) {
  const Statement* sum = sum_of(nest);
  if (sum == nullptr) return nest;
  size_t tensor = sum->write.tensor;
  const std::vector<long>& shape = nest.tensors()[tensor].shape;
  if (shape.size() < 3 || shape[1] % least_together != 0) return nest;
  long block = std::gcd(shape[1], most_together);
  // What comes after the sums lies as the result does.
  for (size_t t = 0; t < layouts.size(); ++t) {
    if (nest.tensors()[t].role == Role::output && !is_row_major(layouts[t])) return nest;
  }
  if (nest.tensors()[tensor].role == Role::local) {
    layouts[tensor] = blocked_layout(shape, block);
    return nest;
  }
  layouts.push_back(blocked_layout(shape, block));
  return with_own_sums(nest, tensor, "result");
}

}  // namespace lathe
