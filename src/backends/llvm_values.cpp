// llvm_values.cpp: variables in registers. Interface: llvm_values.h.
#include "backends/llvm_values.h"

#include <llvm/Analysis/VectorUtils.h>

#include <numeric>

namespace lathe {

using llvm::Value;

size_t LlvmValues::pieces(long count, Number number) const {
  constexpr long least_bytes = 16;
  long part = std::gcd(count, target_.lanes(size_of(number)));
  bool fits = number != Number::i64 && part * size_of(number) >= least_bytes;
  return fits ? static_cast<size_t>(count / part) : 1;
}

long LlvmValues::width(long count, Number number) const {
  return count / static_cast<long>(pieces(count, number));
}

long LlvmValues::converted_at_once(long count, Number number) const {
  long part = count & -count;
  return part % width(count, number) == 0 ? part : count;
}

LlvmValues::Pieces LlvmValues::widened(size_t variable, long count) {
  if (lanes(variable) == count) return values_[variable];
  Number type = number(variable);
  return Pieces(pieces(count, type), math_.widened(values_[variable].front(), width(count, type)));
}

Value* LlvmValues::part_of(const Pieces& all, long each, long first, long count) {
  auto begin = all.begin() + first / each;
  return put_together(Pieces(begin, begin + count / each));
}

LlvmValues::Pieces LlvmValues::taken_apart(Value* all, long count, Number number) {
  if (pieces(count, number) == 1) return {all};
  Pieces result;
  long part = width(count, number);
  for (long first = 0; first < count; first += part) {
    llvm::SmallVector<int, 16> mask;
    for (long k = 0; k < part; ++k) mask.push_back(static_cast<int>(first + k));
    result.push_back(builder_.CreateShuffleVector(all, mask));
  }
  return result;
}

Value* LlvmValues::put_together(const Pieces& parts) {
  return parts.size() == 1 ? parts.front() : llvm::concatenateVectors(builder_, parts);
}

}  // namespace lathe
