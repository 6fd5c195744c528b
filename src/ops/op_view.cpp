// op_view.cpp: calls that only choose elements. Interface: op_view.h.
#include "ops/op_view.h"

#include "poly/relation.h"

namespace lathe::ops {
namespace {

/// Returns  start, start + step, ...
Shape stepped(long start, long step, long count) {
  Shape list;
  for (long i = 0; i < count; ++i) list.push_back(start + step * i);
  return list;
}

/// A list of the form  start + outer*(i / length) + inner*(i % length).
struct Pattern {
  long start, length, outer, inner;
};

std::optional<Pattern> pattern_of(const Shape& list) {
  auto count = static_cast<long>(list.size());
  auto at = [&](long i) { return list[static_cast<size_t>(i)]; };
  Pattern p{at(0), 1, 0, count > 1 ? at(1) - at(0) : 0};
  while (p.length < count && at(p.length) - at(p.length - 1) == p.inner) ++p.length;
  if (p.length < count) p.outer = at(p.length) - at(0);
  for (long i = 0; i < count; ++i) {
    if (at(i) != p.start + p.outer * (i / p.length) + p.inner * (i % p.length)) return std::nullopt;
  }
  return p;
}

}  // namespace

std::optional<View> view_of(const Call& call) {
  if (call.name() != "slice" && call.name() != "take") return std::nullopt;
  const Shape& from = call.shape(0);
  View view;
  for (long extent : from) view.push_back(stepped(0, 1, extent));
  if (call.name() == "slice") {
    const Shape &starts = call.integers("starts"), &sizes = call.integers("sizes");
    Shape steps = call.integers("steps", from.size());
    for (size_t d = 0; d < from.size(); ++d) view[d] = stepped(starts[d], steps[d], sizes[d]);
  } else {
    size_t axis = call.axis("axis", from.size());
    view[axis] = call.integers("indices");
    for (long& index : view[axis]) index += index < 0 ? from[axis] : 0;
  }
  for (const Shape& list : view) {
    if (list.empty()) return std::nullopt;
  }
  return view;
}

View composed(const View& outer, const View& inner) {
  View view = inner;
  for (size_t d = 0; d < view.size(); ++d) {
    for (long& index : view[d]) index = outer[d][static_cast<size_t>(index)];
  }
  return view;
}

std::optional<isl::aff> chosen(const Shape& list, const isl::aff& index, const isl::set& domain) {
  auto pattern = pattern_of(list);
  if (!pattern) return std::nullopt;
  if (pattern->length == static_cast<long>(list.size())) {
    return index.scale(pattern->inner).add_constant(pattern->start);
  }
  isl::aff turn = poly::quotient(index, pattern->length);
  isl::aff inside = index.sub(turn.scale(pattern->length));
  isl::aff all = turn.scale(pattern->outer).add(inside.scale(pattern->inner));
  isl::multi_aff one = poly::tuple(domain.space(), {all.add_constant(pattern->start)});
  return poly::simplified(one, domain).at(0);
}

bool is_stretch(const Shape& list) {
  return list == stepped(list.front(), 1, static_cast<long>(list.size()));
}

}  // namespace lathe::ops
