// writer.cpp: instructions, one after the other. Interface: writer.h.
#include "codegen/writer.h"

#include <algorithm>
#include <utility>

namespace lathe {
namespace {

using poly::Affine;

void append(const Affine& a, std::vector<long>& numbers) {
  numbers.insert(numbers.end(), a.coefficients.begin(), a.coefficients.end());
  numbers.push_back(a.constant);
  numbers.push_back(a.divisor);
  for (const auto& floor : a.floors) {
    numbers.push_back(floor.coefficient);
    append(floor.of, numbers);
  }
}

}  // namespace

size_t CodeWriter::variable(long lanes, Number number, long rows) {
  code_.variables.push_back({lanes, number, rows});
  return code_.variables.size() - 1;
}

size_t CodeWriter::emit(Instruction instruction, long lanes, Number number, long rows) {
  instruction.to = variable(lanes, number, rows);
  size_t to = instruction.to;
  put(std::move(instruction));
  return to;
}

size_t CodeWriter::number(double value, Number number) {
  Instruction instruction{Instruction::Kind::number};
  instruction.number = value;
  return emit(std::move(instruction), 1, number);
}

size_t CodeWriter::converted(size_t value, Number number) {
  if (number_of(value) == number) return value;
  return emit({Instruction::Kind::convert, 0, {value}}, lanes(value), number);
}

size_t CodeWriter::apply(Expr::Op op, std::vector<size_t> args) {
  long most = 1;
  for (size_t a : args) most = std::max(most, lanes(a));
  Number number = number_of(args.front());
  Instruction instruction{Instruction::Kind::apply, 0, std::move(args)};
  instruction.op = op;
  return emit(std::move(instruction), most, number);
}

size_t CodeWriter::plus(std::optional<size_t> base, double factor, size_t value) {
  if (factor == 1) return base ? apply(Expr::Op::add, {*base, value}) : value;
  if (factor == -1) {
    return base ? apply(Expr::Op::sub, {*base, value}) : apply(Expr::Op::neg, {value});
  }
  size_t times = number(factor, number_of(value));
  if (!base) return apply(Expr::Op::mul, {value, times});
  return emit({Instruction::Kind::fma, 0, {value, times, *base}},
              std::max(lanes(*base), lanes(value)), number_of(value));
}

size_t CodeWriter::load(size_t tensor, const Affine& at, long step, long lanes, Number number,
                        const Guard& guard) {
  std::vector<long> numbers;
  append(at, numbers);
  for (const auto& piece : guard) {
    for (const poly::Constraint& constraint : piece) append(constraint.expression, numbers);
  }
  Instruction load{Instruction::Kind::load};
  load.tensor = tensor;
  load.offset = at;
  load.stride = step;
  load.guard = guard;
  return load_once({tensor, std::move(numbers), step, lanes, number}, std::move(load), 0);
}

size_t CodeWriter::load_panel(size_t tensor, const Affine& at, PanelRows rows, long lanes,
                              Number number) {
  std::vector<long> numbers{rows.count, rows.stride};
  append(at, numbers);
  Instruction load{Instruction::Kind::load};
  load.tensor = tensor;
  load.offset = at;
  load.row_stride = rows.stride;
  return load_once({tensor, std::move(numbers), 1, lanes, number}, std::move(load), rows.count);
}

size_t CodeWriter::load_once(MemoryKey key, Instruction load, long rows) {
  if (auto found = loaded_.find(key); found != loaded_.end()) return found->second;
  code_.used[load.tensor] = true;
  size_t value = emit(std::move(load), std::get<3>(key), std::get<Number>(key), rows);
  loaded_.emplace(std::move(key), value);
  return value;
}

void CodeWriter::store(size_t tensor, const Affine& at, long step, long lanes, size_t value,
                       long row_stride) {
  Instruction store{Instruction::Kind::store, 0, {value}};
  store.row_stride = row_stride;
  store.tensor = tensor;
  store.offset = at;
  store.stride = step;
  store.lane = lanes;
  code_.used[tensor] = true;
  put(std::move(store));
  // What was loaded of the tensor before may be another value now.
  std::erase_if(loaded_, [&](const auto& entry) { return std::get<0>(entry.first) == tensor; });
}

void CodeWriter::set(size_t variable, size_t value) {
  pending_.drop(variable);
  put({Instruction::Kind::copy, variable, {converted(value, number_of(variable))}});
  copies_.erase(variable);
}

size_t CodeWriter::read(size_t variable) {
  settle(variable);
  auto [copy, is_new] = copies_.try_emplace(variable);
  if (is_new) {
    copy->second =
        emit({Instruction::Kind::copy, 0, {variable}}, lanes(variable), number_of(variable));
  }
  return copy->second;
}

void CodeWriter::settle(size_t variable) {
  if (!pending_.has(variable)) return;
  auto sum = pending_.settle(
      variable, [&](auto base, double factor, size_t value) { return plus(base, factor, value); });
  if (sum) set(variable, *sum);
}

void CodeWriter::settle_all() {
  while (auto variable = pending_.next()) settle(*variable);
  pending_.forget_common();
  copies_.clear();
}

void CodeWriter::barrier(const std::vector<bool>& handed) {
  put({Instruction::Kind::barrier});
  std::erase_if(loaded_, [&](const auto& entry) { return handed[std::get<0>(entry.first)]; });
}

void CodeWriter::write_inside(Instruction& instruction, const std::function<void()>& body) {
  settle_all();
  Block* outer = std::exchange(block_, &instruction.body);
  body();
  settle_all();
  block_ = outer;
}

void CodeWriter::guarded(Instruction guard, const std::function<void()>& body) {
  auto before = loaded_;
  write_inside(guard, body);
  // What was stored inside is no longer as it was loaded.
  std::erase_if(before, [&](const auto& entry) { return !loaded_.contains(entry.first); });
  loaded_ = std::move(before);
  put(std::move(guard));
}

void CodeWriter::looped(Instruction loop, const std::set<size_t>& written,
                        const std::function<void()>& body) {
  std::erase_if(loaded_,
                [&](const auto& entry) { return written.contains(std::get<0>(entry.first)); });
  auto before = loaded_;
  write_inside(loop, body);
  put(std::move(loop));
  loaded_ = std::move(before);
}

}  // namespace lathe
