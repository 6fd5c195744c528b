// statements.cpp: statements to instructions. Interface: statements.h.
#include "codegen/statements.h"

#include <algorithm>
#include <utility>

#include "codegen/numbers.h"

namespace lathe {

using poly::Affine;

Statements::Statements(const LoopTree& tree, Bindings& bindings, Code& code, CodeWriter& writer,
                       Elements& elements)
    : tree_(tree),
      bindings_(bindings),
      target_(bindings.target()),
      code_(code),
      writer_(writer),
      elements_(elements) {
  for (const Statement& s : tree.nest.statements()) {
    numbers_.push_back({number_of(tree.nest, s, target_), written_number(tree.nest, s, target_)});
  }
}

void Statements::lower(const LoopNode& node) {
  Guard open;
  if (!can_hold(node.guard, bindings_.ranges(node.write.coefficients.size()), open)) return;
  if (open.empty()) return lower_instance(node);
  Instruction guard{Instruction::Kind::guard};
  guard.guard = open;
  writer_.guarded(std::move(guard), [&] { lower_instance(node); });
}

void Statements::lower_instance(const LoopNode& node) {
  const Statement& s = statement(node);
  number_ = numbers_[node.statement].computed;
  Affine at = elements_.at(node.write);
  long step = bindings_.lane_step(node.write);
  bool product = s.update == Update::add && s.value.op == Expr::Op::mul && number_ != Number::i64 &&
                 (step != 0 || !bindings_.in_lanes());
  size_t value = 0;
  if (product && is_float(number_) && add_multiple(node, at, step)) return;
  if (product && adds_products_at_once(s)) code_.needs.insert(Extra::i8_dot);
  if (product) {
    size_t a = lower_expr(s.value.args[0], node), b = lower_expr(s.value.args[1], node);
    value = writer_.emit(
        {Instruction::Kind::fma, 0, {a, b, elements_.old_value(s.write.tensor, at, step, number_)}},
        step == 0 ? 1 : bindings_.lanes(), number_);
  } else {
    value = lower_expr(s.value, node);
    bool across = bindings_.in_lanes() && step == 0 && writer_.lanes(value) > 1;
    bool alone = bindings_.in_lanes() && step == 0 && writer_.lanes(value) == 1;
    if (across) {
      bool sum = s.update == Update::add;
      value = writer_.emit({sum ? Instruction::Kind::sum : Instruction::Kind::maximum, 0, {value}},
                           1, number_);
    } else if (alone && s.update == Update::add) {
      // Every lane adds the same number.
      size_t times = writer_.number(static_cast<double>(bindings_.lanes()), number_);
      value = writer_.apply(Expr::Op::mul, {value, times});
    }
    if (s.update != Update::assign) {
      size_t old = elements_.old_value(s.write.tensor, at, step, number_);
      Expr::Op op = s.update == Update::add ? Expr::Op::add : Expr::Op::max;
      value = writer_.apply(op, {old, value});
    }
  }
  value = writer_.converted(value, numbers_[node.statement].written);
  elements_.write(s.write.tensor, at, step, value);
  bool zero = s.update == Update::assign && s.value == lathe::number(0);
  if (auto slot = elements_.slot_of(s.write.tensor, at); slot && zero)
    writer_.begin_sum(slot->variable);
}

bool Statements::adds_products_at_once(const Statement& s) const {
  return target_.architecture == Architecture::x86_64 && target_.has(Extra::i8_dot) &&
         number_ == Number::i32 &&
         std::all_of(s.reads.begin(), s.reads.end(), [&](const Access& a) {
           return size_of(code_.tensors[a.tensor].element) == 1;
         });
}

bool Statements::add_multiple(const LoopNode& node, const Affine& at, long step) {
  const Statement& s = statement(node);
  auto factor = known(s.value.args[0], node);
  if (!factor) return false;
  if (*factor == 0) {
    elements_.count_write(s.write.tensor, at);
    return true;
  }
  size_t value = lower_expr(s.value.args[1], node);
  auto slot = elements_.slot_of(s.write.tensor, at);
  if (slot && writer_.is_sum(slot->variable) && writer_.lanes(value) == slot->lanes &&
      writer_.number_of(slot->variable) == number_) {
    writer_.add_later(slot->variable, *factor, value);
    elements_.count_write(s.write.tensor, at);
    return true;
  }
  size_t old = elements_.old_value(s.write.tensor, at, step, number_);
  elements_.write(s.write.tensor, at, step, writer_.plus(old, *factor, value));
  return true;
}

void Statements::lower(const LoopNode& node, const Dot& dot) {
  const Statement& s = statement(node);
  number_ = numbers_[node.statement].computed;
  Affine at = elements_.at(node.write);
  long step = bindings_.lane_step(node.write), lanes = bindings_.lanes();
  size_t factors = s.reads[dot.own].tensor;
  size_t own = writer_.load(factors, elements_.at(node.reads[dot.own]), 1, dot.terms * lanes,
                            code_.tensors[factors].element);
  Instruction add{Instruction::Kind::dot};
  size_t common = elements_.common_factors(s.reads[dot.common].tensor, node.reads[dot.common],
                                           dot.terms, add.lane);
  add.args = {own, common, elements_.old_value(s.write.tensor, at, step, number_)};
  elements_.write(s.write.tensor, at, step, writer_.emit(std::move(add), lanes, number_));
}

void Statements::lower(const PanelProduct& product) {
  const LoopNode& node = *product.statement;
  const Statement& s = statement(node);
  for (const LoopNode* loop : product.loops) bindings_.bind(loop->depth, {0, 0});
  auto factors = [&](size_t read, CodeWriter::PanelRows rows, long lanes) {
    size_t tensor = s.reads[read].tensor;
    return writer_.load_panel(tensor, elements_.at(node.reads[read]), rows, lanes,
                              code_.tensors[tensor].element);
  };
  CodeWriter::PanelRows of_sums{product.rows, product.sum_stride};
  Number number = numbers_[node.statement].computed;
  Affine to = elements_.at(node.write);
  auto slot = elements_.slot_of(s.write.tensor, to);
  size_t sums = slot ? slot->variable
                     : writer_.load_panel(s.write.tensor, to, of_sums, product.columns, number);
  Instruction add{Instruction::Kind::panels};
  add.args = {
      factors(product.data, {product.rows, product.data_stride}, product.depth * product.terms),
      factors(product.weights, {product.depth, product.weight_stride},
              product.columns * product.terms),
      sums};
  sums = writer_.emit(std::move(add), product.columns, number, product.rows);
  code_.needs.insert(*extra_of_panels(code_.tensors[s.reads[product.data].tensor].element,
                                      code_.tensors[s.reads[product.weights].tensor].element));
  if (slot) return elements_.write(s.write.tensor, to, 1, sums);
  writer_.store(s.write.tensor, to, 1, product.columns, sums, product.sum_stride);
}

void Statements::lower(const MatrixProduct& matrix) {
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
      sums.push_back(elements_.at(node.write));
      add.args.push_back(elements_.old_value(s.write.tensor, sums.back(), 0, number_));
    }
  }
  size_t all = writer_.emit(std::move(add), static_cast<long>(sums.size()), number_);
  for (size_t k = 0; k < sums.size(); ++k) {
    Instruction one{Instruction::Kind::splat, 0, {all}};
    one.lane = static_cast<long>(k);
    elements_.write(s.write.tensor, sums[k], 0, writer_.emit(std::move(one), 1, number_));
  }
}

