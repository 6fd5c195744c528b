// contract.cpp: storage of local tensors. Interface: contract.h.
//
// An index of T is a sum: what the loops around all uses add, and the rest. If the former is the
// same in every use it can go, as long as iterations of these loops do not meet in an element: each
// loop must step over all that the others reach.
#include "codegen/contract.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "nest/marks.h"

namespace lathe {
namespace {

using poly::Affine;
using poly::Interval;

/// One access to the tensor.
struct Use {
  size_t statement;
  size_t read;  // of the statement; the number of its reads: the write
  std::vector<Affine> index;
};

Access& access_of(Statement& s, const Use& use) {
  return use.read < s.reads.size() ? s.reads[use.read] : s.write;
}

/// May iterations of a loop share storage of a tensor in this space?
bool may_share(Space space, Mark mark) {
  return space == Space::global ? !is_axis(mark) : space != Space::shared || !is_thread(mark);
}

/// What becomes of one dimension.
struct Dimension {
  std::vector<long> steps;  // of the loops around all uses
  Interval rest{0, 0};
};

class Shrinking {
 public:
  Shrinking(const Nest& nest, const std::vector<Layout>& layouts, size_t tensor)
      : nest_(nest), layout_(layouts[tensor]), tensor_(tensor) {}

  /// Returns whether there is anything to gain, and it may be done.
  bool find() {
    if (!find_uses() || depth_ == 0) return false;
    dimensions_.resize(layout_.axes.size());
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      if (!find_steps(d)) return false;
    }
    while (depth_ > 0 && !are_apart()) --depth_;
    for (Dimension& dimension : dimensions_) dimension.steps.resize(depth_);
    bool moves = std::any_of(dimensions_.begin(), dimensions_.end(), [](const Dimension& d) {
      return std::any_of(d.steps.begin(), d.steps.end(), [](long step) { return step != 0; });
    });
    return moves && find_rests();
  }

  void apply(std::vector<Tensor>& tensors, std::vector<Statement>& statements,
             std::vector<Layout>& layouts) const {
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      tensors[tensor_].shape[d] = dimensions_[d].rest.size();
    }
    layouts[tensor_] = compact_layout();
    for (const Use& use : uses_) {
      Statement& s = statements[use.statement];
      Access& access = access_of(s, use);
      std::vector<isl::aff> at = poly::parts(access.at);
      for (size_t d = 0; d < at.size(); ++d) at[d] = shifted(at[d], dimensions_[d], use.statement);
      access.at = poly::tuple(s.domain.space(), at);
    }
  }

 private:
  const Nest& nest_;
  const Layout& layout_;
  size_t tensor_;
  size_t depth_ = 0;  // loops around all uses
  std::vector<Use> uses_;
  std::vector<Dimension> dimensions_;

  bool find_uses() {
    std::optional<size_t> first;
    for (size_t s = 0; s < nest_.statements().size(); ++s) {
      const Statement& statement = nest_.statements()[s];
      size_t before = uses_.size();
      for (size_t r = 0; r < statement.reads.size(); ++r) {
        if (statement.reads[r].tensor == tensor_) uses_.push_back({s, r, {}});
      }
      if (statement.write.tensor == tensor_) uses_.push_back({s, statement.reads.size(), {}});
      if (uses_.size() == before) continue;
      if (!first) {
        first = s;
        depth_ = nest_.order[s].loops.size();
      } else {
        depth_ = std::min(depth_, shared_loops(nest_.order[*first], nest_.order[s]));
      }
      if (depth_ == 0) return false;
    }
    for (Use& use : uses_) {
      Statement s = nest_.statements()[use.statement];
      isl::multi_aff at = access_of(s, use).at.pullback(nest_.order[use.statement].instance);
      std::vector<Interval> ranges = ranges_of(use.statement);
      for (const isl::aff& part : poly::parts(at)) {
        use.index.push_back(poly::narrowed(poly::take_apart(part), ranges));
      }
    }
    return !uses_.empty();
  }

  std::vector<Interval> ranges_of(size_t statement) const {
    std::vector<Interval> ranges;
    for (const Loop& loop : nest_.order[statement].loops) ranges.push_back({0, loop.extent - 1});
    return ranges;
  }

  /// Finds what each loop adds to an index; false if that differs between uses.
  bool find_steps(size_t d) {
    for (const Use& use : uses_) {
      const Affine& index = use.index[d];
      if (index.divisor != 1) return false;
      std::vector<long> steps(index.coefficients.begin(),
                              index.coefficients.begin() + static_cast<long>(depth_));
      for (size_t i = 0; i < depth_; ++i) {
        if (!shares(i)) steps[i] = 0;
      }
      for (const auto& floor : index.floors) {
        std::vector<bool> inside = poly::involved(floor.of);
        for (size_t i = 0; i < depth_; ++i) {
          if (inside[i] && shares(i)) return false;
        }
      }
      if (&use == &uses_.front()) dimensions_[d].steps = steps;
      if (dimensions_[d].steps != steps) return false;
    }
    return true;
  }

