// heads.cpp: the heads of attention. Interface: heads.h.
#include "onnx/heads.h"

#include <numeric>

namespace lathe {

ValueId counted(const Site& site, const Shape& shape) {
  std::vector<long> list(static_cast<size_t>(site.storable(shape)));
  std::iota(list.begin(), list.end(), 0);
  return site.constant_value(Array::of_integers(Element::i64, shape, list));
}

ValueId with_heads(const Site& site, ValueId value, long heads) {
  const Shape shape = site.shape_of(value);
  if (shape.size() != 3 || heads < 1 || shape[2] % heads != 0) {
    site.wrong(fmt::format("{} cannot be split into {} heads", print_shape(shape), heads));
  }
  ValueId split = site.reshaped(value, {shape[0], shape[1], heads, shape[2] / heads});
  return site.transposed(split, {0, 2, 1, 3});
}

ValueId without_heads(const Site& site, ValueId value) {
  const Shape shape = site.shape_of(value);
  ValueId swapped = site.transposed(value, {0, 2, 1, 3});
  return site.reshaped(swapped, {shape[0], shape[2], shape[1] * shape[3]});
}

ValueId repeated_heads(const Site& site, ValueId value, long heads) {
  long own = site.shape_of(value)[1];
  if (own == heads) return value;
  if (own < 1 || heads % own != 0) {
    site.wrong(fmt::format("{} query heads cannot share {} heads", heads, own));
  }
  Shape indices;
  site.storable({heads});
  for (long h = 0; h < heads; ++h) indices.push_back(h / (heads / own));
  return site.emit("take", {value}, {{"axis", 1L}, {"indices", indices}});
}

}  // namespace lathe
