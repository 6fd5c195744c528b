// cumprod.cpp: the products of the first elements along a dimension. No statement of a nest
// multiplies into what it writes, so it runs on arrays.
#include "ops/op_check.h"
#include "ops/op_data.h"

namespace lathe::ops {
namespace {

std::vector<Type> types_of_cumprod(const Call& call) {
  check_number(call, 0);
  call.axis("axis", call.shape(0).size());
  call.flag("exclusive");
  call.flag("reverse");
  return {call.type(0)};
}

std::vector<Array> run_cumprod(const Call& call, const std::vector<Array>& inputs) {
  const Array& x = inputs[0];
  Lines lines(x.shape(), call.axis("axis", x.rank()));
  bool exclusive = call.flag("exclusive"), reverse = call.flag("reverse");
  return on_numbers(x.element(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> values = numbers<T>(x);
    lines.each([&](long outer, long inner) {
      T before = T(1);
      for (long i = 0; i < lines.extent; ++i) {
        long at = lines.at(outer, reverse ? lines.extent - 1 - i : i, inner);
        T& value = values[static_cast<size_t>(at)];
        T with = product(before, value);
        value = exclusive ? before : with;
        before = with;
      }
    });
    return std::vector<Array>{array_of(x.element(), x.shape(), values)};
  });
}

}  // namespace

Op cumprod() {
  return {.name = "cumprod",
          .summary = "products of the first elements along one dimension",
          .examples = {"cumprod(f32[2x5], axis=1)", "cumprod(i32[4x3], axis=-2, exclusive=1)"},
          .graph = {.settings = {{"axis", 0L, "the dimension", Setting::Need::required},
                                 {"exclusive", 0L, "1: without the element itself"},
                                 {"reverse", 0L, "1: the last elements, not the first"}},
                    .infer = types_of_cumprod,
                    .run = run_cumprod}};
}

}  // namespace lathe::ops
