// locals.cpp: local tensors in scratch memory. Interface: locals.h.
//
//   parallel for co.o:  for oh, ow: T[16*co.o + co.i, oh, ow] = ...
//
// A worker has only one iteration of the parallel loops in hand, so it needs T for 16 channels, not
// for all: the part of the offset that the parallel loops make is dropped.
#include "codegen/locals.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "nest/marks.h"

namespace lathe {
namespace {

using poly::Affine;
using poly::Interval;

/// An instruction that touches a tensor, and the range of each loop there.
using Visit = std::function<void(Instruction&, const std::vector<Interval>&)>;

void visit(Block& block, size_t tensor, std::vector<Interval>& ranges, const Visit& touch) {
  for (Instruction& i : block) {
    using Kind = Instruction::Kind;
    if (i.kind == Kind::loop) {
      if (ranges.size() <= i.depth) ranges.resize(i.depth + 1, {0, 0});
      Interval outer = std::exchange(ranges[i.depth], {i.from, i.end - 1});
      visit(i.body, tensor, ranges, touch);
      ranges[i.depth] = outer;
    } else if (i.kind == Kind::guard) {
      visit(i.body, tensor, ranges, touch);
    } else if ((i.kind == Kind::load || i.kind == Kind::store || i.kind == Kind::prefetch) &&
               i.tensor == tensor) {
      touch(i, ranges);
    }
  }
}

void for_each_touch(Code& code, size_t tensor, const Visit& touch) {
  std::vector<Interval> ranges(code.parallel.size(), {0, 0});
  for (const Code::Axis& axis : code.axes) ranges.push_back({0, axis.extent - 1});
  visit(code.body, tensor, ranges, touch);
}

/// Returns by how much each parallel loop moves the offset; nothing if it is not by a fixed step.
std::optional<std::vector<long>> steps_of(const Affine& offset, size_t parallel) {
  std::vector<long> steps(parallel, 0);
  for (size_t i = 0; i < std::min(parallel, offset.coefficients.size()); ++i) {
    steps[i] = offset.coefficients[i];
    for (const auto& floor : offset.floors) {
      if (poly::involved(floor.of)[i]) return std::nullopt;
    }
  }
  return steps;
}

/// Drops what the outermost loops, so many of them, add to the offsets, if they add the same
/// everywhere. Returns how many elements are left.
long shrink(Code& code, size_t tensor, size_t outermost) {
  std::optional<std::vector<long>> common;
  bool alike = true;
  for_each_touch(code, tensor, [&](Instruction& i, const std::vector<Interval>&) {
    auto steps = steps_of(i.offset, outermost);
    if (!common) common = steps;
    alike = alike && steps && common == steps;
  });
  long whole = code.layouts[tensor].size;
  if (!alike || !common) return whole;

  long first = whole, last = 0;
  for_each_touch(code, tensor, [&](Instruction& i, const std::vector<Interval>& ranges) {
    std::vector<Interval> all = ranges;
    all.resize(std::max(all.size(), i.offset.coefficients.size()), {0, 0});
    size_t shared = std::min(outermost, i.offset.coefficients.size());
    std::fill_n(i.offset.coefficients.begin(), shared, 0);
    Interval at = poly::bounds(i.offset, all);
    bool loads = i.kind == Instruction::Kind::load;
    long lanes = loads ? code.variables[i.to].lanes : i.lane;
    long reach = i.kind == Instruction::Kind::prefetch ? 0 : (std::max(1L, lanes) - 1) * i.stride;
    first = std::min({first, at.lower, at.lower + reach});
    last = std::max({last, at.upper, at.upper + reach});
  });
  for_each_touch(code, tensor,
                 [&](Instruction& i, const std::vector<Interval>&) { i.offset.constant -= first; });
  return last - first + 1;
}

}  // namespace

void place_locals(Code& code, const std::vector<bool>& outside) {
  code.scratch.assign(code.tensors.size(), -1);
  for (size_t t = 0; t < code.tensors.size(); ++t) {
    if (code.tensors[t].role != Role::local || outside[t] || !code.used[t]) continue;
    code.scratch[t] = code.scratch_bytes;
    long bytes = shrink(code, t, code.parallel.size()) * size_of(code.tensors[t].element);
    code.scratch_bytes += rounded_to_lines(bytes);
  }
}

void place_in_spaces(Code& code) {
  code.scratch.assign(code.tensors.size(), -1);
  size_t blocks = 0;
  while (blocks < code.axes.size() && is_block(code.axes[blocks].mark)) ++blocks;
  for (size_t t = 0; t < code.tensors.size(); ++t) {
    bool privately = code.spaces[t] == Space::privately;
    if (code.spaces[t] == Space::global || !code.used[t]) continue;
    code.layouts[t].size = shrink(code, t, privately ? code.axes.size() : blocks);
    long bytes = code.layouts[t].size * size_of(code.tensors[t].element);
    (privately ? code.private_bytes : code.shared_bytes) += bytes;
  }
}

}  // namespace lathe
