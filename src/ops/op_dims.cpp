// op_dims.cpp: loops over tensors of any rank. Interface: op_dims.h.
#include "ops/op_dims.h"

#include <algorithm>

namespace lathe::ops {

std::vector<std::string> dim_names(size_t rank) {
  static const std::vector<std::string> by_rank[] = {
      {}, {"c"}, {"n", "c"}, {"n", "c", "w"}, {"n", "c", "h", "w"}, {"n", "c", "d", "h", "w"}};
  if (rank < std::size(by_rank)) return by_rank[rank];
  std::vector<std::string> names;
  for (size_t i = 0; i < rank; ++i) names.push_back(fmt::format("i{}", i));
  return names;
}

StatementBuilder::Extents loops_over(const Shape& shape) {
  std::vector<std::string> names = dim_names(shape.size());
  StatementBuilder::Extents loops;
  for (size_t i = 0; i < shape.size(); ++i) loops.emplace_back(names[i], shape[i]);
  return loops;
}

std::vector<Index> at(const StatementBuilder& s, const StatementBuilder::Extents& loops) {
  std::vector<Index> result;
  for (const auto& [name, extent] : loops) result.push_back(s[name]);
  return result;
}

std::vector<Index> broadcast_at(const StatementBuilder& s, const std::vector<Index>& at,
                                const Shape& shape) {
  size_t skipped = at.size() - shape.size();
  std::vector<Index> result;
  for (size_t i = 0; i < shape.size(); ++i) {
    result.push_back(shape[i] == 1 ? s.at(0) : at[skipped + i]);
  }
  return result;
}

Shape broadcast(const Call& call, size_t first, size_t last) {
  Shape result;
  for (size_t k = first; k <= last; ++k) {
    const Shape& shape = call.shape(k);
    if (shape.size() > result.size())
      result.insert(result.begin(), shape.size() - result.size(), 1);
    size_t skipped = result.size() - shape.size();
    for (size_t i = 0; i < shape.size(); ++i) {
      long& extent = result[skipped + i];
      if (extent != shape[i] && extent != 1 && shape[i] != 1) {
        call.refuse("shapes {} and {} do not broadcast", print_shape(call.shape(first)),
                    print_shape(shape));
      }
      if (extent == 1) extent = shape[i];
    }
  }
  return result;
}

size_t declare(NestBuilder& b, const Call& call, size_t i, const std::string& name) {
  return b.tensor(name, call.role(i), call.shape(i), call.element(i));
}

size_t declare_output(NestBuilder& b, const Type& type, const std::string& name) {
  return b.tensor(name, Role::output, type.shape, type.element);
}

void check_same_element(const Call& call, size_t i) {
  if (call.element(i) == call.element(0)) return;
  call.refuse("operands of the types {} and {} do not go together", name_of(call.element(0)),
              name_of(call.element(i)));
}

}  // namespace lathe::ops
