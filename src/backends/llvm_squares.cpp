// llvm_squares.cpp: which accesses of a block make squares. Interface: llvm_squares.h.
#include "backends/llvm_squares.h"

#include <algorithm>
#include <set>

namespace lathe {
namespace {

using Kind = Instruction::Kind;

long lanes_of(const Code& code, const Instruction& i) {
  return i.kind == Kind::load ? code.variables[i.to].lanes : i.lane;
}

/// Is it an access across memory whose vectors can be taken apart into squares?
bool is_column(const Code& code, const Instruction& i, long side) {
  bool access = i.kind == Kind::load || i.kind == Kind::store;
  if (!access) return false;
  size_t variable = i.kind == Kind::load ? i.to : i.args[0];
  bool plain = code.variables[variable].number == Number::f32 &&
               code.tensors[i.tensor].element == Element::f32;
  return plain && i.picked.empty() && i.stride != 0 && i.stride != 1 && i.stride >= side &&
         lanes_of(code, i) % side == 0 &&
         (i.kind == Kind::load || code.variables[i.args[0]].lanes == i.lane);
}

/// Are the two columns of one square: "b" so many elements after "a"?
bool are_beside(const Code& code, const Instruction& a, const Instruction& b, long distance) {
  poly::Affine shifted = a.offset;
  shifted.constant += distance;
  return a.kind == b.kind && a.tensor == b.tensor && a.stride == b.stride &&
         lanes_of(code, a) == lanes_of(code, b) && poly::same(shifted, b.offset);
}

bool sets(const Instruction& i, size_t variable) {
  return i.kind != Kind::store && i.kind != Kind::prefetch && i.to == variable;
}

bool uses(const Instruction& i, size_t variable) {
  return std::find(i.args.begin(), i.args.end(), variable) != i.args.end();
}

/// Can the members, in the order in which they stand, be one: all loads at the first, or all stores
/// at the last?
bool can_be_one(const Block& block, const std::vector<size_t>& members) {
  bool loads = block[members.front()].kind == Kind::load;
  size_t tensor = block[members.front()].tensor;
  for (size_t k = members.front(); k < members.back(); ++k) {
    const Instruction& i = block[k];
    if (std::find(members.begin(), members.end(), k) != members.end()) continue;
    bool touches = (i.kind == Kind::load || i.kind == Kind::store) && i.tensor == tensor;
    // Loads of the same tensor may come between loads.
    if (touches && (i.kind == Kind::store || !loads)) return false;
  }
  for (size_t m : members) {
    // A load comes earlier: nobody before it may set the variable or want its old value. A store
    // comes later: nobody after it may set the variable anew.
    size_t variable = loads ? block[m].to : block[m].args[0];
    size_t from = loads ? members.front() : m + 1, to = loads ? m : members.back();
    for (size_t k = from; k < to; ++k) {
      if (sets(block[k], variable) || (loads && uses(block[k], variable))) return false;
    }
  }
  return true;
}

}  // namespace

Squares find_squares(const Code& code, const Block& block, long side) {
  Squares squares;
  std::set<size_t> taken;
  for (size_t k = 0; k < block.size(); ++k) {
    if (taken.contains(k) || !is_column(code, block[k], side)) continue;
    std::vector<size_t> members{k};
    for (size_t j = k + 1; j < block.size() && static_cast<long>(members.size()) < side; ++j) {
      if (block[j].kind == Kind::loop || block[j].kind == Kind::guard) break;
      auto distance = static_cast<long>(members.size());
      bool next = !taken.contains(j) && is_column(code, block[j], side) &&
                  are_beside(code, block[k], block[j], distance);
      if (next) members.push_back(j);
    }
    if (static_cast<long>(members.size()) < side || !can_be_one(block, members)) continue;
    taken.insert(members.begin(), members.end());
    bool loads = block[k].kind == Kind::load;
    squares[loads ? members.front() : members.back()] = members;
  }
  return squares;
}

}  // namespace lathe
