// op_select.cpp: the place of the greatest or least element. Interface: op_select.h.
#include "ops/op_select.h"

#include "ops/op_check.h"
#include "ops/op_data.h"

namespace lathe::ops {
namespace {

Shape shape_of_select(const Call& call, Shape shape) {
  auto axis = static_cast<long>(call.axis("axis", shape.size()));
  if (call.flag("keep")) {
    shape[static_cast<size_t>(axis)] = 1;
  } else {
    shape.erase(shape.begin() + axis);
  }
  return shape;
}

std::vector<Type> types_of_select(const Call& call) {
  check_number(call, 0);
  call.flag("last");
  const Shape& shape = call.shape(0);
  Type type{Element::i64, shape_of_select(call, shape)};
  if (shape[call.axis("axis", shape.size())] == 0) {
    call.refuse("{} has no elements along axis {}", print_shape(shape), call.integer("axis"));
  }
  return {type};
}

template <class T>
std::vector<long> places(const std::vector<T>& x, const Lines& lines, Prefer prefer, bool last) {
  std::vector<long> result;
  auto value = [&](long outer, long i, long inner) {
    return x[static_cast<size_t>(lines.at(outer, i, inner))];
  };
  lines.each([&](long outer, long inner) {
    long best = 0;
    for (long i = 1; i < lines.extent; ++i) {
      T now = value(outer, i, inner), before = value(outer, best, inner);
      bool better = prefer == Prefer::greatest ? now > before : now < before;
      if (better || (last && now == before)) best = i;
    }
    result.push_back(best);
  });
  return result;
}

}  // namespace

Op arg_op(const std::string& name, const std::string& summary, Prefer prefer) {
  auto run = [prefer](const Call& call, const std::vector<Array>& inputs) {
    const Array& x = inputs[0];
    Lines lines(x.shape(), call.axis("axis", x.rank()));
    std::vector<long> found = on_numbers(x.element(), [&](auto zero) {
      return places(numbers<decltype(zero)>(x), lines, prefer, call.flag("last"));
    });
    return std::vector<Array>{array_of(Element::i64, shape_of_select(call, x.shape()), found)};
  };
  return {.name = name,
          .summary = summary,
          .examples = {name + "(f32[2x3])", name + "(i32[2x3x4], axis=-2, keep=0, last=1)"},
          .graph = {.settings = {{"axis", 0L, "the dimension"},
                                 {"keep", 1L, "1: the output keeps it, with extent 1"},
                                 {"last", 0L, "1: of equal elements the last, not the first"}},
                    .infer = types_of_select,
                    .run = run}};
}

}  // namespace lathe::ops
