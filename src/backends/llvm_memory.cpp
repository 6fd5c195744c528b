// llvm_memory.cpp: loads and stores in LLVM's language. Interface: llvm_memory.h.
#include "backends/llvm_memory.h"

#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <array>

#include "backends/llvm_nvptx.h"
#include "codegen/ahead.h"

namespace lathe {
namespace {

using llvm::Value;

/// The side of the squares that are transposed: as many as a register of 16 bytes has lanes.
constexpr unsigned square_side = 4;

}  // namespace

LlvmMemory::LlvmMemory(llvm::IRBuilder<>& builder, LlvmMath& math, LlvmAddresses& addresses,
                       LlvmValues& values, const Code& code, const Target& target)
    : builder_(builder),
      math_(math),
      addresses_(addresses),
      values_(values),
      code_(code),
      target_(target),
      written_(written_tensors(code)) {}

void LlvmMemory::load(const Instruction& i) {
  Pieces& to = values_[i.to];
  if (is_panel(i.to)) {
    to = {
        load_panel(builder_, shape_of(i.to), addresses_.of(i), i.row_stride * bytes_of(i.tensor))};
  } else {
    to = load_lanes(i);
  }
}

void LlvmMemory::store(const Instruction& i) {
  size_t from = i.args[0];
  if (is_panel(from)) {
    return store_panel(builder_, shape_of(from), values_[from].front(), addresses_.of(i),
                       i.row_stride * bytes_of(i.tensor));
  }
  Pieces value = values_.widened(from, i.lane);
  Number type = values_.number(from);
  long each = values_.width(i.lane, type);
  // Processors with the longest vectors store each as narrow numbers. Others have instructions
  // that make one narrow vector of several wide ones.
  constexpr long longest = 64;
  bool together = bytes_of(i.tensor) != size_of(type) && target_.cpu.vector_bytes < longest;
  long part = together ? values_.converted_at_once(i.lane, type) : each;
  for (long first = 0; first < i.lane; first += part) {
    store_lanes(i, values_.part_of(value, each, first, part), first, part);
  }
}

void LlvmMemory::prefetch(const Instruction& i) {
  if (target_.is_gpu()) return;  // other threads run meanwhile
  // For reading, kept in the second cache, as data.
  builder_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {builder_.getPtrTy()},
      {addresses_.of(i), builder_.getInt32(0), builder_.getInt32(2), builder_.getInt32(1)});
}

PanelShape LlvmMemory::shape_of(size_t variable) const {
  return {code_.variables[variable].rows,
          values_.lanes(variable) * size_of(values_.number(variable))};
}

// ---- what loads and stores share --------------------------------------------------------------

bool LlvmMemory::is_odd(long count, size_t tensor, Number number) const {
  // LLVM 19 loses the last of three bytes on AArch64.
  bool even = (count & (count - 1)) == 0;
  return !even && bytes_of(tensor) != size_of(number);
}

llvm::Align LlvmMemory::alignment(const Instruction& i, long further) const {
  if (target_.is_gpu()) return nvptx_alignment(code_, i, further);
  // CPUs do not ask for more than an element has.
  return llvm::Align(static_cast<uint64_t>(bytes_of(i.tensor)));
}

Value* LlvmMemory::marked(llvm::LoadInst* load, const Instruction& i) {
  if (target_.is_gpu() && !written_[i.tensor] && code_.spaces[i.tensor] == Space::global) {
    load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                      llvm::MDNode::get(builder_.getContext(), {}));
  }
  return load;
}

template <class Lane>
Value* LlvmMemory::lane_by_lane(long count, Lane lane) {
  Value* all = nullptr;
  for (long k = 0; k < count; ++k) {
    Value* one = lane(k);
    if (k == 0) {
      all = llvm::PoisonValue::get(
          llvm::FixedVectorType::get(one->getType(), static_cast<unsigned>(count)));
    }
    all = builder_.CreateInsertElement(all, one, static_cast<uint64_t>(k));
  }
  return all;
}

// ---- loads --------------------------------------------------------------------------------------

/// Elements of another size than the numbers are converted many at once: a register holds more of
/// them, or fewer.
LlvmMemory::Pieces LlvmMemory::load_lanes(const Instruction& i) {
  long count = values_.lanes(i.to);
  Number type = values_.number(i.to);
  if (!i.picked.empty()) return values_.taken_apart(load_picked(i), count, type);
  bool is_converted = bytes_of(i.tensor) != size_of(type);
  long part = is_converted ? values_.converted_at_once(count, type) : values_.width(count, type);
  Pieces result;
  for (long first = 0; first < count; first += part) {
    result.append(values_.taken_apart(load_lanes(i, first, part), part, type));
  }
  return result;
}

Value* LlvmMemory::load_lanes(const Instruction& i, long first, long count) {
  Element element = code_.tensors[i.tensor].element;
  llvm::Type* type = math_.memory_type(element);
  auto one = [&](long lane) { return load_at(type, i, (first + lane) * i.stride); };
  if (count == 1) return math_.loaded(one(0), element);
  if (is_odd(count, i.tensor, values_.number(i.to))) {
    return lane_by_lane(count, [&](long lane) { return math_.loaded(one(lane), element); });
  }
  if (i.stride == 1) {
    auto* vector = llvm::FixedVectorType::get(type, static_cast<unsigned>(count));
    return math_.loaded(load_at(vector, i, first), element);
  }
  return math_.loaded(lane_by_lane(count, one), element);
}

Value* LlvmMemory::load_at(llvm::Type* type, const Instruction& i, long further) {
  Value* at = addresses_.guarded(i, further);
  return marked(builder_.CreateAlignedLoad(type, at, alignment(i, further)), i);
}

