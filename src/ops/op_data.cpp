// op_data.cpp: operators that compute on arrays themselves. Interface: op_data.h.
#include "ops/op_data.h"

#include <cstring>

#include "base/error.h"

namespace lathe::ops {

Lines::Lines(const Shape& shape, size_t axis)
    : outers(count_between(shape, 0, axis)),
      extent(shape[axis]),
      inners(count_between(shape, axis + 1, shape.size())) {}

void advance(Shape& index, const Shape& shape) {
  for (size_t i = shape.size(); i-- > 0;) {
    if (++index[i] < shape[i]) return;
    index[i] = 0;
  }
}

Shape strides_of(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

long count_between(const Shape& shape, size_t first, size_t end) {
  long count = 1;
  for (size_t i = first; i < end; ++i) count *= shape[i];
  return count;
}

long index_in(const Call& call, long value, long extent) {
  if (value < -extent || value >= extent) {
    call.refuse("index {} is outside of {} elements", value, extent);
  }
  return value < 0 ? value + extent : value;
}

Array picked(const Array& from, Shape shape, const std::vector<long>& sources) {
  return picked(from, Array(from.element(), {0}), std::move(shape), sources);
}

Array picked(const Array& from, const Array& more, Shape shape, const std::vector<long>& sources) {
  long count = from.count();
  if (from.element() == Element::string) {
    std::vector<std::string> strings;
    for (long i : sources) {
      const Array& array = i < count ? from : more;
      strings.push_back(array.strings().at(static_cast<size_t>(i < count ? i : i - count)));
    }
    return Array::of_strings(std::move(shape), std::move(strings));
  }
  auto size = static_cast<size_t>(size_of(from.element()));
  std::vector<std::byte> bytes(sources.size() * size);
  for (size_t k = 0; k < sources.size(); ++k) {
    long i = sources[k];
    check(i >= 0 && i < count + more.count(), "an element is picked from those that there are");
    const std::byte* source = i < count
                                  ? from.bytes().data() + static_cast<size_t>(i) * size
                                  : more.bytes().data() + static_cast<size_t>(i - count) * size;
    std::memcpy(bytes.data() + k * size, source, size);
  }
  return Array::of_bytes(from.element(), std::move(shape), bytes);
}

}  // namespace lathe::ops
