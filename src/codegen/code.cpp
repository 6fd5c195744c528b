// code.cpp: what can be said of a kernel. Interface: code.h.
#include "codegen/code.h"

#include <algorithm>

namespace lathe {

std::optional<Extra> extra_of(Number number) {
  switch (number) {
    case Number::f16:
      return Extra::f16;
    case Number::bf16:
      return Extra::bf16_dot;
    case Number::i8:
    case Number::u8:
      return Extra::i8_dot;
    default:
      return std::nullopt;
  }
}

long Code::count() const {
  long n = 1;
  for (long extent : parallel) n *= extent;
  return n;
}

long Code::extent(Mark axis) const {
  for (const Axis& each : axes) {
    if (each.mark == axis) return each.extent;
  }
  return 1;
}

long Code::blocks() const {
  return extent(Mark::block_x) * extent(Mark::block_y) * extent(Mark::block_z);
}

long Code::threads() const {
  return extent(Mark::thread_x) * extent(Mark::thread_y) * extent(Mark::thread_z);
}

bool has_barrier(const Block& block) {
  return std::any_of(block.begin(), block.end(), [](const Instruction& i) {
    return i.kind == Instruction::Kind::barrier || has_barrier(i.body);
  });
}

bool is_stored_by_some(const Block& block, size_t tensor, bool guarded) {
  return std::any_of(block.begin(), block.end(), [&](const Instruction& i) {
    if (i.kind == Instruction::Kind::store) return guarded && i.tensor == tensor;
    return is_stored_by_some(i.body, tensor, guarded || i.kind == Instruction::Kind::guard);
  });
}

std::vector<size_t> arguments_of(const Code& code) {
  std::vector<size_t> result;
  for (size_t t = 0; t < code.tensors.size(); ++t) {
    bool inside = !code.spaces.empty() && code.spaces[t] != Space::global;
    if (code.used[t] && code.scratch[t] < 0 && !inside) result.push_back(t);
  }
  return result;
}

}  // namespace lathe
