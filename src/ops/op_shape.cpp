// op_shape.cpp: checked sizes, the batch dimension, the bias. Interface: op_shape.h.
#include "ops/op_shape.h"

#include "base/error.h"

namespace lathe::ops {

Param batch_param() { return {"n", 0, "samples; 0: no batch dimension"}; }

void check_sizes(std::string_view op, const Params& p, std::initializer_list<const char*> sizes) {
  for (const char* name : sizes) {
    if (p[name] < 1) fail("{}: {} must be at least 1, not {}", op, name, p[name]);
  }
  if (p["n"] < 0) fail("{}: n must be at least 0, not {}", op, p["n"]);
}

bool is_set(std::string_view op, const Params& p, const std::string& name) {
  if (p[name] != 0 && p[name] != 1) fail("{}: {} must be 0 or 1, not {}", op, name, p[name]);
  return p[name] == 1;
}

std::vector<long> batched_shape(long n, std::vector<long> shape) {
  if (n > 0) shape.insert(shape.begin(), n);
  return shape;
}

StatementBuilder::Extents batched_loops(long n, StatementBuilder::Extents extents) {
  if (n > 0) extents.insert(extents.begin(), {std::string(batch_loop), n});
  return extents;
}

std::vector<Index> batched_at(const StatementBuilder& s, long n, std::vector<Index> at) {
  if (n > 0) at.insert(at.begin(), s[std::string(batch_loop)]);
  return at;
}

void assign_bias(NestBuilder& b, size_t output, long n, const StatementBuilder::Extents& extents,
                 Element element) {
  const auto& [channel, channels] = extents.front();
  size_t bias = b.tensor("B", Role::weight, {channels}, element);
  auto& s = b.statement("bias", batched_loops(n, extents));
  std::vector<Index> at;
  for (const auto& [name, extent] : extents) at.push_back(s[name]);
  s.assign(output, batched_at(s, n, at), s.read(bias, {s[channel]}));
}

}  // namespace lathe::ops
