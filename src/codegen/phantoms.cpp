// phantoms.cpp: instances that nobody needs. Interface: phantoms.h.
#include "codegen/phantoms.h"

#include <algorithm>

#include "codegen/matrices.h"
#include "nest/threads.h"

namespace lathe {
namespace {

using poly::Affine;

/// Which loops are indices of an access, each of one dimension? Nothing if there are other indices,
/// or if a loop counts further than the dimension: there begin the elements of others.
std::optional<std::vector<bool>> plain_indices(const Access& access, const Order& order,
                                               const std::vector<long>& shape) {
  std::vector<poly::Interval> ranges;
  for (const Loop& loop : order.loops) ranges.push_back({0, loop.extent - 1});
  std::vector<bool> indices(order.loops.size(), false);
  size_t dimension = 0;
  for (const isl::aff& part : poly::parts(access.at.pullback(order.instance))) {
    long extent = shape.at(dimension++);
    Affine index = poly::narrowed(poly::take_apart(part), ranges);
    if (index.is_constant()) continue;
    if (!index.is_linear() || index.constant != 0) return std::nullopt;
    std::vector<bool> involved = poly::involved(index);
    if (std::count(involved.begin(), involved.end(), true) != 1) return std::nullopt;
    auto depth =
        static_cast<size_t>(std::find(involved.begin(), involved.end(), true) - involved.begin());
    if (index.coefficients[depth] != 1 || order.loops[depth].extent > extent) return std::nullopt;
    indices[depth] = true;
  }
  return indices;
}

class Phantoms {
 public:
  Phantoms(const Nest& nest, const Target& target) : nest_(nest), target_(target) {}

  void visit(std::vector<LoopNode>& nodes) {
    for (LoopNode& node : nodes) {
      if (node.kind == LoopNode::Kind::statement) relax(node);
      if (node.kind == LoopNode::Kind::loop && matrix_of(node, nest_, target_)) continue;
      visit(node.body);
    }
  }

 private:
  const Nest& nest_;
  const Target& target_;

  void relax(LoopNode& node) {
    if (node.guard.size() != 1) return;
    const Statement& s = nest_.statements()[node.statement];
    const Order& order = nest_.order[node.statement];
    const Tensor& tensor = nest_.tensors()[s.write.tensor];
    bool own = tensor.space == Space::privately;
    if (tensor.role != Role::local || (!own && tensor.space != Space::shared)) return;
    auto indices = plain_indices(s.write, order, tensor.shape);
    if (!indices) return;
    // A thread has what is private to itself.
    if (own)
      std::fill(indices->begin(), indices->begin() + static_cast<long>(count_axes(order)), true);
    auto can_go = [&](const poly::Constraint& constraint) {
      std::vector<bool> involved = poly::involved(constraint.expression);
      for (size_t i = 0; i < involved.size(); ++i) {
        if (involved[i] && !(*indices)[i]) return false;
      }
      for (size_t r = 0; r < s.reads.size(); ++r) {
        if (!is_there(node, r, involved)) return false;
      }
      // One thread of several is chosen by an equality: the others have better things to do.
      return !constraint.equality;
    };
    std::erase_if(node.guard.front(), can_go);
    if (node.guard.front().empty()) node.guard.clear();
  }

  /// Is there an element to read, wherever these coordinates are?
  bool is_there(const LoopNode& node, size_t read, const std::vector<bool>& coordinates) const {
    const Access& access = nest_.statements()[node.statement].reads[read];
    const Tensor& tensor = nest_.tensors()[access.tensor];
    if (tensor.role == Role::local) {
      return plain_indices(access, nest_.order[node.statement], tensor.shape).has_value();
    }
    std::vector<bool> involved = poly::involved(node.reads[read]);
    for (size_t i = 0; i < std::min(involved.size(), coordinates.size()); ++i) {
      if (involved[i] && coordinates[i]) return false;
    }
    return true;
  }
};

}  // namespace

void allow_phantoms(LoopTree& tree, const Target& target) {
  for (auto& place : tree.places) Phantoms(tree.nest, target).visit(place);
}

}  // namespace lathe