Value* LlvmMemory::picked_bytes(const Instruction& i, long lane) {
  Value* sum = builder_.getInt64(0);
  for (size_t k = 0; k < i.picked.size(); ++k) {
    Value* value = values_.whole(i.args[k]);
    if (values_.lanes(i.args[k]) > 1) {
      value = builder_.CreateExtractElement(value, static_cast<uint64_t>(lane));
    }
    math_.compute_in(values_.number(i.args[k]));
    sum = builder_.CreateAdd(sum, math_.picked_elements(value, i.picked[k]));
  }
  math_.compute_in(values_.number(i.to));
  return builder_.CreateMul(sum, builder_.getInt64(static_cast<uint64_t>(bytes_of(i.tensor))));
}

Value* LlvmMemory::load_picked(const Instruction& i) {
  Element element = code_.tensors[i.tensor].element;
  llvm::Type* type = math_.memory_type(element);
  long count = values_.lanes(i.to);
  auto load_from = [&](llvm::Type* what, Value* bytes, long further) {
    Value* at = builder_.CreateGEP(builder_.getInt8Ty(), addresses_.of(i, further), bytes);
    return math_.loaded(marked(builder_.CreateAlignedLoad(what, at, alignment(i)), i), element);
  };
  if (count == 1) return load_from(type, picked_bytes(i, 0), 0);
  bool alike = std::all_of(i.args.begin(), i.args.end(),
                           [&](size_t index) { return values_.lanes(index) == 1; });
  Value* shared = alike ? picked_bytes(i, 0) : nullptr;
  if (alike && i.stride == 1 && !is_odd(count, i.tensor, values_.number(i.to))) {
    return load_from(llvm::FixedVectorType::get(type, static_cast<unsigned>(count)), shared, 0);
  }
  return lane_by_lane(count, [&](long lane) {
    return load_from(type, alike ? shared : picked_bytes(i, lane), lane * i.stride);
  });
}

// ---- stores -------------------------------------------------------------------------------------

void LlvmMemory::store_lanes(const Instruction& i, Value* value, long first, long count) {
  Element element = code_.tensors[i.tensor].element;
  auto put = [&](Value* what, long lane) {
    long further = lane * i.stride;
    builder_.CreateAlignedStore(what, addresses_.of(i, further), alignment(i, further));
  };
  bool odd = count > 1 && is_odd(count, i.tensor, values_.number(i.args[0]));
  if (!odd) value = math_.stored(value, element);
  if (!odd && (count == 1 || i.stride == 1)) return put(value, first);
  for (long k = 0; k < count; ++k) {
    Value* one = builder_.CreateExtractElement(value, static_cast<uint64_t>(k));
    put(odd ? math_.stored(one, element) : one, first + k);
  }
}

// ---- squares ------------------------------------------------------------------------------------

Squares LlvmMemory::squares(const Block& block) const {
  bool fit = !target_.is_gpu() && target_.lanes(size_of(Number::f32)) == square_side;
  return fit ? find_squares(code_, block, square_side) : Squares();
}

void LlvmMemory::move_square(const std::vector<const Instruction*>& columns) {
  bool loads = columns.front()->kind == Instruction::Kind::load;
  loads ? load_squares(columns) : store_squares(columns);
}

std::vector<Value*> LlvmMemory::transposed(const std::vector<Value*>& rows) {
  auto mixed = [&](Value* a, Value* b, std::array<int, 4> lanes) {
    return builder_.CreateShuffleVector(a, b, lanes);
  };
  std::vector<Value*> pairs;
  for (size_t r : {0, 2}) {
    pairs.push_back(mixed(rows[r], rows[r + 1], {0, 4, 1, 5}));
    pairs.push_back(mixed(rows[r], rows[r + 1], {2, 6, 3, 7}));
  }
  return {mixed(pairs[0], pairs[2], {0, 1, 4, 5}), mixed(pairs[0], pairs[2], {2, 3, 6, 7}),
          mixed(pairs[1], pairs[3], {0, 1, 4, 5}), mixed(pairs[1], pairs[3], {2, 3, 6, 7})};
}

void LlvmMemory::load_squares(const std::vector<const Instruction*>& columns) {
  const Instruction& first = *columns.front();
  auto* vector = llvm::FixedVectorType::get(builder_.getFloatTy(), square_side);
  for (const Instruction* column : columns) values_[column->to].clear();
  for (long lane = 0; lane < values_.lanes(first.to); lane += square_side) {
    std::vector<Value*> rows;
    for (long k = lane; k < lane + square_side; ++k) {
      rows.push_back(builder_.CreateAlignedLoad(vector, addresses_.of(first, k * first.stride),
                                                alignment(first)));
    }
    rows = transposed(rows);
    for (size_t c = 0; c < columns.size(); ++c) values_[columns[c]->to].push_back(rows[c]);
  }
}

void LlvmMemory::store_squares(const std::vector<const Instruction*>& columns) {
  const Instruction& first = *columns.front();
  for (long lane = 0; lane < first.lane; lane += square_side) {
    std::vector<Value*> rows;
    for (const Instruction* column : columns) {
      rows.push_back(values_[column->args[0]][static_cast<size_t>(lane / square_side)]);
    }
    rows = transposed(rows);
    for (long k = 0; k < square_side; ++k) {
      builder_.CreateAlignedStore(rows[static_cast<size_t>(k)],
                                  addresses_.of(first, (lane + k) * first.stride),
                                  alignment(first));
    }
  }
}

}  // namespace lathe
