// touches.cpp: what code will touch, before it is written. Interface: touches_of() of tile.h.
#include <utility>

#include "codegen/panels.h"
#include "codegen/tile.h"

namespace lathe {
namespace {

/// Walks nodes as they will be written, and notes what their statements touch.
class Looking {
 public:
  Looking(const Nest& nest, Bindings bindings) : nest_(nest), bindings_(std::move(bindings)) {}

  std::vector<Touch> run(const std::vector<LoopNode>& nodes) {
    walk(nodes);
    return std::move(touches_);
  }

 private:
  const Nest& nest_;
  Bindings bindings_;
  std::vector<Touch> touches_;
  bool in_guard_ = false;

  void walk(const std::vector<LoopNode>& nodes) {
    for (const LoopNode& node : nodes) {
      switch (node.kind) {
        case LoopNode::Kind::statement:
          look_at(node);
          break;
        case LoopNode::Kind::range:
          walk_range(node);
          break;
        case LoopNode::Kind::loop:
          walk_loop(node);
          break;
        case LoopNode::Kind::barrier:
          break;
      }
    }
  }

  void walk_range(const LoopNode& node) {
    poly::Interval whole = bindings_.range(node.depth);
    bindings_.bind(node.depth, {node.from, node.to - 1});
    bool outer = std::exchange(in_guard_, true);
    walk(node.body);
    in_guard_ = outer;
    bindings_.bind(node.depth, whole);
  }

  void walk_loop(const LoopNode& node) {
    switch (bindings_.way_of(node)) {
      case Way::lanes:
        bindings_.bind_lanes(node);
        walk(node.body);
        bindings_.end_lanes();
        return;
      case Way::unrolled:
        for (long i = node.from; i < node.to; ++i) {
          bindings_.bind_unrolled(node, i);
          walk(node.body);
        }
        return;
      case Way::matrix:
        return walk_matrix(node);
      case Way::panels:
        return look_at_panels(*panels_of(node, nest_, bindings_.target()));
      case Way::dot:
        bindings_.bind(node.depth, {node.from, node.from});
        return walk(node.body);
      case Way::once:
      case Way::loop:
        bindings_.bind(node.depth, {node.from, node.to - 1});
        walk(node.body);
        return;
    }
  }

  /// A product of matrices touches all that its loops say.
  void walk_matrix(const LoopNode& node) {
    if (node.kind != LoopNode::Kind::loop) {
      LoopNode always = node;
      always.guard.clear();
      return look_at(always);
    }
    for (long i = node.from; i < node.to; ++i) {
      bindings_.bind_unrolled(node, i);
      walk_matrix(node.body.front());
    }
  }

  void look_at_panels(const PanelProduct& product) {
    for (const LoopNode* loop : product.loops) bindings_.bind(loop->depth, {0, 0});
    const Statement& s = nest_.statements()[product.statement->statement];
    auto note = [&](size_t tensor, const poly::Affine& offset, long rows, long lanes, long stride,
                    bool write) {
      poly::Affine at = poly::narrowed(offset, bindings_.ranges(offset.coefficients.size()));
      touches_.push_back({tensor, at, lanes, 1, write, true, in_guard_, rows, stride});
    };
    note(s.reads[product.data].tensor, product.statement->reads[product.data], product.rows,
         product.depth * product.terms, product.data_stride, false);
    note(s.reads[product.weights].tensor, product.statement->reads[product.weights], product.depth,
         product.columns * product.terms, product.weight_stride, false);
    note(s.write.tensor, product.statement->write, product.rows, product.columns,
         product.sum_stride, true);
  }

  void look_at(const LoopNode& node) {
    Guard open;
    if (!can_hold(node.guard, bindings_.ranges(node.write.coefficients.size()), open)) return;
    const Statement& s = nest_.statements()[node.statement];
    auto note = [&](size_t tensor, const poly::Affine& offset, bool write, bool old) {
      long step = bindings_.lane_step(offset);
      poly::Affine at = poly::narrowed(offset, bindings_.ranges(offset.coefficients.size()));
      touches_.push_back({tensor, at, step == 0 ? 1 : bindings_.lanes(), step, write, old,
                          !open.empty() || in_guard_});
    };
    for (size_t i = 0; i < s.reads.size(); ++i) note(s.reads[i].tensor, node.reads[i], false, true);
    note(s.write.tensor, node.write, true, s.update != Update::assign);
  }
};

}  // namespace

std::vector<Touch> touches_of(const std::vector<LoopNode>& nodes, const Bindings& bindings,
                              const Nest& nest) {
  return Looking(nest, bindings).run(nodes);
}

}  // namespace lathe
