// lower.cpp: loops to vector code. Interface: lower() of code.h.
//
// The tree is walked once. A loop is bound in one of three ways: as a loop of the code, to one
// number (unrolled, or of one iteration), or as the lanes of vectors. At the beginning of each
// loop's body it is known which elements the body touches; a tensor that is written there and
// whose elements do not depend on the loops inside stays in variables until the body ends: that is
// a register tile. It goes to the outermost body that allows it, so the tile is loaded and stored
// once for all the loops that sum it up.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "codegen/ahead.h"
#include "codegen/code.h"
#include "codegen/dots.h"
#include "codegen/locals.h"
#include "codegen/matrices.h"
#include "codegen/numbers.h"
#include "codegen/panels.h"
#include "codegen/prefetch.h"
#include "codegen/tile.h"
#include "codegen/writer.h"
#include "nest/marks.h"

namespace lathe {
namespace {

using poly::Affine;
using poly::Interval;

/// Elements that threads of a GPU load before they need them.
constexpr long most_ahead = 64;

/// The types that a statement computes in, and of the value that it writes.
struct StatementNumbers {
  Number computed, written;
};

class Lowering {
 public:
  Lowering(const LoopTree& tree, const Target& target, size_t place)
      : tree_(tree),
        target_(target),
        root_(tree.places[place]),
        bindings_(tree.nest, target),
        tile_numbers_(numbers_of_tensors(tree.nest, target)) {
    for (const Statement& s : tree.nest.statements()) {
      numbers_.push_back({number_of(tree.nest, s, target), written_number(tree.nest, s, target)});
    }
    code_.name = tree.nest.name;
    code_.number = number_of(tree.nest);
    code_.tensors = tree.nest.tensors();
    code_.layouts = tree.layouts;
    code_.used.resize(code_.tensors.size(), false);
    find_outside(place);
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
    drop_unread(code_, outside_);
    if (target_.is_gpu()) {
      place_in_spaces(code_);
      check_sizes();
      load_ahead(code_, most_ahead);
    } else {
      place_locals(code_, outside_);
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
  std::vector<StatementNumbers> numbers_;
  std::vector<Number> tile_numbers_;  // of tensors, while they are in variables
  Number number_ = Number::f32;       // of the statement that is written
  std::vector<bool> outside_;         // tensors that other places touch
  std::map<size_t, Tile> tiles_;
  std::map<size_t, const Block*> homes_;  // the body that a tile belongs to, by tensor

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

  const Statement& statement(const LoopNode& node) const {
    return tree_.nest.statements()[node.statement];
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
    if (node.kind == LoopNode::Kind::statement) return lower_statement(node);
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
        return lower_dot(node.body.front(),
                         *dot_of(node, *bindings_.lanes_depth(), tree_.nest, target_));
      case Way::matrix:
        return lower_matrix(*matrix_of(node, tree_.nest, target_));
      case Way::panels:
        return lower_panels(*panels_of(node, tree_.nest, target_));
      case Way::loop:
        if (!adds_panels(node)) return lower_loop(node);
        return with_tiles({node}, [&] { lower_loop(node); });
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

  // ---- register tiles ---------------------------------------------------------------------

  /// Writes the code of a loop's body, with the tiles that it allows in variables.
  void lower_body(const std::vector<LoopNode>& nodes) {
    with_tiles(nodes, [&] { walk(nodes); });
  }

  /// Writes the code of some nodes, with the tiles that they allow in variables.
  void with_tiles(const std::vector<LoopNode>& nodes, const std::function<void()>& write) {
    std::vector<size_t> begun = begin_tiles(nodes);
    write();
    for (size_t tensor : begun) end_tile(tensor);
  }

  std::vector<size_t> begin_tiles(const std::vector<LoopNode>& nodes) {
    std::set<size_t> candidates;
    // What threads hand on at a barrier inside must be in memory there.
    bool hands_on = !tree_.handed.empty() && has_barrier(nodes);
    for (size_t tensor : written_in(nodes, tree_.nest)) {
      if (hands_on && tree_.handed[tensor]) continue;
      if (!tiles_.contains(tensor)) candidates.insert(tensor);
    }
    if (candidates.empty() || nodes.empty()) return {};
    std::vector<Touch> touches = touches_of(nodes, bindings_, tree_.nest);
    size_t depth = nodes.front().depth;
    for (const LoopNode& node : nodes) depth = std::min(depth, node.depth);
    std::vector<size_t> begun;
    for (size_t tensor : candidates) {
      auto tile = tile_of(tensor, touches, depth, most_in_registers(tensor));
      if (!tile) continue;
      bool elsewhere = code_.tensors[tensor].role != Role::local || outside_[tensor] ||
                       !is_complete(tensor, nodes, *tile);
      for (auto& [constant, slot] : tile->slots) {
        slot.variable = writer_.variable(slot.lanes, tile_numbers_[tensor], slot.rows);
        slot.store = slot.store && elsewhere;
        if (slot.load) load_slot(tensor, *tile, constant, slot);
      }
      tiles_.emplace(tensor, std::move(*tile));
      homes_[tensor] = writer_.block();
      begun.push_back(tensor);
    }
    return begun;
  }

  /// Returns how many elements a tile may have: what does not fit the registers by far is no tile.
  long most_in_registers(size_t tensor) const {
    constexpr long by_far = 2;  // the compiler keeps some more in memory at little cost
    if (target_.is_gpu()) {
      return by_far * target_.gpu.registers * size_of(Number::f32) / size_of(tile_numbers_[tensor]);
    }
    return by_far * target_.cpu.registers * target_.cpu.vector_bytes /
           size_of(tile_numbers_[tensor]);
  }

  /// Do these nodes set all elements of the tile before they use them, and are all statements that
  /// touch the tensor among them? Then nobody else needs the tile.
  bool is_complete(size_t tensor, const std::vector<LoopNode>& nodes, const Tile& tile) const {
    bool loads = std::any_of(tile.slots.begin(), tile.slots.end(),
                             [](const auto& slot) { return slot.second.load; });
    return !loads && touching(tensor, nodes, tree_.nest) == touching(tensor, root_, tree_.nest);
  }

  void load_slot(size_t tensor, const Tile& tile, long constant, const Tile::Slot& slot) {
    Instruction load{Instruction::Kind::load};
    load.to = slot.variable;
    load.tensor = tensor;
    load.offset = tile.at(constant);
    load.stride = slot.stride;
    load.row_stride = slot.row_stride;
    code_.used[tensor] = true;
    writer_.put(std::move(load));
  }

  void end_tile(size_t tensor) {
    Tile& tile = tiles_.at(tensor);
    for (auto& [constant, slot] : tile.slots) {
      store_slot(tensor, tile, constant, slot);
      writer_.drop(slot.variable);
    }
    tiles_.erase(tensor);
  }

  void store_slot(size_t tensor, const Tile& tile, long constant, Tile::Slot& slot) {
    if (!std::exchange(slot.store, false)) return;
    writer_.settle(slot.variable);
    if (slot.rows > 0) {
      return writer_.store(tensor, tile.at(constant), slot.stride, slot.lanes, slot.variable,
                           slot.row_stride);
    }
    store(tensor, tile.at(constant), slot.lanes == 1 ? 0 : slot.stride, slot.variable);
  }

  /// Counts a write to a tile. After the last one in the tile's own body the element is stored: its
  /// register is free then.
  void count_write(size_t tensor, const Affine& at) {
    auto tile = tiles_.find(tensor);
    if (tile == tiles_.end()) return;
    Tile::Slot& slot = tile->second.slots.at(at.constant);
    if (--slot.writes == 0 && homes_.at(tensor) == writer_.block()) {
      store_slot(tensor, tile->second, at.constant, slot);
    }
  }

  // ---- statements -------------------------------------------------------------------------

  void lower_statement(const LoopNode& node) {
    Guard open;
    if (!can_hold(node.guard, bindings_.ranges(node.write.coefficients.size()), open)) return;
    if (open.empty()) return lower_instance(node);
    Instruction guard{Instruction::Kind::guard};
    guard.guard = open;
    writer_.guarded(std::move(guard), [&] { lower_instance(node); });
  }

  void lower_instance(const LoopNode& node) {
    const Statement& s = statement(node);
    number_ = numbers_[node.statement].computed;
    Affine at = poly::narrowed(node.write, bindings_.ranges(node.write.coefficients.size()));
    long step = bindings_.lane_step(node.write);
    bool product = s.update == Update::add && s.value.op == Expr::Op::mul &&
                   number_ != Number::i64 && (step != 0 || !bindings_.in_lanes());
    size_t value = 0;
    if (product && is_float(number_) && add_multiple(node, at, step)) return;
    if (product && adds_products_at_once(s)) code_.needs.insert(Extra::i8_dot);
    if (product) {
      size_t a = lower_expr(s.value.args[0], node), b = lower_expr(s.value.args[1], node);
      value = writer_.emit({Instruction::Kind::fma, 0, {a, b, old_value(s.write.tensor, at, step)}},
                           step == 0 ? 1 : bindings_.lanes(), number_);
    } else {
      value = lower_expr(s.value, node);
      bool across = bindings_.in_lanes() && step == 0 && writer_.lanes(value) > 1;
      bool alone = bindings_.in_lanes() && step == 0 && writer_.lanes(value) == 1;
      if (across) {
        bool sum = s.update == Update::add;
        value = writer_.emit(
            {sum ? Instruction::Kind::sum : Instruction::Kind::maximum, 0, {value}}, 1, number_);
      } else if (alone && s.update == Update::add) {
        // Every lane adds the same number.
        size_t times = writer_.number(static_cast<double>(bindings_.lanes()), number_);
        value = writer_.apply(Expr::Op::mul, {value, times});
      }
      if (s.update != Update::assign) {
        size_t old = old_value(s.write.tensor, at, step);
        Expr::Op op = s.update == Update::add ? Expr::Op::add : Expr::Op::max;
        value = writer_.apply(op, {old, value});
      }
    }
    value = writer_.converted(value, numbers_[node.statement].written);
    write(s.write.tensor, at, step, value);
    bool zero = s.update == Update::assign && s.value == lathe::number(0);
    if (auto slot = slot_of(s.write.tensor, at); slot && zero) writer_.begin_sum(slot->variable);
  }

  /// Has the target an instruction that multiplies what was bytes and adds it to a sum? On x86-64
  /// it came with the dot products, and compilers choose it where they may.
  bool adds_products_at_once(const Statement& s) const {
    return target_.architecture == Architecture::x86_64 && target_.has(Extra::i8_dot) &&
           number_ == Number::i32 &&
           std::all_of(s.reads.begin(), s.reads.end(), [&](const Access& a) {
             return size_of(code_.tensors[a.tensor].element) == 1;
           });
  }

  /// Adds several products to each lane of a sum.
  void lower_dot(const LoopNode& node, const Dot& dot) {
    const Statement& s = statement(node);
    number_ = numbers_[node.statement].computed;
    Affine at = poly::narrowed(node.write, bindings_.ranges(node.write.coefficients.size()));
    long step = bindings_.lane_step(node.write), lanes = bindings_.lanes();
    size_t own = load_factors(s.reads[dot.own].tensor, node.reads[dot.own], dot.terms * lanes);
    Instruction add{Instruction::Kind::dot};
    size_t common =
        common_factors(s.reads[dot.common].tensor, node.reads[dot.common], dot.terms, add.lane);
    add.args = {own, common, old_value(s.write.tensor, at, step)};
    write(s.write.tensor, at, step, writer_.emit(std::move(add), lanes, number_));
  }

  /// Adds a product of panels to a panel of sums.
  void lower_panels(const PanelProduct& product) {
    const LoopNode& node = *product.statement;
    const Statement& s = statement(node);
    for (const LoopNode* loop : product.loops) bindings_.bind(loop->depth, {0, 0});
    auto at = [&](const Affine& offset) {
      return poly::narrowed(offset, bindings_.ranges(offset.coefficients.size()));
    };
    auto factors = [&](size_t read, CodeWriter::PanelRows rows, long lanes) {
      size_t tensor = s.reads[read].tensor;
      return writer_.load_panel(tensor, at(node.reads[read]), rows, lanes,
                                code_.tensors[tensor].element);
    };
    CodeWriter::PanelRows of_sums{product.rows, product.sum_stride};
    Number number = numbers_[node.statement].computed;
    Affine to = at(node.write);
    auto slot = slot_of(s.write.tensor, to);
    size_t sums = slot ? slot->variable
                       : writer_.load_panel(s.write.tensor, to, of_sums, product.columns, number);
    Instruction add{Instruction::Kind::panels};
    add.args = {
        factors(product.data, {product.rows, product.data_stride}, product.depth * product.terms),
        factors(product.weights, {product.depth, product.weight_stride},
                product.columns * product.terms),
        sums};
    sums = writer_.emit(std::move(add), product.columns, number, product.rows);
    code_.needs.insert(Extra::i8_matrix);
    if (slot) return write(s.write.tensor, to, 1, sums);
    writer_.store(s.write.tensor, to, 1, product.columns, sums, product.sum_stride);
  }

  /// Adds a product of matrices to the sums of a thread.
  void lower_matrix(const Matrix& matrix) {
    const LoopNode& node = *matrix.statement;
    const Statement& s = statement(node);
    number_ = numbers_[node.statement].computed;
    for (size_t depth : {matrix.r, matrix.c, matrix.p, matrix.q}) bindings_.bind(depth, {0, 0});
    Instruction add{Instruction::Kind::matrix};
    for (long r = 0; r < matrix_own; ++r) {
      add.args.push_back(load_group(s.reads[matrix.rows].tensor, offset_of_rows(matrix, r),
                                    guard_of_rows(matrix, r), matrix));
    }
    add.args.push_back(load_group(s.reads[matrix.columns].tensor, offset_of_columns(matrix),
                                  guard_of_columns(matrix), matrix));
    std::vector<Affine> sums;
    for (long r = 0; r < matrix_own; ++r) {
      for (long c = 0; c < matrix_own; ++c) {
        bindings_.bind(matrix.r, {r, r});
        bindings_.bind(matrix.c, {c, c});
        sums.push_back(
            poly::narrowed(node.write, bindings_.ranges(node.write.coefficients.size())));
        add.args.push_back(old_value(s.write.tensor, sums.back(), 0));
      }
    }
    size_t all = writer_.emit(std::move(add), static_cast<long>(sums.size()), number_);
    for (size_t k = 0; k < sums.size(); ++k) {
      Instruction one{Instruction::Kind::splat, 0, {all}};
      one.lane = static_cast<long>(k);
      write(s.write.tensor, sums[k], 0, writer_.emit(std::move(one), 1, number_));
    }
  }

  /// Loads the factors that a thread hands over.
  size_t load_group(size_t tensor, const Affine& offset, const Guard& guard, const Matrix& matrix) {
    Guard open;
    bool any = can_hold(guard, bindings_.ranges(bindings_.depth()), open);
    if (!any) open = guard;  // nobody has these rows or columns
    Affine at = poly::narrowed(offset, bindings_.ranges(offset.coefficients.size()));
    return writer_.load(tensor, at, offset.coefficients[matrix.q], matrix.terms,
                        code_.tensors[tensor].element, open);
  }

  size_t load_factors(size_t tensor, const Affine& offset, long count) {
    Affine at = poly::narrowed(offset, bindings_.ranges(offset.coefficients.size()));
    return writer_.load(tensor, at, 1, count, code_.tensors[tensor].element);
  }

  /// Loads the factors that all lanes share, together with those of the next iterations of an
  /// unrolled loop if they lie side by side. Sets which of them are meant.
  size_t common_factors(size_t tensor, const Affine& offset, long terms, long& group) {
    long groups = target_.cpu.vector_bytes / size_of(code_.tensors[tensor].element) / terms;
    Affine at = poly::narrowed(offset, bindings_.ranges(offset.coefficients.size()));
    Number number = code_.tensors[tensor].element;
    if (target_.cpu.lane_products) {
      if (auto found = neighbours_of(offset, terms, groups)) {
        at.constant -= terms * (found->index - found->first);
        group = found->index - found->first;
        return writer_.load(tensor, at, 1, terms * groups, number);
      }
    }
    group = 0;
    return writer_.load(tensor, at, 1, terms, number);
  }

  /// Returns the value of an expression that is known while code is written: of constants.
  std::optional<double> known(const Expr& e, const LoopNode& node) const {
    if (e.op == Expr::Op::number) return e.number;
    if (e.op == Expr::Op::mul) {
      auto a = known(e.args[0], node), b = known(e.args[1], node);
      return a && b ? std::optional(*a * *b) : std::nullopt;
    }
    if (e.op != Expr::Op::read) return std::nullopt;
    const Tensor& tensor = code_.tensors[statement(node).reads[e.read].tensor];
    if (tensor.role != Role::constant) return std::nullopt;
    const Affine& offset = node.reads[e.read];
    Affine at = poly::narrowed(offset, bindings_.ranges(offset.coefficients.size()));
    if (!at.is_constant() || bindings_.lane_step(offset) != 0) return std::nullopt;
    return tensor.values[static_cast<size_t>(at.constant)];
  }

  /// Adds a known multiple of a value to an element of a tile: nothing if it is 0, without a
  /// product if it is 1 or -1. Returns whether the statement is of that kind.
  bool add_multiple(const LoopNode& node, const Affine& at, long step) {
    const Statement& s = statement(node);
    auto factor = known(s.value.args[0], node);
    if (!factor) return false;
    if (*factor == 0) {
      count_write(s.write.tensor, at);
      return true;
    }
    size_t value = lower_expr(s.value.args[1], node);
    auto slot = slot_of(s.write.tensor, at);
    if (slot && writer_.is_sum(slot->variable) && writer_.lanes(value) == slot->lanes &&
        writer_.number_of(slot->variable) == number_) {
      writer_.add_later(slot->variable, *factor, value);
      count_write(s.write.tensor, at);
      return true;
    }
    size_t old = old_value(s.write.tensor, at, step);
    write(s.write.tensor, at, step, writer_.plus(old, *factor, value));
    return true;
  }

  size_t lower_expr(const Expr& e, const LoopNode& node) {
    if (auto value = known(e, node)) return writer_.number(*value, number_);
    if (e.op == Expr::Op::read) {
      const Affine& offset = node.reads[e.read];
      return value_at(statement(node).reads[e.read].tensor, offset);
    }
    if (e.op == Expr::Op::pick) return lower_pick(pick_of(e), node);
    std::vector<size_t> args;
    for (const Expr& arg : e.args) args.push_back(lower_expr(arg, node));
    return writer_.apply(e.op, std::move(args));
  }

  /// Loads what data choose. Lanes differ where the element's own index or a picked one does.
  size_t lower_pick(const Pick& pick, const LoopNode& node) {
    const Affine& offset = node.reads[pick.read];
    Instruction load{Instruction::Kind::load};
    load.tensor = statement(node).reads[pick.read].tensor;
    load.offset = poly::narrowed(offset, bindings_.ranges(offset.coefficients.size()));
    load.stride = bindings_.lane_step(offset);
    bool differ = load.stride != 0;
    for (const Pick::Along& along : pick.along) {
      size_t index = lower_expr(*along.index, node);
      differ = differ || writer_.lanes(index) > 1;
      load.args.push_back(index);
      load.picked.push_back({code_.tensors[load.tensor].shape[along.dim],
                             code_.layouts[load.tensor].axes[along.dim]});
    }
    code_.used[load.tensor] = true;
    return writer_.emit(std::move(load), differ ? bindings_.lanes() : 1, number_);
  }

  size_t value_at(size_t tensor, const Affine& offset) {
    Affine at = poly::narrowed(offset, bindings_.ranges(offset.coefficients.size()));
    long step = bindings_.lane_step(offset);
    if (auto slot = slot_of(tensor, at)) {
      return writer_.converted(writer_.read(slot->variable), number_);
    }
    if (step == 0 && target_.cpu.lane_products && bindings_.in_lanes()) {
      if (auto value = lane_of_neighbours(tensor, offset, at)) return *value;
    }
    return writer_.load(tensor, at, step, step == 0 ? 1 : bindings_.lanes(), number_);
  }

  /// An iteration of an unrolled loop among those whose elements are loaded together.
  struct Neighbours {
    long first, index;
  };

  /// Finds an unrolled loop that moves an access by "step", and so many of its iterations, among
  /// them the one that is written.
  std::optional<Neighbours> neighbours_of(const Affine& offset, long step, long count) const {
    for (size_t depth = 0; depth < offset.coefficients.size(); ++depth) {
      auto unrolled = bindings_.unrolled(depth);
      if (offset.coefficients[depth] != step || !unrolled) continue;
      bool in_floor = std::any_of(
          offset.floors.begin(), offset.floors.end(),
          [&](const Affine::Floor& floor) -> bool { return poly::involved(floor.of)[depth]; });
      if (in_floor) continue;
      long index = unrolled->index, first = index / count * count;
      if (first + count <= unrolled->count) return Neighbours{first, index};
    }
    return std::nullopt;
  }

  /// Loads an element together with those that the next iterations of an unrolled loop read.
  std::optional<size_t> lane_of_neighbours(size_t tensor, const Affine& offset, const Affine& at) {
    long group = target_.cpu.vector_bytes / size_of(number_);
    auto found = neighbours_of(offset, 1, group);
    if (!found) return std::nullopt;
    Affine begin = at;
    begin.constant -= found->index - found->first;
    Instruction splat{
        Instruction::Kind::splat, 0, {writer_.load(tensor, begin, 1, group, number_)}};
    splat.lane = found->index - found->first;
    return writer_.emit(std::move(splat), bindings_.lanes(), number_);
  }

  std::optional<Tile::Slot> slot_of(size_t tensor, const Affine& at) const {
    auto tile = tiles_.find(tensor);
    if (tile == tiles_.end()) return std::nullopt;
    auto slot = tile->second.slots.find(at.constant);
    check(slot != tile->second.slots.end(), "a tile has all elements that its body touches");
    return slot->second;
  }

  size_t old_value(size_t tensor, const Affine& at, long step) {
    if (auto slot = slot_of(tensor, at)) {
      writer_.settle(slot->variable);
      return writer_.converted(slot->variable, number_);
    }
    return writer_.load(tensor, at, step, step == 0 ? 1 : bindings_.lanes(), number_);
  }

  void write(size_t tensor, const Affine& at, long step, size_t value) {
    if (auto slot = slot_of(tensor, at)) {
      writer_.set(slot->variable, value);
      count_write(tensor, at);
      return;
    }
    store(tensor, at, step, value);
  }

  void store(size_t tensor, const Affine& at, long step, size_t value) {
    long lanes = step == 0 ? 1 : std::max(bindings_.lanes(), writer_.lanes(value));
    writer_.store(tensor, at, step, lanes, value);
  }

  // ---- other places -----------------------------------------------------------------------

  /// Finds the tensors that other places touch.
  void find_outside(size_t place) {
    outside_.assign(code_.tensors.size(), false);
    for (size_t i = 0; i < tree_.places.size(); ++i) {
      if (i == place) continue;
      for (size_t t = 0; t < outside_.size(); ++t) {
        outside_[t] = outside_[t] || !touching(t, tree_.places[i], tree_.nest).empty();
      }
    }
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
