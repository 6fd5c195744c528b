// take.cpp: the parts of a tensor along one dimension that a list of indices names, in its order.
// Such lists also make copies by nearest neighbour, repetitions, reflected borders and gathers with
// known indices.
//
//   O[c, h] = I[indices[c], h]
//
// The indices are known, so the list falls into affine stretches: each is a statement.
#include <algorithm>

#include "ops/op_dims.h"

namespace lathe::ops {
namespace {

Shape indices_of(const Call& call, long extent) {
  Shape indices = call.integers("indices");
  for (long& index : indices) {
    if (index < -extent || index >= extent) {
      call.refuse("index {} is not among the {} of dimension {} of {}", index, extent,
                  call.integer("axis"), print_shape(call.shape(0)));
    }
    if (index < 0) index += extent;
  }
  return indices;
}

std::vector<Type> types_of_take(const Call& call) {
  Shape shape = call.shape(0);
  size_t axis = call.axis("axis", shape.size());
  Shape indices = indices_of(call, shape[axis]);
  shape[axis] = static_cast<long>(indices.size());
  return {{call.element(0), shape}};
}

/// A stretch of the list:  indices[first + i] = start + step * (i / repeat)  for i < count.
struct Stretch {
  long first, count, start, step, repeat;
};

long length(const Shape& list, size_t first, long step, long repeat) {
  long n = 0;
  auto rest = static_cast<long>(list.size() - first);
  while (n < rest && list[first + static_cast<size_t>(n)] == list[first] + step * (n / repeat)) ++n;
  return n;
}

/// Returns the longest stretch that begins at "first".
Stretch stretch_at(const Shape& list, size_t first) {
  size_t next = first;
  while (next < list.size() && list[next] == list[first]) ++next;
  auto repeat = static_cast<long>(next - first);
  long step = next < list.size() ? list[next] - list[first] : 0;
  long long_one = length(list, first, step, repeat);
  auto at = static_cast<long>(first);
  return {at, long_one, list[first], step, repeat};
}

std::vector<Stretch> stretches(const Shape& list) {
  std::vector<Stretch> result;
  for (size_t at = 0; at < list.size();) {
    result.push_back(stretch_at(list, at));
    at += static_cast<size_t>(result.back().count);
  }
  return result;
}

Nest nest_of_take(isl::ctx ctx, const Call& call) {
  Type output = types_of_take(call).front();
  size_t axis = call.axis("axis", output.shape.size());
  NestBuilder b(ctx, "take");
  size_t I = declare(b, call, 0, "I"), O = declare_output(b, output);
  for (const Stretch& stretch : stretches(indices_of(call, call.shape(0)[axis]))) {
    StatementBuilder::Extents loops = loops_over(output.shape);
    loops[axis].second = stretch.count;
    std::string name = stretch.first == 0 ? "take" : fmt::format("take{}", stretch.first);
    auto& s = b.statement(name, loops);
    std::vector<Index> to = at(s, loops), from = to;
    Index turn = stretch.repeat == 1 ? from[axis] : from[axis] / stretch.repeat;
    from[axis] = turn * stretch.step + stretch.start;
    to[axis] = to[axis] + stretch.first;
    s.assign(O, to, s.read(I, from));
  }
  return b.build();
}

}  // namespace

Op take() {
  return {.name = "take",
          .summary = "the parts along one dimension that a list names",
          .examples = {"take(f32[3x4], axis=0, indices=[2, 2, 0, 1, -1])",
                       "take(f32[2x3], axis=1, indices=[0, 0, 1, 1, 2, 2])"},
          .graph = {.settings = {{"axis", 0L, "the dimension"},
                                 {"indices", Shape{}, "negative ones count from the end",
                                  Setting::Need::required}},
                    .infer = types_of_take,
                    .nest = nest_of_take}};
}

}  // namespace lathe::ops