size_t Statements::load_group(size_t tensor, const Affine& offset, const Guard& guard,
                              const MatrixProduct& matrix) {
  Guard open;
  bool any = can_hold(guard, bindings_.ranges(bindings_.depth()), open);
  if (!any) open = guard;  // nobody has these rows or columns
  Affine at = elements_.at(offset);
  return writer_.load(tensor, at, offset.coefficients[matrix.q], matrix.terms,
                      code_.tensors[tensor].element, open);
}

std::optional<double> Statements::known(const Expr& e, const LoopNode& node) const {
  if (e.op == Expr::Op::number) return e.number;
  if (e.op == Expr::Op::mul) {
    auto a = known(e.args[0], node), b = known(e.args[1], node);
    return a && b ? std::optional(*a * *b) : std::nullopt;
  }
  if (e.op != Expr::Op::read) return std::nullopt;
  const Tensor& tensor = code_.tensors[statement(node).reads[e.read].tensor];
  if (tensor.role != Role::constant) return std::nullopt;
  const Affine& offset = node.reads[e.read];
  Affine at = elements_.at(offset);
  if (!at.is_constant() || bindings_.lane_step(offset) != 0) return std::nullopt;
  return tensor.values[static_cast<size_t>(at.constant)];
}

size_t Statements::lower_expr(const Expr& e, const LoopNode& node) {
  if (auto value = known(e, node)) return writer_.number(*value, number_);
  if (e.op == Expr::Op::read) {
    const Affine& offset = node.reads[e.read];
    return elements_.value(statement(node).reads[e.read].tensor, offset, number_);
  }
  if (e.op == Expr::Op::pick) return lower_pick(pick_of(e), node);
  std::vector<size_t> args;
  for (const Expr& arg : e.args) args.push_back(lower_expr(arg, node));
  return writer_.apply(e.op, std::move(args));
}

size_t Statements::lower_pick(const Pick& pick, const LoopNode& node) {
  const Affine& offset = node.reads[pick.read];
  Instruction load{Instruction::Kind::load};
  load.tensor = statement(node).reads[pick.read].tensor;
  load.offset = elements_.at(offset);
  load.stride = bindings_.lane_step(offset);
  bool differ = load.stride != 0;
  for (const Pick::Along& along : pick.along) {
    size_t index = lower_expr(*along.index, node);
    differ = differ || writer_.lanes(index) > 1;
    load.args.push_back(index);
    load.picked.push_back(
        {code_.tensors[load.tensor].shape[along.dim], code_.layouts[load.tensor].axes[along.dim]});
  }
  code_.used[load.tensor] = true;
  return writer_.emit(std::move(load), differ ? bindings_.lanes() : 1, number_);
}

}  // namespace lathe
