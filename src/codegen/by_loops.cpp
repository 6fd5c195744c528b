// by_loops.cpp: private tensors by loops. Interface: by_loops.h.
#include "codegen/by_loops.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "nest/threads.h"

namespace lathe {
namespace {

using poly::Affine;

/// One access to a tensor: its indices as functions of the axes, and of the loops inside that it
/// moves with, sorted by name.
struct NamedUse {
  size_t statement;
  bool write;
  std::vector<std::pair<std::string, long>> loops;  // names and extents
  std::vector<size_t> depths;                       // of these loops
  std::vector<Affine> index;
};

/// Returns "a" with coordinate i moved to place[i].
Affine moved_to(const Affine& a, const std::vector<size_t>& place, size_t arity) {
  Affine result = poly::constant_of(arity, a.constant);
  result.divisor = a.divisor;
  for (size_t i = 0; i < a.coefficients.size(); ++i) {
    if (a.coefficients[i] != 0) result.coefficients[place[i]] += a.coefficients[i];
  }
  for (const Affine::Floor& floor : a.floors) {
    Affine::Floor other = floor;
    other.of = moved_to(floor.of, place, arity);
    result.floors.push_back(std::move(other));
  }
  return result;
}

class ByLoops {
 public:
  ByLoops(const Nest& nest, size_t tensor) : nest_(nest), tensor_(tensor) {}

  /// Is there anything to gain, and may it be done?
  bool find() {
    for (size_t s = 0; s < nest_.statements().size(); ++s) {
      const Statement& statement = nest_.statements()[s];
      for (const Access& read : statement.reads) note(s, read, false);
      note(s, statement.write, true);
    }
    if (uses_.empty() || (is_linear_ && is_whole_) || !same_axes_) return false;
    const NamedUse& first = uses_.front();
    bool alike = std::all_of(uses_.begin(), uses_.end(), [&](const NamedUse& use) {
      return use.loops == first.loops &&
             std::equal(use.index.begin(), use.index.end(), first.index.begin(),
                        [](const Affine& a, const Affine& b) { return poly::same(a, b); });
    });
    return alike && std::any_of(uses_.begin(), uses_.end(),
                                [&](const NamedUse& use) { return is_one_to_one(use); });
  }

  void apply(std::vector<Tensor>& tensors, std::vector<Statement>& statements,
             std::vector<Layout>& layouts) const {
    Tensor& tensor = tensors[tensor_];
    tensor.shape.clear();
    for (const auto& [name, extent] : uses_.front().loops) tensor.shape.push_back(extent);
    tensor.pad.assign(tensor.shape.size(), {});
    layouts[tensor_] = row_major_layout(tensor.shape);
    for (const NamedUse& use : uses_) {
      Statement& s = statements[use.statement];
      std::vector<isl::aff> at;
      for (size_t depth : use.depths) at.push_back(nest_.order[use.statement].loops[depth].value);
      isl::multi_aff index = poly::tuple(s.domain.space(), at);
      if (use.write) s.write.at = index;
      for (Access& read : s.reads) {
        if (read.tensor == tensor_) read.at = index;
      }
    }
  }

 private:
  const Nest& nest_;
  size_t tensor_, axes_ = 0;
  std::vector<NamedUse> uses_;
  bool is_linear_ = true;  // all indices
  bool is_whole_ = true;   // no statement leaves out iterations
  bool same_axes_ = true;  // of all statements that touch it

  void note(size_t statement, const Access& access, bool write) {
    if (access.tensor != tensor_) return;
    const Order& order = nest_.order[statement];
    if (uses_.empty()) axes_ = count_axes(order);
    is_whole_ = is_whole_ && !order.within;
    same_axes_ = same_axes_ && count_axes(order) == axes_;
    std::vector<poly::Interval> ranges;
    for (const Loop& loop : order.loops) ranges.push_back({0, loop.extent - 1});
    NamedUse use{statement, write, {}, {}, {}};
    std::vector<bool> moves(order.loops.size(), false);
    std::vector<Affine> index;
    for (const isl::aff& part : poly::parts(access.at.pullback(order.instance))) {
      index.push_back(poly::narrowed(poly::take_apart(part), ranges));
      is_linear_ = is_linear_ && index.back().is_linear();
      std::vector<bool> involved = poly::involved(index.back());
      for (size_t i = 0; i < involved.size(); ++i) moves[i] = moves[i] || involved[i];
    }
    for (size_t i = axes_; i < moves.size(); ++i) {
      if (moves[i]) use.depths.push_back(i);
    }
    std::sort(use.depths.begin(), use.depths.end(),
              [&](size_t a, size_t b) { return order.loops[a].name < order.loops[b].name; });
    std::vector<size_t> place(order.loops.size(), 0);
    for (size_t i = 0; i < axes_; ++i) place[i] = i;
    for (size_t k = 0; k < use.depths.size(); ++k) {
      const Loop& loop = order.loops[use.depths[k]];
      use.loops.emplace_back(loop.name, loop.extent);
      place[use.depths[k]] = axes_ + k;
    }
    for (const Affine& part : index) {
      use.index.push_back(moved_to(part, place, axes_ + use.depths.size()));
    }
    uses_.push_back(std::move(use));
  }

  /// Does each instance of a statement write an element of its own?
  bool is_one_to_one(const NamedUse& use) const {
    const Statement& s = nest_.statements()[use.statement];
    return use.write && s.update == Update::assign &&
           poly::count(s.domain) == poly::count_image(s.domain, s.write.at);
  }
};

}  // namespace

Stored indexed_by_loops(const Nest& nest, const std::vector<Layout>& layouts) {
  const Nest threads = in_threads(nest);
  std::vector<Tensor> tensors = threads.tensors();
  std::vector<Statement> statements = threads.statements();
  std::vector<Layout> stored = layouts;
  bool any = false;
  for (size_t t = 0; t < tensors.size(); ++t) {
    if (tensors[t].role != Role::local || tensors[t].space != Space::privately) continue;
    ByLoops by_loops(threads, t);
    if (!by_loops.find()) continue;
    by_loops.apply(tensors, statements, stored);
    any = true;
  }
  if (!any) return {nest, layouts};
  auto meaning = std::make_shared<Meaning>(std::move(tensors), std::move(statements), nest.order);
  return {{nest.name, std::move(meaning), nest.order}, std::move(stored)};
}

}  // namespace lathe
