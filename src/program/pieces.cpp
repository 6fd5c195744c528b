// pieces.cpp: a tensor that is computed in parts. Interface: pieces.h.
#include "program/pieces.h"

#include <algorithm>
#include <numeric>

namespace lathe {
namespace {

/// Returns the piece with its indices in order: pieces of the same place then look the same.
Piece in_order(Piece piece) {
  for (size_t d = 0; d < piece.to.size(); ++d) {
    std::vector<std::pair<long, long>> pairs;
    for (size_t i = 0; i < piece.to[d].size(); ++i) {
      pairs.emplace_back(piece.to[d][i], piece.from[d][i]);
    }
    std::sort(pairs.begin(), pairs.end());
    for (size_t i = 0; i < pairs.size(); ++i) {
      std::tie(piece.to[d][i], piece.from[d][i]) = pairs[i];
    }
  }
  return piece;
}

bool are_disjoint(const Shape& a, const Shape& b) {
  return std::none_of(a.begin(), a.end(),
                      [&](long x) { return std::find(b.begin(), b.end(), x) != b.end(); });
}

/// Returns the dimension along which two pieces stand side by side, if there is just one.
std::optional<size_t> beside(const Piece& a, const Piece& b) {
  std::optional<size_t> result;
  for (size_t d = 0; d < a.to.size(); ++d) {
    if (a.to[d] == b.to[d]) continue;
    if (result || !are_disjoint(a.to[d], b.to[d])) return std::nullopt;
    result = d;
  }
  return result;
}

}  // namespace

Shape counted(long count, long first) {
  Shape list(static_cast<size_t>(count));
  std::iota(list.begin(), list.end(), first);
  return list;
}

ValueId taken(GraphBuilder& graph, ValueId value, size_t axis, const Shape& indices,
              const std::string& name) {
  Shape shape = graph.shape(value);
  if (indices == counted(shape[axis])) return value;
  if (indices == counted(static_cast<long>(indices.size()), indices.front())) {
    Shape starts(shape.size(), 0), sizes = shape;
    starts[axis] = indices.front();
    sizes[axis] = static_cast<long>(indices.size());
    return graph.call("slice", {value}, {{"starts", starts}, {"sizes", sizes}}, name + ".slice");
  }
  return graph.call("take", {value}, {{"axis", static_cast<long>(axis)}, {"indices", indices}},
                    name + ".take");
}

bool Pieces::has(const Piece& place) const {
  Piece ordered = in_order(place);
  return std::any_of(pieces_.begin(), pieces_.end(),
                     [&](const Piece& there) { return there.to == ordered.to; });
}

void Pieces::add(const Piece& unordered) {
  Piece piece = in_order(unordered);
  for (Piece& there : pieces_) {
    if (there.to != piece.to) continue;
    there.value =
        graph_->call("add", {materialised(there), materialised(piece)}, {}, name_ + ".sum");
    for (Shape& list : there.from) list = counted(static_cast<long>(list.size()));
    return;
  }
  pieces_.push_back(piece);
}

void Pieces::assign(const Piece& unordered) {
  Piece piece = in_order(unordered);
  auto there = std::find_if(pieces_.begin(), pieces_.end(),
                            [&](const Piece& other) { return other.to == piece.to; });
  if (there != pieces_.end()) pieces_.erase(there);
  pieces_.push_back(std::move(piece));
}

ValueId Pieces::materialised(const Piece& piece) const {
  ValueId value = piece.value;
  for (size_t d = 0; d < piece.from.size(); ++d) {
    value = taken(*graph_, value, d, piece.from[d], name_);
  }
  return value;
}

Piece Pieces::joined(const Piece& a, const Piece& b, size_t dimension) const {
  auto append = [](Shape& list, const Shape& more) {
    list.insert(list.end(), more.begin(), more.end());
  };
  Piece result = a;
  bool same_elsewhere = a.value == b.value;
  for (size_t k = 0; k < a.from.size(); ++k) {
    same_elsewhere = same_elsewhere && (k == dimension || a.from[k] == b.from[k]);
  }
  if (b.to[dimension].front() < a.to[dimension].front() && !same_elsewhere) {
    return joined(b, a, dimension);  // nothing is to be put into order then
  }
  append(result.to[dimension], b.to[dimension]);
  if (same_elsewhere) {
    append(result.from[dimension], b.from[dimension]);
    return in_order(result);
  }
  result.value = graph_->call("concat", {materialised(a), materialised(b)},
                              {{"axis", static_cast<long>(dimension)}}, name_ + ".concat");
  for (size_t k = 0; k < result.from.size(); ++k) {
    result.from[k] = counted(static_cast<long>(result.to[k].size()));
  }
  return in_order(result);
}

std::optional<Piece> Pieces::merged() const {
  std::vector<Piece> list = pieces_;
  while (list.size() > 1) {
    bool found = false;
    for (size_t i = 0; i < list.size() && !found; ++i) {
      for (size_t j = i + 1; j < list.size() && !found; ++j) {
        auto dimension = beside(list[i], list[j]);
        if (!dimension) continue;
        list[i] = joined(list[i], list[j], *dimension);
        list.erase(list.begin() + static_cast<long>(j));
        found = true;
      }
    }
    if (!found) return std::nullopt;
  }
  return list.empty() ? std::nullopt : std::optional(list.front());
}

std::optional<ValueId> Pieces::whole(const Shape& shape) const {
  auto piece = merged();
  if (!piece) return std::nullopt;
  for (size_t d = 0; d < shape.size(); ++d) {
    Shape inverse(static_cast<size_t>(shape[d]), -1);
    for (size_t i = 0; i < piece->to[d].size(); ++i) {
      inverse[static_cast<size_t>(piece->to[d][i])] = piece->from[d][i];
    }
    if (std::find(inverse.begin(), inverse.end(), -1) != inverse.end()) return std::nullopt;
    piece->value = taken(*graph_, piece->value, d, inverse, name_);
  }
  return piece->value;
}

}  // namespace lathe
