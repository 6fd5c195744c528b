// reach.cpp: which channels reach which, found from the accesses of a nest. Interface: reach.h.
#include "program/reach.h"

#include "poly/affine.h"

namespace lathe {
namespace {

constexpr size_t channel_dimension = 1;

size_t channels_of(const Tensor& tensor) {
  if (tensor.shape.size() <= channel_dimension) return 1;
  const Pad& pad = tensor.pad[channel_dimension];
  return static_cast<size_t>(tensor.shape[channel_dimension] - pad.before - pad.after);
}

/// Which channel an access is at: a function of the coordinates of its statement.
struct ChannelIndex {
  poly::Affine value;
  std::vector<bool> involved;
  long before = 0;  ///< channels of padding

  ChannelIndex(const Tensor& tensor, const Access& access, size_t coordinates)
      : involved(coordinates, false) {
    value.coefficients.assign(coordinates, 0);
    if (tensor.shape.size() <= channel_dimension) return;
    value = poly::take_apart(access.at.at(static_cast<int>(channel_dimension)));
    involved = poly::involved(value);
    before = tensor.pad[channel_dimension].before;
  }
};

/// Counts through the values of some coordinates, and calls "use" for each.
template <class Use>
void for_each_value(const std::vector<size_t>& coordinates, const Shape& sizes, const Use& use) {
  std::vector<long> x(sizes.size(), 0);
  for (bool more = true; more;) {
    use(x);
    more = false;
    for (size_t c : coordinates) {
      more = ++x[c] < sizes[c];
      if (more) break;
      x[c] = 0;
    }
  }
}

/// Returns which channels of what a statement writes (rows) it computes from which channels of one
/// of its reads (columns).
BitMatrix met(const Nest& nest, const Statement& s, const Access& read) {
  const Tensor &to = nest.tensors()[s.write.tensor], &from = nest.tensors()[read.tensor];
  BitMatrix result(channels_of(to), channels_of(from));
  Shape sizes = extents(plain_order(s, {}));
  ChannelIndex row(to, s.write, sizes.size()), column(from, read, sizes.size());
  std::vector<size_t> of_row, of_column;  // coordinates; those of both are in the first
  for (size_t c = 0; c < sizes.size(); ++c) {
    if (row.involved[c]) of_row.push_back(c);
    if (column.involved[c] && !row.involved[c]) of_column.push_back(c);
  }
  auto inside = [](long i, size_t count) { return i >= 0 && i < static_cast<long>(count); };
  for_each_value(of_row, sizes, [&](const std::vector<long>& at) {
    long i = poly::evaluate(row.value, at) - row.before;
    if (!inside(i, result.rows())) return;
    std::vector<long> x = at;
    for_each_value(of_column, sizes, [&](const std::vector<long>& other) {
      for (size_t c : of_column) x[c] = other[c];
      long j = poly::evaluate(column.value, x) - column.before;
      if (inside(j, result.columns())) result.set(static_cast<size_t>(i), static_cast<size_t>(j));
    });
  });
  return result;
}

/// Returns the n-th tensor of a nest that is an output, or that is an operand.
size_t nth_tensor(const Nest& nest, size_t n, bool output) {
  for (size_t t = 0; t < nest.tensors().size(); ++t) {
    Role role = nest.tensors()[t].role;
    bool counts = role != Role::local && (role == Role::output) == output;
    if (counts && n-- == 0) return t;
  }
  fail("nest '{}' has no tensor for each operand and output", nest.name);
}

}  // namespace

size_t channels_of(const Shape& shape) {
  return shape.size() > channel_dimension ? static_cast<size_t>(shape[channel_dimension]) : 1;
}

void add_related(BitMatrix& to, const BitMatrix& relation, const BitMatrix& from) {
  BitMatrix sum(1, from.columns());  // of the rows that are named
  for (size_t row = 0; row < relation.rows(); ++row) {
    bool is_new = row == 0 || !relation.same_rows(row, row - 1);  // filters of one group are alike
    if (is_new) {
      sum.clear();
      relation.for_each(row, [&](size_t column) { sum.add(0, from, column); });
    }
    to.add(row, sum, 0);
  }
}

BitMatrix diagonal(size_t size) {
  BitMatrix result(size, size);
  for (size_t i = 0; i < size; ++i) result.set(i, i);
  return result;
}

BitMatrix everything(size_t rows, size_t columns) {
  BitMatrix result(rows, columns);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) result.set(i, j);
  }
  return result;
}

BitMatrix reached(const Nest& nest, size_t input, size_t output) {
  size_t source = nth_tensor(nest, input, false);
  size_t columns = channels_of(nest.tensors()[source]);
  std::vector<BitMatrix> of_tensor(nest.tensors().size());  // without rows: nothing reached it
  of_tensor[source] = diagonal(columns);
  for (size_t i : sequence(nest.order)) {
    const Statement& s = nest.statements()[i];
    for (const Access& read : s.reads) {
      if (of_tensor[read.tensor].rows() == 0) continue;
      BitMatrix& to = of_tensor[s.write.tensor];
      if (to.rows() == 0) to = BitMatrix(channels_of(nest.tensors()[s.write.tensor]), columns);
      add_related(to, met(nest, s, read), of_tensor[read.tensor]);
    }
  }
  BitMatrix& result = of_tensor[nth_tensor(nest, output, true)];
  size_t rows = channels_of(nest.tensors()[nth_tensor(nest, output, true)]);
  return result.rows() == 0 ? BitMatrix(rows, columns) : std::move(result);
}

}  // namespace lathe
