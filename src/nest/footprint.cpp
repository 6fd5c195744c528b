// footprint.cpp: counting instances and touched elements. Interface: footprint.h.
#include "nest/footprint.h"

namespace lathe {
namespace {

bool multiplies_and_adds(const Statement& s) {
  return s.update == Update::add && s.reads.size() >= 2 && is_product(s.value);
}

struct Use {
  size_t statement;
  const isl::multi_aff* at;
};

std::vector<Use> uses(const Nest& nest, size_t tensor) {
  std::vector<Use> result;
  for (size_t i = 0; i < nest.statements().size(); ++i) {
    const Statement& s = nest.statements()[i];
    if (s.write.tensor == tensor) result.push_back({i, &s.write.at});
    for (const Access& access : s.reads) {
      if (access.tensor == tensor) result.push_back({i, &access.at});
    }
  }
  return result;
}

/// How many leading dimensions of a local tensor are, for all users, the loops that they share?
size_t reused_dimensions(const Nest& nest, const std::vector<Use>& users, size_t rank) {
  const Order& first = nest.order[users.front().statement];
  for (size_t d = 0; d < rank; ++d) {
    for (const Use& use : users) {
      const Order& order = nest.order[use.statement];
      bool shared = order.loops.size() > d && shared_loops(first, order) > d;
      if (!shared || !poly::same(use.at->at(static_cast<int>(d)), order.loops[d].value)) return d;
    }
  }
  return rank;
}

isl::multi_aff without_leading(const isl::multi_aff& at, size_t count, const isl::space& space) {
  std::vector<isl::aff> parts = poly::parts(at);
  parts.erase(parts.begin(), parts.begin() + static_cast<long>(count));
  return poly::tuple(space, parts);
}

}  // namespace

long touched(const Nest& nest, size_t tensor) {
  std::vector<Use> users = uses(nest, tensor);
  if (users.empty()) return 0;
  const Tensor& t = nest.tensors()[tensor];
  size_t reused = t.role == Role::local ? reused_dimensions(nest, users, t.shape.size()) : 0;
  std::vector<poly::Image> images;
  for (const Use& use : users) {
    const isl::set& domain = nest.statements()[use.statement].domain;
    images.push_back({domain, without_leading(*use.at, reused, domain.space())});
  }
  return poly::count_union(images);
}

Cost cost(const Nest& nest) {
  Cost result;
  for (const Statement& s : nest.statements()) {
    long instances = poly::count(s.domain);
    result.instances += instances;
    if (multiplies_and_adds(s)) result.macs += instances;
  }
  for (size_t t = 0; t < nest.tensors().size(); ++t) {
    const Tensor& tensor = nest.tensors()[t];
    long elements = touched(nest, t);
    if (tensor.role == Role::weight) result.weights += elements;
    result.bytes += elements * size_of(tensor.element);
  }
  return result;
}

}  // namespace lathe
