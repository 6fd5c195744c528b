// convolution.cpp: statements of products as convolutions. Interface: convolution.h.
#include "program/convolution.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe {
namespace {

constexpr long most_convolutions = 64;

/// What a coordinate of a statement does, seen from the accesses.
enum class Part { batch, filter, channel, group, position, window, several };

class Convolutions {
 public:
  Convolutions(const Nest& nest, const Statement& s) : nest_(nest), statement_(s) {
    size_t w = nest.tensors()[s.reads[0].tensor].role == Role::weight ? 0 : 1;
    weight_tensor_ = s.reads[w].tensor;
    input_tensor_ = s.reads[1 - w].tensor;
    if (nest.tensors()[weight_tensor_].role != Role::weight) refuse("has no weights");
    sizes_ = extents(plain_order(s, {}));
    write_ = linear_indices(nest, s.write);
    weight_ = linear_indices(nest, s.reads[w]);
    input_ = linear_indices(nest, s.reads[1 - w]);
    if (write_.size() < 2 || write_.size() != input_.size()) {
      refuse("does not go from channels to channels");
    }
    for (size_t c = 0; c < sizes_.size(); ++c) parts_.push_back(part_of(c));
  }

  std::vector<Convolution> all() const {
    std::vector<Convolution> result;
    std::vector<Shape> slices = points(Part::several, Shape(sizes_.size(), 0));
    if (static_cast<long>(slices.size()) > most_convolutions) {
      refuse(fmt::format("needs more than {} convolutions", most_convolutions));
    }
    for (const Shape& x : slices) result.push_back(at(x));
    return result;
  }

 private:
  const Nest& nest_;
  const Statement& statement_;
  size_t weight_tensor_, input_tensor_;
  Shape sizes_;  // of the coordinates
  std::vector<Linear> write_, weight_, input_;
  std::vector<Part> parts_;  // of the coordinates

  [[noreturn]] void refuse(const std::string& why) const {
    throw NoForm(fmt::format("statement '{}' {}", statement_.name, why));
  }

  static bool moves(const std::vector<Linear>& index, size_t d, size_t c) {
    return index[d].coefficients[c] != 0;
  }

  Part part_of(size_t c) const {
    size_t rows_out = 0, rows_in = 0, where_out = 0, where_in = 0;
    for (size_t d = 2; d < write_.size(); ++d) {
      if (moves(write_, d, c)) ++rows_out, where_out = d;
      if (moves(input_, d, c)) ++rows_in, where_in = d;
    }
    bool to_samples = moves(write_, 0, c), from_samples = moves(input_, 0, c);
    bool filter = moves(write_, 1, c), channel = moves(input_, 1, c);
    bool rows = rows_out + rows_in > 0;
    if (to_samples || from_samples) {
      bool alone = to_samples && from_samples && !filter && !channel && !rows;
      return alone ? Part::batch : Part::several;
    }
    if (!rows && filter) return channel ? Part::group : Part::filter;
    if (!rows) return channel ? Part::channel : Part::several;
    if (filter || channel || rows_out > 1 || rows_in != 1) return Part::several;
    if (rows_out == 0) return Part::window;
    bool chooses_weights = false;
    for (size_t d = 0; d < weight_.size(); ++d) {
      chooses_weights = chooses_weights || moves(weight_, d, c);
    }
    return where_out == where_in && !chooses_weights ? Part::position : Part::several;
  }

  /// Lists the points along the coordinates of one part; the others stay as in "x".
  std::vector<Shape> points(Part part, const Shape& x) const {
    std::vector<Shape> result{x};
    for (size_t c = 0; c < sizes_.size(); ++c) {
      if (parts_[c] == part) result = along(c, result);
    }
    return result;
  }

  /// Lists the points of the window in the order of the dimensions, whichever order the loops have:
  /// so the weights of a convolution are stored.
  std::vector<Shape> window_points(const Shape& x) const {
    std::vector<Shape> result{x};
    for (size_t d = 2; d < input_.size(); ++d) {
      for (size_t c = 0; c < sizes_.size(); ++c) {
        if (parts_[c] == Part::window && moves(input_, d, c)) result = along(c, result);
      }
    }
    return result;
  }

  /// Moves each of the points along one coordinate.
  std::vector<Shape> along(size_t c, const std::vector<Shape>& points) const {
    std::vector<Shape> result;
    for (const Shape& point : points) {
      for (long i = 0; i < sizes_[c]; ++i) {
        result.push_back(point);
        result.back()[c] = i;
      }
    }
    return result;
  }