  /// Finds the range of the rest of each index; false if it does not begin with a block.
  bool find_rests() {
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      Dimension& dimension = dimensions_[d];
      dimension.rest = rest_of(d);
      long block = layout_.axes[d].block;
      bool even = dimension.rest.lower % block == 0 &&
                  std::all_of(dimension.steps.begin(), dimension.steps.end(),
                              [&](long step) { return step % block == 0; });
      if (!even) return false;
    }
    return true;
  }

  /// Do different iterations of the loops around all uses touch different elements?
  bool are_apart() {
    std::vector<bool> apart(depth_, false);
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      std::vector<size_t> loops;
      for (size_t i = 0; i < depth_; ++i) {
        if (dimensions_[d].steps[i] != 0) loops.push_back(i);
      }
      std::sort(loops.begin(), loops.end(), [&](size_t a, size_t b) {
        return dimensions_[d].steps[a] < dimensions_[d].steps[b];
      });
      long reach = rest_of(d).size();
      for (size_t i : loops) {
        long step = dimensions_[d].steps[i];
        if (step < reach) return false;
        reach += step * (extent(i) - 1);
        apart[i] = true;
      }
    }
    for (size_t i = 0; i < depth_; ++i) {
      if (!apart[i] && extent(i) > 1 && shares(i)) return false;
    }
    return true;
  }

  /// Returns the range of an index, of all uses, without what the loops around all of them add.
  Interval rest_of(size_t d) const {
    std::optional<Interval> all;
    for (const Use& use : uses_) {
      Affine rest = use.index[d];
      for (size_t i = 0; i < depth_; ++i) {
        if (shares(i)) rest.coefficients[i] = 0;
      }
      Interval range = poly::bounds(rest, ranges_of(use.statement));
      if (!all) all = range;
      all = Interval{std::min(all->lower, range.lower), std::max(all->upper, range.upper)};
    }
    if (nest_.tensors()[tensor_].space == Space::nearest) return *all;
    // No index leaves the tensor, whatever its bounds seem to be: loops that became one tell less
    // than each did. That helps where the loops around add nothing.
    bool alone = std::all_of(dimensions_[d].steps.begin(), dimensions_[d].steps.end(),
                             [](long step) { return step == 0; });
    if (!alone) return *all;
    return {std::max(all->lower, 0L), std::min(all->upper, nest_.tensors()[tensor_].shape[d] - 1)};
  }

  /// May iterations of this loop, one around all uses, share storage?
  bool shares(size_t loop) const {
    return may_share(nest_.tensors()[tensor_].space,
                     nest_.order[uses_.front().statement].loops[loop].mark);
  }

  long extent(size_t loop) const { return nest_.order[uses_.front().statement].loops[loop].extent; }

  isl::aff shifted(isl::aff index, const Dimension& dimension, size_t statement) const {
    const Order& order = nest_.order[statement];
    for (size_t i = 0; i < depth_; ++i) {
      if (dimension.steps[i] != 0) {
        index = index.sub(order.loops[i].value.scale(dimension.steps[i]));
      }
    }
    return index.add_constant(-dimension.rest.lower);
  }

  /// Returns the layout with the dimensions in the same order, without what is no longer there.
  Layout compact_layout() const {
    struct Part {
      size_t axis;
      bool inner;
      long step, extent;
    };
    std::vector<Part> parts;
    for (size_t d = 0; d < dimensions_.size(); ++d) {
      const Layout::Axis& axis = layout_.axes[d];
      long size = dimensions_[d].rest.size();
      if (axis.block > 1) parts.push_back({d, true, axis.inner, std::min(axis.block, size)});
      parts.push_back({d, false, axis.outer, (size + axis.block - 1) / axis.block});
    }
    std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
      // Of equal steps only one has more than one iteration.
      return std::pair(a.step, a.extent) < std::pair(b.step, b.extent);
    });
    long bytes = size_of(nest_.tensors()[tensor_].element);
    Layout layout;
    layout.axes.resize(dimensions_.size());
    layout.size = 1;
    for (const Part& part : parts) {
      Layout::Axis& axis = layout.axes[part.axis];
      axis.block = layout_.axes[part.axis].block;
      long stride = part.extent > 1 ? spread(layout.size, bytes) : layout.size;
      (part.inner ? axis.inner : axis.outer) = stride;
      layout.size = stride * part.extent;
    }
    return layout;
  }
};

}  // namespace

Stored contracted(const Nest& nest, const std::vector<Layout>& layouts) {
  std::vector<Tensor> tensors = nest.tensors();
  std::vector<Statement> statements = nest.statements();
  std::vector<Layout> stored = layouts;
  bool any = false;
  for (size_t t = 0; t < tensors.size(); ++t) {
    if (tensors[t].role != Role::local) continue;
    Shrinking shrinking(nest, layouts, t);
    if (!shrinking.find()) continue;
    shrinking.apply(tensors, statements, stored);
    any = true;
  }
  if (!any) return {nest, layouts};
  auto meaning = std::make_shared<Meaning>(std::move(tensors), std::move(statements), nest.order);
  return {{nest.name, std::move(meaning), nest.order}, std::move(stored)};
}

}  // namespace lathe
