// lower.cpp: loops to vector code. Interface: lower() of code.h.
//
// The tree is walked once. A loop is bound in one of three ways: as a loop of the code, to one
// number (unrolled, or of one iteration), or as the lanes of vectors. At the beginning of each
// loop's body it is known which elements the body touches, and which of them stay in registers.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "codegen/ahead.h"
#include "codegen/code.h"
#include "codegen/dots.h"
#include "codegen/elements.h"
#include "codegen/locals.h"
#include "codegen/matrices.h"
#include "codegen/numbers.h"
#include "codegen/panels.h"
#include "codegen/prefetch.h"
#include "codegen/statements.h"
#include "codegen/writer.h"
#include "nest/marks.h"

namespace lathe {
namespace {

using poly::Affine;
using poly::Interval;

/// Elements that threads of a GPU load before they need them.
constexpr long most_ahead = 64;

class Lowering {
 public:
  Lowering(const LoopTree& tree, const Target& target, size_t place)
      : tree_(tree),
        target_(target),
        root_(tree.places[place]),
        bindings_(tree.nest, target),
        elements_(tree, place, bindings_, code_, writer_),
        statements_(tree, bindings_, code_, writer_, elements_) {
    code_.name = tree.nest.name;
    code_.number = number_of(tree.nest);
    code_.tensors = tree.nest.tensors();
    code_.layouts = tree.layouts;
    code_.used.resize(code_.tensors.size(), false);
    if (!target.is_gpu()) return;
    for (size_t t = 0; t < code_.tensors.size(); ++t) {
      const Tensor& tensor = code_.tensors[t];
      code_.spaces.push_back(tensor.role == Role::local ? tensor.space : Space::global);
    }
  }

  Code run() {
    const std::vector<LoopNode>* body = &root_;
    // The outermost parallel loops are the workers': not part of the body.
    while (body->size() == 1 && is_shared(body->front())) {
      const LoopNode& loop = body->front();
      bindings_.bind(loop.depth, {loop.from, loop.to - 1});
      if (target_.is_gpu()) {
        code_.axes.push_back({loop.mark, loop.extent()});
      } else {
        code_.parallel.push_back(loop.extent());
      }
      body = &loop.body;
    }
    lower_body(*body);
    drop_unread(code_, elements_.outside());
    if (target_.is_gpu()) {
      place_in_spaces(code_);
      check_sizes();
      load_ahead(code_, most_ahead);
    } else {
      place_locals(code_, elements_.outside());
    }
    for (const Code::Variable& variable : code_.variables) {
      if (target_.is_gpu()) break;  // extras are those of CPUs
      if (auto extra = extra_of(variable.number)) code_.needs.insert(*extra);
    }
    return std::move(code_);
  }

 private:
  const LoopTree& tree_;
  const Target& target_;
  const std::vector<LoopNode>& root_;
  Code code_;
  CodeWriter writer_{code_};
  Bindings bindings_;
  Elements elements_;
  Statements statements_;

  /// Is it a loop of the workers, or one iteration that does not keep them from those inside?
  bool is_shared(const LoopNode& node) const {
    if (node.kind != LoopNode::Kind::loop || node.from != 0) return false;
    if (target_.is_gpu()) return is_axis(node.mark);
    return node.mark == Mark::parallel || node.extent() == 1;
  }

  /// Does a block fit the machine?
  void check_sizes() const {
    const Gpu& gpu = target_.gpu;
    if (code_.threads() > gpu.most_threads) {
      fail("'{}' has blocks of {} threads, but {} has at most {}", code_.name, code_.threads(),
           target_.name, gpu.most_threads);
    }
    if (code_.extent(Mark::thread_z) > gpu.most_deep) {
      fail("'{}' has blocks of {} threads along z, but {} has at most {} threads there", code_.name,
           code_.extent(Mark::thread_z), target_.name, gpu.most_deep);
    }
    long blocks = std::max(code_.extent(Mark::block_y), code_.extent(Mark::block_z));
    if (blocks > gpu.most_blocks) {
      fail(
          "'{}' has {} blocks along y or z, but {} has at most {} there: bind that loop to block.x",
          code_.name, blocks, target_.name, gpu.most_blocks);
    }
    if (code_.shared_bytes > gpu.shared_bytes) {
      fail("'{}' needs {} bytes of shared memory for a block, but {} has {}", code_.name,
           code_.shared_bytes, target_.name, gpu.shared_bytes);
    }
  }

  // ---- walking ----------------------------------------------------------------------------

  void walk(const std::vector<LoopNode>& nodes) {
    for (size_t i = 0; i < nodes.size();) {
      size_t end = i + 1;
      const Guard* guard = guard_of(nodes[i]);
      auto has_same = [&](const LoopNode& node) {
        const Guard* own = guard_of(node);
        return own != nullptr && same(*guard, *own);
      };
      while (guard != nullptr && end < nodes.size() && has_same(nodes[end])) ++end;
      bool loop = nodes[i].kind == LoopNode::Kind::loop;
      if (guard != nullptr && (end - i > 1 || loop)) {
        lower_together(
            *guard, {nodes.begin() + static_cast<long>(i), nodes.begin() + static_cast<long>(end)});
      } else {
        walk(nodes[i]);
      }
      i = end;
    }
  }