  /// Returns the convolution of the iterations in which the unrolled loops are as in "x".
  Convolution at(const Shape& x) const {
    Convolution result{input_tensor_, weight_tensor_, 0, {}, {}, {}, {}, {}, {}};
    for (size_t d = 2; d < input_.size(); ++d) result.slides.push_back(sliding(d, x));
    Shape filters, inside = offsets_inside(x);
    std::vector<Shape> groups = points(Part::group, x);
    for (const Shape& g : groups) {
      for (const Shape& f : points(Part::filter, g)) {
        filters.push_back(write_[1].at(f));
        long origin = weight_offset(f);
        for (long offset : inside) result.weight_offsets.push_back(origin + offset);
      }
      for (const Shape& c : points(Part::channel, g)) result.channels.push_back(input_[1].at(c));
    }
    result.groups = static_cast<long>(groups.size());
    result.weight_shape = {static_cast<long>(filters.size()),
                           static_cast<long>(result.channels.size()) / result.groups};
    for (const SlidingWindow& s : result.slides) result.weight_shape.push_back(s.elements);
    for (size_t d = 0; d < write_.size(); ++d) {
      result.to.push_back(d == 1 ? filters : rows(write_, d, x));
    }
    result.samples = rows(input_, 0, x);
    return result;
  }

  /// Returns which elements of the weight the channels and the window of a filter choose, counted
  /// from its first one. A network has millions of them: each is a sum of two numbers.
  Shape offsets_inside(const Shape& filter) const {
    long origin = weight_offset(filter);
    Shape window, all;
    for (const Shape& k : window_points(filter)) window.push_back(weight_offset(k) - origin);
    for (const Shape& c : points(Part::channel, filter)) {
      long channel = weight_offset(c) - origin;
      for (long element : window) all.push_back(channel + element);
    }
    return all;
  }

  long weight_offset(const Shape& point) const {
    const Shape& shape = nest_.tensors()[weight_tensor_].shape;
    long offset = 0;
    for (size_t d = 0; d < shape.size(); ++d) offset = offset * shape[d] + weight_[d].at(point);
    return offset;
  }

  /// Returns the samples or rows along dimension "d" of an access, one for each position.
  Shape rows(const std::vector<Linear>& index, size_t d, const Shape& x) const {
    Shape result{index[d].at(x)};
    for (size_t c = 0; c < sizes_.size(); ++c) {
      bool is_row = parts_[c] == Part::position || parts_[c] == Part::batch;
      if (is_row && moves(index, d, c)) {
        result = stepped(result, index[d].coefficients[c], sizes_[c]);
      }
    }
    return result;
  }

  SlidingWindow sliding(size_t d, const Shape& x) const {
    SlidingWindow result;
    bool has_position = false, has_window = false;
    for (size_t c = 0; c < sizes_.size(); ++c) {
      if (!moves(input_, d, c) || parts_[c] == Part::several) continue;
      bool is_position = parts_[c] == Part::position;
      bool& is_there = is_position ? has_position : has_window;
      if (is_there) refuse("has two loops in one dimension");
      is_there = true;
      long step = input_[d].coefficients[c];
      if (step < 1) refuse("has an index that runs backwards");
      (is_position ? result.stride : result.dilation) = step;
      (is_position ? result.outputs : result.elements) = sizes_[c];
    }
    result.first = input_[d].at(x);
    result.end = result.first + (result.outputs - 1) * result.stride +
                 (result.elements - 1) * result.dilation + 1;
    return result;
  }
};

}  // namespace

long Linear::at(const Shape& x) const {
  long value = constant;
  for (size_t i = 0; i < x.size(); ++i) value += coefficients[i] * x[i];
  return value;
}

Shape stepped(const Shape& list, long step, long count) {
  Shape result;
  for (long x : list) {
    for (long i = 0; i < count; ++i) result.push_back(x + step * i);
  }
  return result;
}

std::vector<Linear> linear_indices(const Nest& nest, const Access& access) {
  std::vector<Linear> result;
  const Tensor& tensor = nest.tensors()[access.tensor];
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    poly::Affine a = poly::take_apart(access.at.at(static_cast<int>(d)));
    if (!a.is_linear()) throw NoForm(fmt::format("an index of '{}' is not linear", tensor.name));
    result.push_back({a.coefficients, a.constant - tensor.pad[d].before});
  }
  return result;
}

std::vector<Convolution> convolutions_of(const Nest& nest, const Statement& statement) {
  return Convolutions(nest, statement).all();
}

}  // namespace lathe
