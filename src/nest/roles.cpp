// roles.cpp: the roles of coordinates. Interface: roles.h.
#include "nest/roles.h"

#include <algorithm>

namespace lathe {
namespace {

bool picks_weights_at(const Statement& s, const std::vector<Tensor>& tensors, size_t i) {
  return std::any_of(s.reads.begin(), s.reads.end(), [&](const Access& access) {
    return tensors[access.tensor].role == Role::weight && poly::involves(access.at, i);
  });
}

/// Does an index of this access combine coordinate "i" with one that picks no weights: a position?
/// (Channels are combined with others where they are split, or in groups. They do not slide.)
bool combined(const Statement& s, const std::vector<Tensor>& tensors, const Access& access,
              size_t i) {
  for (const isl::aff& part : poly::parts(access.at)) {
    if (!poly::involves(part, i)) continue;
    for (size_t j = 0; j < s.dims.size(); ++j) {
      if (j != i && poly::involves(part, j) && !picks_weights_at(s, tensors, j)) return true;
    }
  }
  return false;
}

}  // namespace

CoordinateRole role_of(const Statement& s, const std::vector<Tensor>& tensors, size_t i) {
  bool weighted = false, picks_weights = false, slides = false;
  for (const Access& access : s.reads) {
    bool weight = tensors[access.tensor].role == Role::weight;
    weighted = weighted || weight;
    if (!poly::involves(access.at, i)) continue;
    picks_weights = picks_weights || weight;
    slides = slides || (!weight && combined(s, tensors, access, i));
  }
  if (poly::involves(s.write.at, i)) {
    bool filter = weighted ? picks_weights : !slides;
    return filter ? CoordinateRole::filter : CoordinateRole::position;
  }
  if (slides) return CoordinateRole::window;
  return picks_weights ? CoordinateRole::channel : CoordinateRole::other;
}

}  // namespace lathe
