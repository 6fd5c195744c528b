// transform_completion.cpp: what happens to elements that a neural step no longer writes.
// Interface: complete() of transform_neural.h.
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "transforms/transform_neural.h"

namespace lathe {
namespace {

/// What is left of one dimension of a tensor: elements 0, stride, ..., (count - 1) * stride.
struct Remainder {
  size_t dimension;
  long stride;
  long count;
};

/// Finds what an index of a statement still reaches along dimension "d", if it is of that form: the
/// index must be a mixed-radix number without gaps, times the stride.
std::optional<Remainder> what_is_reached(const Statement& s, const isl::aff& at, size_t d) {
  poly::Affine index = poly::take_apart(at);
  if (!poly::is_box_from_zero(s.domain) || !index.is_linear() || index.constant != 0) {
    return std::nullopt;
  }
  auto box_sides = poly::sides(s.domain);
  std::vector<std::pair<long, long>> digits;  // weight, extent
  for (size_t i = 0; i < index.coefficients.size(); ++i) {
    if (index.coefficients[i] < 0) return std::nullopt;
    if (index.coefficients[i] > 0)
      digits.emplace_back(index.coefficients[i], (*box_sides)[i].size());
  }
  std::sort(digits.begin(), digits.end());
  Remainder left{d, digits.empty() ? 1 : digits.front().first, 1};
  for (auto [weight, extent] : digits) {
    if (weight != left.stride * left.count) return std::nullopt;
    left.count *= extent;
  }
  return left;
}

/// Finds what a statement still writes along dimension "d".
std::optional<Remainder> what_is_left(const Statement& s, size_t d) {
  return what_is_reached(s, s.write.at.at(static_cast<int>(d)), d);
}

/// Returns the one dimension of the written tensor that loop "depth" of the target indexes.
size_t written_dimension(const NeuralTarget& target, size_t depth, const Tensor& tensor) {
  std::optional<size_t> found;
  for (unsigned d = 0; d < target.statement.write.at.size(); ++d) {
    if (!poly::involves(target.statement.write.at.at(static_cast<int>(d)), depth)) continue;
    if (found) {
      fail("loop '{}' indexes two dimensions of {}; only repeat can complete that",
           target.order.loops[depth].name, tensor.name);
    }
    found = d;
  }
  check(found.has_value(), "the loop indexes the tensor");
  return *found;
}

/// Divides index "dimension" of an access by the stride, exactly.
Access shrunk(const Access& access, const Remainder& left) {
  if (left.stride == 1) return access;
  int d = static_cast<int>(left.dimension);
  return {access.tensor, access.at.set_at(d, access.at.at(d).scale_down(left.stride))};
}

/// Is every value of the index a multiple of "factor", whatever the coordinates are?
bool is_multiple(const isl::aff& index, long factor) {
  poly::Affine a = poly::take_apart(index);
  bool whole = std::all_of(a.coefficients.begin(), a.coefficients.end(),
                           [&](long c) { return c % factor == 0; });
  return a.is_linear() && whole && a.constant % factor == 0;
}

/// Shrinks tensors and the statements that touch them until all agree.
class Propagation {
 public:
  Propagation(const Nest& nest, const NeuralTarget& target,
              const std::pair<Statement, Order>& changed)
      : tensors_(nest.tensors()), statements_(nest.statements()), order_(target.rest) {
    statements_[target.index] = changed.first;
    order_[target.index] = changed.second;
  }

  /// Shrinks "tensor", of which "by" already writes only what is left.
  void shrink(size_t tensor, const Remainder& left, size_t by) {
    for (const Access& access : statements_[by].reads) {
      if (access.tensor != tensor) continue;
      fail("'{}' reads {}, which would shrink; use repeat", statements_[by].name,
           tensors_[tensor].name);
    }
    tensors_[tensor].shape[left.dimension] = left.count;
    statements_[by].write = shrunk(statements_[by].write, left);
    for (size_t s = 0; s < statements_.size(); ++s) {
      if (s != by) shrink_statement(s, tensor, left);
    }
  }

  Nest nest(const std::string& name) && {
    return assemble_nest(name, std::move(tensors_), std::move(statements_), std::move(order_));
  }

 private:
  std::vector<Tensor> tensors_;
  std::vector<Statement> statements_;
  std::vector<Order> order_;