  /// Returns the condition under which all of a node runs, if there is one. Loops of threads often
  /// have one: threads that share a sum leave the rest to one of them.
  const Guard* guard_of(const LoopNode& node) const {
    if (node.kind == LoopNode::Kind::statement) return node.guard.empty() ? nullptr : &node.guard;
    if (node.kind != LoopNode::Kind::loop || !target_.is_gpu()) return nullptr;
    // All threads of a warp take part in a product of matrices.
    if (matrix_of(node, tree_.nest, target_)) return nullptr;
    const Guard* guard = nullptr;
    for (const LoopNode& inner : node.body) {
      const Guard* own = guard_of(inner);
      if (own == nullptr || (guard != nullptr && !same(*guard, *own))) return nullptr;
      guard = own;
    }
    return guard == nullptr || depends_on(*guard, node.depth) ? nullptr : guard;
  }

  static bool depends_on(const Guard& guard, size_t depth) {
    for (const auto& piece : guard) {
      for (const auto& constraint : piece) {
        std::vector<bool> involved = poly::involved(constraint.expression);
        if (depth < involved.size() && involved[depth]) return true;
      }
    }
    return false;
  }

  static void clear_guards(std::vector<LoopNode>& nodes) {
    for (LoopNode& node : nodes) {
      node.guard.clear();
      clear_guards(node.body);
    }
  }

  /// Writes the code of a loop's body, with the tiles that it allows in variables.
  void lower_body(const std::vector<LoopNode>& nodes) {
    elements_.with_tiles(nodes, [&] { walk(nodes); });
  }

  /// Asks for a condition once, and keeps what the statements hand on in variables.
  void lower_together(const Guard& guard_of_all, std::vector<LoopNode> nodes) {
    Guard open;
    if (!can_hold(guard_of_all, bindings_.ranges(bindings_.depth()), open)) return;
    clear_guards(nodes);
    auto lower_all = [&] { lower_body(nodes); };
    if (open.empty()) return lower_all();
    Instruction guard{Instruction::Kind::guard};
    guard.guard = open;
    writer_.guarded(std::move(guard), lower_all);
  }

  void walk(const LoopNode& node) {
    if (node.kind == LoopNode::Kind::statement) return statements_.lower(node);
    if (node.kind == LoopNode::Kind::range) return lower_range(node);
    if (node.kind == LoopNode::Kind::barrier) return writer_.barrier(tree_.handed);
    switch (bindings_.way_of(node)) {
      case Way::once:
        bindings_.bind(node.depth, {node.from, node.from});
        return lower_body(node.body);
      case Way::lanes:
        bindings_.bind_lanes(node);
        walk(node.body);
        return bindings_.end_lanes();
      case Way::unrolled:
        for (long i = node.from; i < node.to; ++i) {
          bindings_.bind_unrolled(node, i);
          walk(node.body);
        }
        return;
      case Way::dot:
        bindings_.bind(node.depth, {node.from, node.from});
        return statements_.lower(node.body.front(),
                                 *dot_of(node, *bindings_.lanes_depth(), tree_.nest, target_));
      case Way::matrix:
        return statements_.lower(*matrix_of(node, tree_.nest, target_));
      case Way::panels:
        return statements_.lower(*panels_of(node, tree_.nest, target_));
      case Way::loop:
        if (!adds_panels(node)) return lower_loop(node);
        return elements_.with_tiles({node}, [&] { lower_loop(node); });
    }
  }

  /// Does a loop do nothing but add products of panels? Then their sums are in registers around it,
  /// though others find them in memory.
  bool adds_panels(const LoopNode& node) const {
    if (node.kind != LoopNode::Kind::loop || node.body.size() != 1) return false;
    return panels_of(node, tree_.nest, target_) || adds_panels(node.body.front());
  }

  void lower_loop(const LoopNode& node) {
    bindings_.bind(node.depth, {node.from, node.to - 1});
    Instruction loop{Instruction::Kind::loop};
    loop.depth = node.depth;
    loop.from = node.from;
    loop.end = node.to;
    writer_.looped(std::move(loop), written_in(node.body, tree_.nest), [&] {
      write_prefetches(node, bindings_, tree_.nest, code_, writer_);
      lower_body(node.body);
    });
  }

  void lower_range(const LoopNode& node) {
    Interval whole = bindings_.range(node.depth);
    bindings_.bind(node.depth, {node.from, node.to - 1});
    Instruction guard{Instruction::Kind::guard};
    size_t arity = bindings_.depth();
    Affine low = poly::constant_of(arity, -node.from), high = poly::constant_of(arity, node.to - 1);
    low.coefficients[node.depth] = 1;
    high.coefficients[node.depth] = -1;
    guard.guard = {{{low, false}, {high, false}}};
    writer_.guarded(std::move(guard), [&] { lower_body(node.body); });
    bindings_.bind(node.depth, whole);
  }
};

/// A loop with a mark for another kind of machine would run as if it had none: otherwise than its
/// recipe says.
void check_marks(const Nest& nest, const Target& target) {
  const Loop* loop = find_gpu_loop(nest);
  if (!target.is_gpu() && loop != nullptr) {
    fail(
        "loop '{}' is bound to {}, which the backend for {} does not implement: a CPU has no "
        "blocks and threads; use parallel, unroll or vectorize",
        loop->name, name_of(loop->mark), target.name);
  }
  if (!target.is_gpu()) return;
  for (const Order& order : nest.order) {
    for (const Loop& each : order.loops) {
      if (each.mark != Mark::parallel) continue;
      fail("loop '{}' is parallel, which {} does not implement: bind it to blocks or threads",
           each.name, target.name);
    }
  }
}

}  // namespace

std::vector<Code> lower(const LoopTree& tree, const Target& target) {
  check_marks(tree.nest, target);
  std::vector<Code> kernels;
  for (size_t i = 0; i < tree.places.size(); ++i)
    kernels.push_back(Lowering(tree, target, i).run());
  return kernels;
}

}  // namespace lathe
