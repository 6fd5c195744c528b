// non_zero.cpp: where a tensor is not 0: a column of indices for each such element.
#include "ops/op_check.h"
#include "ops/op_data.h"

namespace lathe::ops {
namespace {

std::vector<Type> types_of_non_zero(const Call& call) {
  check_number(call, 0);
  return {{Element::i64, {}, true}};
}

std::vector<Array> run_non_zero(const Call&, const std::vector<Array>& inputs) {
  const Shape& shape = inputs[0].shape();
  Shape at(shape.size(), 0);
  std::vector<Shape> found;
  for (double value : inputs[0].reals()) {
    if (value != 0) found.push_back(at);
    advance(at, shape);
  }
  std::vector<long> result;
  for (size_t i = 0; i < shape.size(); ++i) {
    for (const Shape& index : found) result.push_back(index[i]);
  }
  Shape columns{static_cast<long>(shape.size()), static_cast<long>(found.size())};
  return {array_of(Element::i64, columns, result)};
}

}  // namespace

Op non_zero() {
  return {.name = "non_zero",
          .summary = "indices of the elements that are not 0",
          .examples = {"non_zero(f32[2x3])", "non_zero(bool[4])"},
          .graph = {.infer = types_of_non_zero, .run = run_non_zero}};
}

}  // namespace lathe::ops