  void shrink_statement(size_t s, size_t tensor, const Remainder& left) {
    std::vector<Access*> touching = accesses(statements_[s], tensor);
    if (touching.empty()) return;
    std::tie(statements_[s], order_[s]) = rebased(statements_[s], order_[s]);
    long before = poly::count(statements_[s].domain);
    int d = static_cast<int>(left.dimension);
    for (size_t i = 0; i < touching.size(); ++i) {
      isl::aff index = accesses(statements_[s], tensor)[i]->at.at(d);
      restrict(s, index, left);
    }
    for (Access* access : accesses(statements_[s], tensor)) *access = shrunk(*access, left);
    bool fewer = poly::count(statements_[s].domain) < before;
    if (fewer && statements_[s].write.tensor != tensor) shrink_written(s);
  }

  static std::vector<Access*> accesses(Statement& s, size_t tensor) {
    std::vector<Access*> found;
    if (s.write.tensor == tensor) found.push_back(&s.write);
    for (Access& access : s.reads) {
      if (access.tensor == tensor) found.push_back(&access);
    }
    return found;
  }

  /// Keeps the instances of statement "s" whose index is among those that are left.
  void restrict(size_t s, const isl::aff& index, const Remainder& left) {
    Statement& statement = statements_[s];
    isl::aff end = poly::constant(statement.domain.space(), left.stride * left.count);
    std::vector<Loop> loops = order_[s].loops;
    isl::multi_aff old = poly::identity(statement.domain.space());
    statement.domain = statement.domain.intersect(index.lt_set(end));
    if (statement.domain.is_empty()) {
      fail("nothing would be left of '{}'; use repeat, expand or deepen", statement.name);
    }
    if (!is_multiple(index, left.stride)) {
      auto at = coordinate_of(statement, index);
      if (!at) {
        fail("'{}' needs all elements, not one in {}, through its index {}; use repeat",
             statement.name, left.stride, poly::text(index, statement.dims));
      }
      old = old.set_at(static_cast<int>(*at), index.scale(left.stride));
      loops[*at].extent = (loops[*at].extent + left.stride - 1) / left.stride;
    }
    for (size_t i = 0; i < loops.size() && left.stride == 1; ++i) {
      loops[i].extent = poly::range(statement.domain, i).upper + 1;
    }
    std::tie(statement, order_[s]) = reindexed(statement, loops, old, order_[s].at);
  }

