// A tensor that several operators compute in parts: every second row, some channels. The parts are
// put together by take, concat and add.
#pragma once

#include "ops/op_graph.h"

namespace lathe {

/// Returns "count" numbers: first, first + 1, ...
Shape counted(long count, long first = 0);

/// A part of a tensor: element (i, j, ...) of the piece is element (to[0][i], to[1][j], ...) of the
/// tensor, and element (from[0][i], from[1][j], ...) of the value.
struct Piece {
  ValueId value;
  std::vector<Shape> from, to;
};

/// The pieces of one tensor while its operators are added to a graph.
class Pieces {
 public:
  /// Nodes that put pieces together are named "name".concat and the like.
  Pieces(GraphBuilder& graph, std::string name) : graph_(&graph), name_(std::move(name)) {}

  /// Is there a piece at exactly this place?
  bool has(const Piece& place) const;
  /// Adds a piece. If there is one at the same place, the two are summed.
  void add(const Piece& piece);

  /// Puts a piece in place of the one at the same place, if there is one: it was assigned, not
  /// added.
  void assign(const Piece& piece);

  /// Returns all pieces as one; nothing if there are none or they do not fit together.
  std::optional<Piece> merged() const;
  /// Returns the whole tensor of this shape; nothing if elements are missing.
  std::optional<ValueId> whole(const Shape& shape) const;

 private:
  GraphBuilder* graph_;
  std::string name_;
  std::vector<Piece> pieces_;

  ValueId materialised(const Piece& piece) const;
  Piece joined(const Piece& a, const Piece& b, size_t dimension) const;
};

/// Returns the elements along one dimension that a list of indices names. The result is the value
/// itself, a slice, or a take.
ValueId taken(GraphBuilder& graph, ValueId value, size_t axis, const Shape& indices,
              const std::string& name);

}  // namespace lathe
