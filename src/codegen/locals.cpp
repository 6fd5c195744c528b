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

/// What the outermost loops add to an offset: a step for each, and floors of these loops alone.
struct Added {
  std::vector<long> steps;
  std::vector<Affine::Floor> floors;
};

bool add_alike(const Added& a, const Added& b) {
  return a.steps == b.steps &&
         std::equal(a.floors.begin(), a.floors.end(), b.floors.begin(), b.floors.end(),
                    [](const Affine::Floor& f, const Affine::Floor& g) {
                      return f.coefficient == g.coefficient && poly::same(f.of, g.of);
                    });
}

/// Does a function depend on some of the outermost loops, and does it on others?
std::pair<bool, bool> depends(const Affine& of, size_t outermost) {
  std::pair<bool, bool> result{false, false};
  std::vector<bool> involved = poly::involved(of);
  for (size_t i = 0; i < involved.size(); ++i) {
    if (involved[i]) (i < outermost ? result.first : result.second) = true;
  }
  return result;
}

/// Returns the same function of so many loops: it depends on no others.
Affine of_loops(Affine a, size_t count) {
  a.coefficients.resize(count, 0);
  for (auto& floor : a.floors) floor.of = of_loops(floor.of, count);
  return a;
}

/// Returns what the outermost loops, so many of them, add to the offset; nothing if that cannot be
/// taken apart from the rest.
std::optional<Added> added_by(const Affine& offset, size_t outermost) {
  Added added{std::vector<long>(outermost, 0), {}};
  for (size_t i = 0; i < std::min(outermost, offset.coefficients.size()); ++i) {
    added.steps[i] = offset.coefficients[i];
  }
  for (const auto& floor : offset.floors) {
    auto [outer, inner] = depends(floor.of, outermost);
    if (!outer) continue;
    if (inner) return std::nullopt;
    added.floors.push_back({floor.coefficient, of_loops(floor.of, outermost)});
  }
  return added;
}

/// Drops what the outermost loops, so many of them, add to the offsets, if they add the same
/// everywhere. Returns how many elements are left.
long shrink(Code& code, size_t tensor, size_t outermost) {
  std::optional<Added> common;
  bool alike = true;
  for_each_touch(code, tensor, [&](Instruction& i, const std::vector<Interval>&) {
    auto added = added_by(i.offset, outermost);
    if (!common) common = added;
    alike = alike && added && add_alike(*common, *added);
  });
  long whole = code.layouts[tensor].size;
  if (!alike || !common) return whole;

  long first = whole, last = 0;
  for_each_touch(code, tensor, [&](Instruction& i, const std::vector<Interval>& ranges) {
    std::vector<Interval> all = ranges;
    all.resize(std::max(all.size(), i.offset.coefficients.size()), {0, 0});
    size_t shared = std::min(outermost, i.offset.coefficients.size());
    std::fill_n(i.offset.coefficients.begin(), shared, 0);
    std::erase_if(i.offset.floors, [&](const Affine::Floor& floor) -> bool {
      return depends(floor.of, outermost).first;
    });
    Interval at = poly::bounds(i.offset, all);
    bool loads = i.kind == Instruction::Kind::load;
    long lanes = loads ? code.variables[i.to].lanes : i.lane, reach = 0;
    if (i.kind != Instruction::Kind::prefetch) {
      long rows = code.variables[loads ? i.to : i.args[0]].rows;
      reach = (std::max(1L, lanes) - 1) * i.stride + (std::max(1L, rows) - 1) * i.row_stride;
    }
    first = std::min({first, at.lower, at.lower + reach});
    last = std::max({last, at.upper, at.upper + reach});
  });
  for_each_touch(code, tensor,
                 [&](Instruction& i, const std::vector<Interval>&) { i.offset.constant -= first; });
  return last - first + 1;
}

/// Finds the tensors that something is loaded from.
void find_loaded(const Block& block, std::vector<bool>& loaded) {
  for (const Instruction& i : block) {
    if (i.kind == Instruction::Kind::load) loaded[i.tensor] = true;
    find_loaded(i.body, loaded);
  }
}

void drop_touches(Block& block, const std::vector<bool>& dropped) {
  std::erase_if(block, [&](const Instruction& i) {
    bool touches = i.kind == Instruction::Kind::store || i.kind == Instruction::Kind::prefetch;
    return touches && dropped[i.tensor];
  });
  for (Instruction& i : block) drop_touches(i.body, dropped);
}

}  // namespace

void drop_unread(Code& code, const std::vector<bool>& outside) {
  std::vector<bool> loaded(code.tensors.size(), false), dropped = loaded;
  find_loaded(code.body, loaded);
  for (size_t t = 0; t < code.tensors.size(); ++t) {
    dropped[t] = code.tensors[t].role == Role::local && !outside[t] && !loaded[t] && code.used[t];
    if (dropped[t]) code.used[t] = false;
  }
  drop_touches(code.body, dropped);
}

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
