// op_fused_views.cpp: parts that are views. Interface: op_fused_views.h.
#include "ops/op_fused_views.h"

#include <algorithm>

#include "poly/relation.h"

namespace lathe::ops {
namespace {

/// One tensor of a part's nest that stands for an operand or for the result of a part.
struct Reading {
  size_t part, tensor;
  Source source;
};

std::vector<Reading> readings_of(const std::vector<TypedPart>& parts,
                                 const std::vector<Nest>& nests) {
  std::vector<Reading> result;
  for (size_t p = 0; p < parts.size(); ++p) {
    std::vector<Source> sources = sources_of(parts[p]);
    size_t next = 0;
    for (size_t t = 0; t < nests[p].tensors().size(); ++t) {
      Role role = nests[p].tensors()[t].role;
      if (role == Role::input || role == Role::weight) result.push_back({p, t, sources[next++]});
    }
  }
  return result;
}

/// Finds the views that everything can read through.
class Views {
 public:
  Views(const std::vector<TypedPart>& parts, const std::vector<Nest>& nests)
      : parts_(parts), nests_(nests), readings_(readings_of(parts, nests)), seen_(parts.size()) {
    // The last part is what the operator computes.
    for (size_t p = 0; p + 1 < parts.size(); ++p) seen_[p] = candidate(p);
  }

  std::vector<std::optional<SeenThrough>> find() {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t p = 0; p < seen_.size(); ++p) {
        if (!seen_[p] || can_be_seen_through(p)) continue;
        drop(p);
        changed = true;
      }
    }
    return seen_;
  }

 private:
  const std::vector<TypedPart>& parts_;
  const std::vector<Nest>& nests_;
  std::vector<Reading> readings_;
  std::vector<std::optional<SeenThrough>> seen_;

  std::optional<SeenThrough> candidate(size_t p) const {
    auto view = view_of(parts_[p].call);
    if (!view) return std::nullopt;
    const Source& source = parts_[p].part.sources.front();
    if (source.kind == Source::Kind::operand) {
      return SeenThrough{source.index, parts_[p].call.shape(0), *view};
    }
    const auto& before = seen_[source.index];
    if (!before) return std::nullopt;
    return SeenThrough{before->operand, before->shape, composed(before->view, *view)};
  }

  /// Computes a part after all, and what was a view of it.
  void drop(size_t p) {
    seen_[p] = std::nullopt;
    for (size_t q = p + 1; q < seen_.size(); ++q) {
      if (seen_[q]) seen_[q] = candidate(q);
    }
  }

  const Tensor& tensor_of(const Reading& r) const { return nests_[r.part].tensors()[r.tensor]; }

  bool can_be_seen_through(size_t p) const {
    for (const Reading& r : readings_) {
      bool reads = r.source.kind == Source::Kind::result && r.source.index == p;
      if (reads && !seen_[r.part] && !reads_through(r, *seen_[p])) return false;
    }
    return has_one_padding(seen_[p]->operand);
  }

  /// Can a part that computes something read through a view?
  bool reads_through(const Reading& r, const SeenThrough& seen) const {
    bool elements = is_elementwise(parts_[r.part].call);
    for (const Statement& s : nests_[r.part].statements()) {
      for (const Access& read : s.reads) {
        if (read.tensor != r.tensor) continue;
        auto indices = seen_through(seen, tensor_of(r), read, s.domain);
        if (!indices) return false;
        // Sums want to know how their data lie; an element is found wherever it is.
        bool floors = std::any_of(indices->begin(), indices->end(),
                                  [](const isl::aff& a) { return a.involves_locals(); });
        if (floors && !elements) return false;
      }
    }
    return true;
  }

  /// Is an operand read with the same padding by all, be it through a view? Those after the first
  /// may read it without.
  bool has_one_padding(size_t operand) const {
    const Tensor* first = nullptr;
    for (const Reading& r : readings_) {
      if (seen_[r.part]) continue;
      bool is_view = r.source.kind == Source::Kind::result && seen_[r.source.index];
      bool is_operand = r.source.kind == Source::Kind::operand;
      if (!is_view && !is_operand) continue;
      if ((is_view ? seen_[r.source.index]->operand : r.source.index) != operand) continue;
      const Tensor& tensor = tensor_of(r);
      bool plain = std::all_of(tensor.pad.begin(), tensor.pad.end(),
                               [](const Pad& pad) { return pad == Pad{}; });
      bool same = !first || (first->pad == tensor.pad && first->padding == tensor.padding);
      if (!same && !plain) return false;
      if (!first) first = &tensor;
    }
    return true;
  }
};

}  // namespace

std::vector<Source> sources_of(const TypedPart& part) {
  std::vector<Source> sources;
  for (const Source& source : part.part.sources) {
    if (source.kind != Source::Kind::nothing) sources.push_back(source);
  }
  return sources;
}

std::vector<std::optional<SeenThrough>> parts_seen_through(const std::vector<TypedPart>& parts,
                                                           const std::vector<Nest>& nests) {
  return Views(parts, nests).find();
}

std::optional<std::vector<isl::aff>> seen_through(const SeenThrough& seen, const Tensor& tensor,
                                                  const Access& access, const isl::set& domain) {
  std::vector<isl::aff> indices = poly::parts(access.at);
  if (indices.size() != seen.view.size()) return std::nullopt;
  for (size_t d = 0; d < indices.size(); ++d) {
    const Shape& list = seen.view[d];
    const Pad& pad = tensor.pad[d];
    if (pad.before > 0 || pad.after > 0) {
      // The padding must be next to the same elements.
      if (!is_stretch(list) || (pad.before > 0 && list.front() != 0)) return std::nullopt;
      if (pad.after > 0 && list.back() + 1 != seen.shape[d]) return std::nullopt;
      indices[d] = indices[d].add_constant(list.front());
      continue;
    }
    auto index = chosen(list, indices[d], domain);
    if (!index) return std::nullopt;
    indices[d] = *index;
  }
  return indices;
}

}  // namespace lathe::ops
