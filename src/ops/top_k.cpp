// top_k.cpp: the k greatest (or least) elements along a dimension, and where they are. They are
// sorted, whether or not that is asked for; of equal elements the first comes first.
#include <algorithm>
#include <numeric>

#include "ops/op_check.h"
#include "ops/op_data.h"

namespace lathe::ops {
namespace {

Shape shape_of_top_k(const Call& call, Shape shape) {
  size_t axis = call.axis("axis", shape.size());
  long k = call.integer("k");
  if (k < 0 || k > shape[axis]) {
    call.refuse("k={} is more than the {} elements along axis {}", k, shape[axis], axis);
  }
  shape[axis] = k;
  return shape;
}

std::vector<Type> types_of_top_k(const Call& call) {
  check_number(call, 0);
  call.flag("largest");
  call.flag("sorted");
  Shape shape = shape_of_top_k(call, call.shape(0));
  return {{call.element(0), shape}, {Element::i64, shape}};
}

/// Returns the places of the elements of one line, best first.
template <class T>
std::vector<long> ranked(const std::vector<T>& line, bool largest) {
  std::vector<long> places(line.size());
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(), [&](long a, long b) {
    T x = line[static_cast<size_t>(a)], y = line[static_cast<size_t>(b)];
    return largest ? x > y : x < y;
  });
  return places;
}

std::vector<Array> run_top_k(const Call& call, const std::vector<Array>& inputs) {
  const Array& x = inputs[0];
  Shape shape = shape_of_top_k(call, x.shape());
  size_t axis = call.axis("axis", x.rank());
  Lines from(x.shape(), axis), to(shape, axis);
  auto count = static_cast<size_t>(count_of(shape));
  std::vector<long> sources(count), indices(count);
  on_numbers(x.element(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> values = numbers<T>(x), line(static_cast<size_t>(from.extent));
    from.each([&](long outer, long inner) {
      for (long i = 0; i < from.extent; ++i) {
        line[static_cast<size_t>(i)] = values[static_cast<size_t>(from.at(outer, i, inner))];
      }
      std::vector<long> places = ranked(line, call.flag("largest"));
      for (long i = 0; i < to.extent; ++i) {
        auto at = static_cast<size_t>(to.at(outer, i, inner));
        indices[at] = places[static_cast<size_t>(i)];
        sources[at] = from.at(outer, indices[at], inner);
      }
    });
  });
  return {picked(x, shape, sources), array_of(Element::i64, shape, indices)};
}

}  // namespace

Op top_k() {
  return {.name = "top_k",
          .summary = "the k greatest elements along one dimension, and their indices",
          .examples = {"top_k(f32[2x5], k=3)", "top_k(i32[4x2x3], k=1, axis=0, largest=0)"},
          .graph = {.settings = {{"k", 1L, "how many elements", Setting::Need::required},
                                 {"axis", -1L, "the dimension"},
                                 {"largest", 1L, "0: the least elements"},
                                 {"sorted", 1L, "0: in any order"}},
                    .infer = types_of_top_k,
                    .run = run_top_k}};
}

}  // namespace lathe::ops
