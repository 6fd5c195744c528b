// llvm_addresses.cpp: pointers that loops step. Interface: llvm_addresses.h.
#include "backends/llvm_addresses.h"

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Module.h>

namespace lathe {

using llvm::Value;

namespace {

bool is_access(const Instruction& i) {
  return i.kind == Instruction::Kind::load || i.kind == Instruction::Kind::store ||
         i.kind == Instruction::Kind::prefetch;
}

}  // namespace

void LlvmAddresses::begin(std::map<size_t, Value*> bases) {
  bases_ = std::move(bases);
  std::map<Key, size_t> numbers;
  find_keys(code_.body, numbers);
  for (const Key& key : keys_) pointers_.push_back(bases_.at(key.tensor));
}

void LlvmAddresses::enter_shared(const std::vector<Value*>& coordinates,
                                 const std::vector<long>& extents) {
  for (size_t d = 0; d < coordinates.size(); ++d) {
    set_coordinate(d, coordinates[d], {0, extents[d] - 1});
  }
  for (size_t k = 0; k < keys_.size(); ++k) {
    for (size_t d = 0; d < coordinates.size(); ++d) {
      long c = keys_[k].coefficient(d) * bytes_of(keys_[k].tensor);
      if (c != 0) pointers_[k] = moved(pointers_[k], coordinates_[d], c);
      move_by_floors(k, d);
    }
  }
}

std::map<size_t, Value*> LlvmAddresses::starts(const Instruction& loop) {
  std::map<size_t, Value*> result;
  for (size_t k : keys_inside_.at(&loop)) {
    long c = keys_[k].coefficient(loop.depth) * bytes_of(keys_[k].tensor);
    if (c != 0) result[k] = moved(pointers_[k], c * loop.from);
  }
  return result;
}

LlvmAddresses::Loop LlvmAddresses::enter(const std::map<size_t, Value*>& starts,
                                         llvm::BasicBlock* before) {
  Loop state{{}, pointers_};
  for (const auto& [key, start] : starts) {
    llvm::PHINode* phi = builder_.CreatePHI(start->getType(), 2);
    phi->addIncoming(start, before);
    pointers_[key] = state.stepped[key] = phi;
  }
  return state;
}

void LlvmAddresses::set(const Instruction& loop, Value* index) {
  set_coordinate(loop.depth, index, {loop.from, loop.end - 1});
  for (size_t k : keys_inside_.at(&loop)) move_by_floors(k, loop.depth);
}

void LlvmAddresses::leave(const Instruction& loop, Loop state) {
  for (const auto& [key, pointer] : state.stepped) {
    long c = keys_[key].coefficient(loop.depth) * bytes_of(keys_[key].tensor);
    pointer->addIncoming(moved(pointer, c), builder_.GetInsertBlock());
  }
  coordinates_.erase(loop.depth);
  pointers_ = std::move(state.outer);
}

Value* LlvmAddresses::of(const Instruction& access, long further) {
  long elements = access.offset.constant + further;
  return moved(pointers_[key_of_.at(&access)], elements * bytes_of(access.tensor));
}

Value* LlvmAddresses::guarded(const Instruction& access, long further) {
  Value* at = of(access, further);
  if (access.guard.empty()) return at;
  return builder_.CreateSelect(holds(access.guard), at, bases_.at(access.tensor));
}

Value* LlvmAddresses::holds(const Guard& guard) {
  Value* any = builder_.getFalse();
  for (const auto& piece : guard) {
    Value* all = builder_.getTrue();
    for (const auto& c : piece) {
      Value* value = integer(c.expression);
      Value* holds = c.equality ? builder_.CreateICmpEQ(value, constant(0))
                                : builder_.CreateICmpSGE(value, constant(0));
      all = builder_.CreateAnd(holds, all);
    }
    any = builder_.CreateOr(all, any);
  }
  return any;
}

Value* LlvmAddresses::integer(const poly::Affine& a) {
  Value* sum = nullptr;
  for (size_t i = 0; i < a.coefficients.size(); ++i) {
    if (a.coefficients[i] != 0) sum = added(sum, coordinates_.at(i), a.coefficients[i]);
  }
  for (const auto& floor : a.floors) sum = added(sum, integer(floor.of), floor.coefficient);
  if (a.constant != 0 || sum == nullptr) sum = added(sum, constant(a.constant), 1);
  if (a.divisor == 1) return sum;
  Value* divisor = constant(a.divisor);
  // What is never negative is divided by a shift, or by one product.
  if (poly::bounds(a, ranges_).lower >= 0) return builder_.CreateUDiv(sum, divisor);
  Value* quotient = builder_.CreateSDiv(sum, divisor);
  Value* rest = builder_.CreateSub(sum, builder_.CreateMul(quotient, divisor));
  Value* negative = builder_.CreateICmpSLT(rest, constant(0));
  return builder_.CreateSub(quotient, builder_.CreateZExt(negative, index_));
}

Value* LlvmAddresses::constant(long value) { return llvm::ConstantInt::getSigned(index_, value); }

Value* LlvmAddresses::moved(Value* pointer, long bytes) {
  if (bytes == 0) return pointer;
  return builder_.CreateGEP(builder_.getInt8Ty(), pointer,
                            builder_.getInt64(static_cast<uint64_t>(bytes)));
}

/// Moves a pointer by so many times some bytes. The product has the size of the pointer: it may be
/// larger than coordinates are, and machines multiply and add such numbers at once.
Value* LlvmAddresses::moved(Value* pointer, Value* times, long bytes) {
  if (auto* number = llvm::dyn_cast<llvm::ConstantInt>(times)) {
    return moved(pointer, number->getSExtValue() * bytes);
  }
  const llvm::DataLayout& layout = builder_.GetInsertBlock()->getModule()->getDataLayout();
  llvm::Type* type = layout.getIndexType(pointer->getType());
  Value* product = builder_.CreateMul(builder_.CreateSExtOrTrunc(times, type),
                                      llvm::ConstantInt::getSigned(type, bytes));
  return builder_.CreateGEP(builder_.getInt8Ty(), pointer, product);
}

/// Returns  sum + factor * value, where no sum is 0.
Value* LlvmAddresses::added(Value* sum, Value* value, long factor) {
  if (factor != 1) value = builder_.CreateMul(value, constant(factor));
  return sum == nullptr ? value : builder_.CreateAdd(sum, value);
}

size_t LlvmAddresses::floor_named(const poly::Affine& of) {
  for (size_t i = 0; i < floors_.size(); ++i) {
    if (poly::same(floors_[i].of, of)) return i;
  }
  std::vector<bool> involved = poly::involved(of);
  size_t depth = 0;
  for (size_t i = 0; i < involved.size(); ++i) {
    if (involved[i]) depth = i;
  }
  floors_.push_back({of, depth});
  return floors_.size() - 1;
}

LlvmAddresses::Key LlvmAddresses::key_of(const Instruction& access) {
  Key key{access.tensor, access.offset.coefficients, {}};
  while (!key.coefficients.empty() && key.coefficients.back() == 0) key.coefficients.pop_back();
  for (const auto& floor : access.offset.floors) {
    key.floors.emplace_back(floor_named(floor.of), floor.coefficient);
  }
  return key;
}

std::set<size_t> LlvmAddresses::find_keys(const Block& block, std::map<Key, size_t>& numbers) {
  std::set<size_t> found;
  for (const Instruction& i : block) {
    if (is_access(i)) {
      Key key = key_of(i);
      auto [at, is_new] = numbers.try_emplace(key, keys_.size());
      if (is_new) keys_.push_back(std::move(key));
      key_of_[&i] = at->second;
      found.insert(at->second);
    } else if (i.kind == Instruction::Kind::loop || i.kind == Instruction::Kind::guard) {
      std::set<size_t> inside = find_keys(i.body, numbers);
      found.insert(inside.begin(), inside.end());
      keys_inside_[&i] = std::move(inside);
    }
  }
  return found;
}

void LlvmAddresses::set_coordinate(size_t depth, Value* value, poly::Interval range) {
  coordinates_[depth] = value;
  if (ranges_.size() <= depth) ranges_.resize(depth + 1, {0, 0});
  ranges_[depth] = range;
}

/// Moves a pointer by the floors that the loop at "depth" completes.
void LlvmAddresses::move_by_floors(size_t key, size_t depth) {
  for (const auto& [floor, factor] : keys_[key].floors) {
    if (floors_[floor].depth != depth) continue;
    pointers_[key] =
        moved(pointers_[key], integer(floors_[floor].of), factor * bytes_of(keys_[key].tensor));
  }
}

}  // namespace lathe