  /// Statement "s" has fewer instances: so has the tensor that it writes fewer elements.
  void shrink_written(size_t s) {
    size_t tensor = statements_[s].write.tensor;
    for (size_t d = 0; d < tensors_[tensor].shape.size(); ++d) {
      auto left = what_is_left(statements_[s], d);
      if (left && left->stride * left->count >= tensors_[tensor].shape[d] && left->stride == 1) {
        continue;
      }
      if (!left) {
        fail("what is left of {} after '{}' shrinks is no smaller tensor; use repeat",
             tensors_[tensor].name, statements_[s].name);
      }
      shrink(tensor, *left, s);
    }
  }
};

Nest propagated(const Nest& nest, const NeuralTarget& target,
                const std::pair<Statement, Order>& changed, size_t dimension, std::string& note) {
  size_t tensor = changed.first.write.tensor;
  auto left = what_is_left(changed.first, dimension);
  if (!left) {
    fail(
        "what is left of {} is neither its first nor every n-th element along dimension {}; use "
        "repeat",
        nest.tensors()[tensor].name, dimension);
  }
  Propagation propagation(nest, target, changed);
  propagation.shrink(tensor, *left, target.index);
  Nest result = std::move(propagation).nest(nest.name);
  note += fmt::format("; {} shrinks to [{}] (propagate)", nest.tensors()[tensor].name,
                      fmt::join(result.tensors()[tensor].shape, ", "));
  return result;
}

/// Brings channels back by a convolution.
Nest widened(const Nest& nest, const NeuralTarget& target,
             const std::pair<Statement, Order>& changed, const Kept& kept, size_t dimension,
             Completion completion, std::string& note) {
  const std::string& loop = target.order.loops[kept.depth].name;
  const std::string& name = completion_names()[static_cast<size_t>(completion)];
  if (kept.stride > 1) {
    fail("{} brings channels back, and '{}' counts positions; use repeat or propagate", name, loop);
  }
  return expanded(nest, target, changed, {dimension, "narrow"}, completion, note);
}

/// Frees the coordinates that do not index what the statement writes.
isl::set without_others(const Statement& s, const std::vector<size_t>& used) {
  isl_set* result = s.domain.copy();
  for (size_t i = 0; i < s.dims.size(); ++i) {
    if (std::find(used.begin(), used.end(), i) != used.end()) continue;
    result = isl_set_eliminate(result, isl_dim_set, static_cast<unsigned>(i), 1);
  }
  return isl::manage(result);
}

/// Some of the copies that complete a loop's range: those of the kept iterations before "places",
/// copy "first" to "first + count - 1".
struct Copies {
  long first, count, places;
};

/// Builds a statement that copies kept elements to the others. Its loops are those of the target
/// that index what it writes, and "r", which counts the copies.
Statement repetition(const Nest& nest, const NeuralTarget& target, const Kept& kept,
                     const Copies& copies) {
  const Statement& old = target.statement;
  Statement s;
  s.name = fresh_name(nest, "fill");
  s.dims = {fresh_name(nest, "r")};
  std::vector<long> extents{copies.count};
  std::vector<size_t> used;
  for (size_t i = 0; i < old.dims.size(); ++i) {
    if (!poly::involves(old.write.at, i)) continue;
    used.push_back(i);
    s.dims.push_back(old.dims[i]);
    extents.push_back(i == kept.depth ? copies.places : target.order.loops[i].extent);
  }
  s.domain = poly::box(nest.ctx(), extents);
  isl::space space = s.domain.space();
  std::vector<isl::aff> from(old.dims.size(), poly::constant(space, 0));
  for (size_t k = 0; k < used.size(); ++k) from[used[k]] = poly::coordinate(space, k + 1);
  isl::aff place = from[kept.depth], copy = poly::coordinate(space, 0).add_constant(copies.first);
  std::vector<isl::aff> to = from;
  if (kept.stride > 1) {
    from[kept.depth] = place.scale(kept.stride);
    to[kept.depth] = from[kept.depth].add(copy);
  } else {
    to[kept.depth] = copy.scale(kept.left).add(place);
  }
  isl::multi_aff source = poly::tuple(space, from), sink = poly::tuple(space, to);
  s.domain = poly::boxed(s.domain.intersect(without_others(old, used).preimage(sink)));
  s.write = {old.write.tensor, old.write.at.pullback(sink)};
  s.update = Update::assign;
  s.reads = {{old.write.tensor, old.write.at.pullback(source)}};
  s.value = read(0);
  s.origin = {s.name, poly::identity(space)};
  return s;
}

/// Builds the statements that copy kept elements to all others: whole copies, then the part of one
/// that is left if the kept iterations do not divide the range. Each runs over a box that way.
std::vector<Statement> repetitions(const Nest& nest, const NeuralTarget& target,
                                   const Statement& changed, const Kept& kept) {
  std::vector<Statement> result;
  auto add = [&](const Copies& copies) {
    Statement fill = repetition(nest, target, kept, copies);
    result.push_back(without_computed(std::move(fill), target, changed));
    if (result.back().domain.is_empty()) result.pop_back();
  };
  if (kept.stride > 1) {
    add({1, kept.stride - 1, kept.left});
    return result;
  }
  long extent = target.order.loops[kept.depth].extent;
  long whole = extent / kept.left - 1, rest = extent % kept.left;
  if (whole > 0) add({1, whole, kept.left});
  size_t before = result.size();
  if (rest > 0) add({1 + whole, 1, rest});
  if (result.size() > before) result.back().name = fresh_name(nest, "rest");
  return result;
}

}  // namespace

std::optional<long> first_reached(const Statement& s, const isl::aff& index) {
  auto left = what_is_reached(s, index, 0);
  if (!left || left->stride != 1) return std::nullopt;
  return left->count;
}

Nest complete(const Nest& nest, const NeuralTarget& target,
              const std::pair<Statement, Order>& changed, const Kept& kept, Completion completion,
              std::string& note) {
  const Tensor& tensor = nest.tensors()[target.statement.write.tensor];
  require_only_writer(nest, target);
  if (completion == Completion::repeat) {
    note += fmt::format("; the rest of {} is copied from it (repeat)", tensor.name);
    return assemble_with(nest, target, changed, nest.tensors(),
                         {{}, repetitions(nest, target, changed.first, kept)});
  }
  size_t dimension = written_dimension(target, kept.depth, tensor);
  if (completion != Completion::propagate)
    return widened(nest, target, changed, kept, dimension, completion, note);
  return propagated(nest, target, changed, dimension, note);
}

}  // namespace lathe
