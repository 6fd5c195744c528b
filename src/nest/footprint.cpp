// footprint.cpp: counting instances and touched elements. Interface: footprint.h.
#include "nest/footprint.h"

#include <algorithm>

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

/// Which dimension of the tensor is loop "depth" for all its users?
std::optional<size_t> dimension_of_loop(const Nest& nest, const std::vector<Use>& users,
                                        size_t depth) {
  for (unsigned d = 0; d < users.front().at->size(); ++d) {
    bool all = std::all_of(users.begin(), users.end(), [&](const Use& use) {
      const isl::aff& loop = nest.order[use.statement].loops[depth].value;
      return poly::same(use.at->at(static_cast<int>(d)), loop);
    });
    if (all) return d;
  }
  return std::nullopt;
}

/// Which dimensions of a local tensor are, for all users, the outermost loops that they share? What
/// lives in different iterations of these can be stored in one place.
std::vector<bool> reused_dimensions(const Nest& nest, const std::vector<Use>& users) {
  std::vector<bool> reused(users.front().at->size(), false);
  const Order& first = nest.order[users.front().statement];
  size_t shared = first.loops.size();
  for (const Use& use : users) {
    shared = std::min(shared, shared_loops(first, nest.order[use.statement]));
  }
  for (size_t depth = 0; depth < shared; ++depth) {
    auto dimension = dimension_of_loop(nest, users, depth);
    if (!dimension) break;
    reused[*dimension] = true;
  }
  return reused;
}

isl::multi_aff without(const isl::multi_aff& at, const std::vector<bool>& dropped,
                       const isl::space& space) {
  std::vector<isl::aff> kept;
  for (size_t d = 0; d < dropped.size(); ++d) {
    if (!dropped[d]) kept.push_back(at.at(static_cast<int>(d)));
  }
  return poly::tuple(space, kept);
}

/// Do data decide which elements of the tensor are read?
bool is_picked_from(const Nest& nest, size_t tensor) {
  bool result = false;
  for (const Statement& s : nest.statements()) {
    each_pick(s.value,
              [&](const Pick& pick) { result = result || s.reads[pick.read].tensor == tensor; });
  }
  return result;
}

/// Returns how many elements picks may touch: one in each instance, or all.
long most_picked(const Nest& nest, size_t tensor, const std::vector<Use>& users) {
  long all = 1, instances = 0;
  for (long extent : nest.tensors()[tensor].shape) all *= extent;
  for (const Use& use : users) instances += poly::count(nest.statements()[use.statement].domain);
  return std::min(all, instances);
}

}  // namespace

long touched(const Nest& nest, size_t tensor) {
  std::vector<Use> users = uses(nest, tensor);
  if (users.empty()) return 0;
  if (is_picked_from(nest, tensor)) return most_picked(nest, tensor, users);
  std::vector<bool> reused(nest.tensors()[tensor].shape.size(), false);
  if (nest.tensors()[tensor].role == Role::local) reused = reused_dimensions(nest, users);
  std::vector<poly::Image> images;
  for (const Use& use : users) {
    const isl::set& domain = nest.statements()[use.statement].domain;
    images.push_back({domain, without(*use.at, reused, domain.space())});
  }
  return poly::count_union(images);
}

Cost operations(const Nest& nest) {
  Cost result;
  for (const Statement& s : nest.statements()) {
    long instances = poly::count(s.domain);
    result.instances += instances;
    if (multiplies_and_adds(s)) result.macs += instances;
  }
  return result;
}

Cost cost(const Nest& nest) {
  Cost result = operations(nest);
  for (size_t t = 0; t < nest.tensors().size(); ++t) {
    const Tensor& tensor = nest.tensors()[t];
    long elements = touched(nest, t);
    if (tensor.role == Role::weight) result.weights += elements;
    result.bytes += elements * size_of(tensor.element);
  }
  return result;
}

}  // namespace lathe
