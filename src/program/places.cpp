// places.cpp: dimensions of a tensor, taken together. Interface: places.h.
#include "program/places.h"

#include <algorithm>

#include "poly/isl.h"

namespace lathe {

CountedDimension counted_dimension(const Tensor& tensor, const Access& access, size_t dimension) {
  poly::Affine index = poly::take_apart(access.at.at(static_cast<int>(dimension)));
  Pad pad = tensor.pad[dimension];
  long stored = tensor.shape[dimension];
  return {index, poly::involved(index), pad.before, stored - pad.before - pad.after, stored};
}

void Places::add(size_t dimension, const CountedDimension& how) {
  dimensions.push_back(dimension);
  counted.push_back(how);
}

bool Places::depend_on(const std::vector<size_t>& coordinates) const {
  return std::any_of(counted.begin(), counted.end(), [&](const CountedDimension& d) {
    return std::any_of(coordinates.begin(), coordinates.end(),
                       [&](size_t c) { return d.involved[c]; });
  });
}

long Places::size() const {
  long product = 1;
  for (const CountedDimension& d : counted) product *= d.extent;
  return product;
}

long Places::at(const std::vector<long>& instance) const {
  long place = 0;
  for (const CountedDimension& d : counted) {
    place = place * d.stored + poly::evaluate(d.index, instance);
  }
  return place;
}

long Places::source(long place) const {
  auto at = from == nullptr ? std::nullopt : inner(place);
  return at ? outer((*from)[static_cast<size_t>(*at)]) : place;
}

std::optional<long> Places::inner(long place) const {
  long result = 0, unit = 1;
  for (size_t d = counted.size(); d-- > 0;) {
    long index = place % counted[d].stored - counted[d].before;
    if (index < 0 || index >= counted[d].extent) return std::nullopt;
    result += index * unit;
    unit *= counted[d].extent;
    place /= counted[d].stored;
  }
  return result;
}

long Places::outer(long inner) const {
  long place = 0, unit = 1;
  for (size_t d = counted.size(); d-- > 0;) {
    place += (inner % counted[d].extent + counted[d].before) * unit;
    unit *= counted[d].stored;
    inner /= counted[d].extent;
  }
  return place;
}

}  // namespace lathe
