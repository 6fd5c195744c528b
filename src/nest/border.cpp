// border.cpp: what sets the border of a tensor. Interface: border.h.
#include "nest/border.h"

#include <fmt/format.h>

#include "nest/builder.h"

namespace lathe {

Nest border_of(isl::ctx ctx, const std::vector<long>& shape, const std::vector<Pad>& border,
               double padding, Element element) {
  NestBuilder b(ctx, "border");
  std::vector<long> whole = shape;
  for (size_t i = 0; i < shape.size(); ++i) whole[i] += border[i].before + border[i].after;
  size_t O = b.tensor("O", Role::output, whole, element);
  // Of each dimension the elements before and after, inside the dimensions before it.
  for (size_t d = 0; d < shape.size(); ++d) {
    for (bool after : {false, true}) {
      long extent = after ? border[d].after : border[d].before;
      if (extent == 0) continue;
      StatementBuilder::Extents loops;
      for (size_t i = 0; i < shape.size(); ++i) {
        loops.emplace_back(fmt::format("i{}", i), i < d ? shape[i] : i == d ? extent : whole[i]);
      }
      auto& s = b.statement(fmt::format("{}{}", after ? "after" : "before", d), loops);
      std::vector<Index> at;
      for (size_t i = 0; i < shape.size(); ++i) {
        long first = i < d ? border[i].before : i == d && after ? border[i].before + shape[i] : 0;
        at.push_back(s[fmt::format("i{}", i)] + first);
      }
      s.assign(O, at, number(padding));
    }
  }
  return b.build();
}

}  // namespace lathe
