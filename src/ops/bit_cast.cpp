// bit_cast.cpp: the bits of elements read as another type of the same size.
#include "ops/op_check.h"

namespace lathe::ops {
namespace {

std::vector<Type> types_of_bit_cast(const Call& call) {
  check_number(call, 0);
  Element to = element_setting(call, "to");
  if (size_of(to) != size_of(call.element(0))) {
    call.refuse("{} and {} differ in size", name_of(call.element(0)), name_of(to));
  }
  return {{to, call.shape(0)}};
}

std::vector<Array> run_bit_cast(const Call& call, const std::vector<Array>& inputs) {
  Element to = types_of_bit_cast(call).front().element;
  return {Array::of_bytes(to, inputs[0].shape(), inputs[0].bytes())};
}

}  // namespace

Op bit_cast() {
  return {.name = "bit_cast",
          .summary = "bits of elements as another type of the same size",
          .examples = {"bit_cast(f32[2x3], to=\"i32\")", "bit_cast(i8[4], to=\"u8\")"},
          .graph = {.settings = {{"to", std::string("i32"), "the element type"}},
                    .infer = types_of_bit_cast,
                    .run = run_bit_cast}};
}

}  // namespace lathe::ops
