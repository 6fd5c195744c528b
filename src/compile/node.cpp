// node.cpp: one nest to kernels. Interface: node.h.
#include "compile/node.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/error.h"
#include "nest/sources.h"
#include "nest/starts.h"
#include "nest/text.h"

namespace lathe {
namespace {

/// Is a tensor added to?
bool is_summed(const Nest& nest, size_t tensor) {
  return std::any_of(nest.statements().begin(), nest.statements().end(), [&](const Statement& s) {
    return s.write.tensor == tensor && s.update != Update::assign;
  });
}

/// Is a tensor walked in more ways than one? Sums are, and what puts sums of data into another
/// order. What is copied of weights and data is read in order.
bool is_walked_in_ways(const Nest& nest, size_t tensor) {
  if (is_summed(nest, tensor)) return true;
  return std::any_of(nest.statements().begin(), nest.statements().end(), [&](const Statement& s) {
    if (s.write.tensor != tensor || s.value.op != Expr::Op::read) return false;
    size_t from = s.reads[s.value.read].tensor;
    return nest.tensors()[from].role == Role::local && is_summed(nest, from) &&
           nest.tensors()[from].shape != nest.tensors()[tensor].shape && !is_of_weights(nest, from);
  });
}

/// Is a local tensor more than a copy: summed up, or computed from another?
bool is_result(const Nest& nest, size_t tensor) {
  if (nest.tensors()[tensor].role != Role::local) return false;
  return std::any_of(nest.statements().begin(), nest.statements().end(), [&](const Statement& s) {
    bool from_local = std::any_of(s.reads.begin(), s.reads.end(), [&](const Access& read) {
      return nest.tensors()[read.tensor].role == Role::local;
    });
    return s.write.tensor == tensor && (s.update != Update::assign || from_local);
  });
}

/// Has the tensor the samples and channels of the output, in blocks, but other positions?
bool has_blocks_of(const Tensor& tensor, const Tensor& output, const Layout& layout) {
  size_t rank = output.shape.size();
  return rank > 2 && tensor.shape.size() == rank && layout.axes[1].block > 1 &&
         std::equal(output.shape.begin(), output.shape.begin() + 2, tensor.shape.begin());
}

/// Gives local tensors the layout of the output where they have its shape, and its blocks of
/// channels where they have these: what one statement leaves for the next then lies alike.
void choose_local_layouts(const Nest& nest, std::vector<Layout>& layouts) {
  layouts.resize(nest.tensors().size());
  const Layout* output = nullptr;
  const Tensor* shape = nullptr;
  for (size_t t = 0; t < layouts.size(); ++t) {
    if (nest.tensors()[t].role != Role::output) continue;
    output = &layouts[t];
    shape = &nest.tensors()[t];
  }
  for (size_t t = 0; t < layouts.size(); ++t) {
    const Tensor& tensor = nest.tensors()[t];
    if (!layouts[t].axes.empty() || tensor.shape.empty()) continue;
    bool alike = output != nullptr && shape->shape == tensor.shape;
    bool blocked = output != nullptr && has_blocks_of(tensor, *shape, *output);
    layouts[t] = alike ? *output
                 : blocked && is_result(nest, t)
                     ? blocked_layout(tensor.shape, output->axes[1].block)
                 : is_walked_in_ways(nest, t) ? spread_layout(tensor.shape, size_of(tensor.element))
                                              : row_major_layout(tensor.shape);
  }
  for (size_t t = 0; t < layouts.size(); ++t) {
    if (layouts[t].size == 0) layouts[t].size = 1;
  }
}

/// Is the statement, alone in its place, a copy of constants into a local tensor?
bool is_repacking(const Nest& nest, size_t s) {
  const Statement& statement = nest.statements()[s];
  if (statement.update != Update::assign || statement.value.op != Expr::Op::read) return false;
  if (nest.tensors()[statement.write.tensor].role != Role::local) return false;
  if (nest.tensors()[statement.reads.front().tensor].role != Role::weight) return false;
  for (size_t other = 0; other < nest.order.size(); ++other) {
    if (other == s) continue;
    if (nest.statements()[other].write.tensor == statement.write.tensor) return false;
    if (shared_loops(nest.order[other], nest.order[s]) > 0) return false;
  }
  return true;
}

Repacking repacking_of(const Nest& nest, size_t s, const std::vector<Layout>& layouts) {
  auto [statement, order] = rebased(nest.statements()[s], nest.order[s]);
  std::vector<poly::Interval> ranges;
  for (const Loop& loop : order.loops) ranges.push_back({0, loop.extent - 1});
  Repacking p;
  p.from = statement.reads.front().tensor;
  p.to = statement.write.tensor;
  p.extents = extents(order);
  p.source = offset_of(statement.reads.front().at, layouts[p.from], ranges);
  p.target = offset_of(statement.write.at, layouts[p.to], ranges);
  if (!poly::is_box(statement.domain, p.extents)) p.guard = poly::constraints(statement.domain);
  return p;
}

/// Returns the nest in which these tensors are given, like weights.
Nest with_given(const Nest& nest, const std::set<size_t>& given) {
  std::vector<Tensor> tensors = nest.tensors();
  for (size_t t : given) tensors[t].role = Role::weight;
  auto meaning = std::make_shared<Meaning>(std::move(tensors), nest.statements(), nest.order);
  return {nest.name, std::move(meaning), nest.order};
}

/// Returns the statements of scanned nodes.
void collect_statements(const std::vector<LoopNode>& nodes, std::vector<size_t>& found) {
  for (const LoopNode& node : nodes) {
    if (node.kind == LoopNode::Kind::statement) {
      found.push_back(node.statement);
    } else {
      collect_statements(node.body, found);
    }
  }
}

/// Returns which places need nothing but weights, constants and what such places write; all that
/// they write is local.
std::vector<bool> places_of_weights(const Nest& nest,
                                    const std::vector<std::vector<size_t>>& places) {
  std::vector<bool> result(places.size(), true);
  auto is_made = [&](size_t tensor) {
    for (size_t p = 0; p < places.size(); ++p) {
      for (size_t s : places[p]) {
        if (nest.statements()[s].write.tensor == tensor && !result[p]) return false;
      }
    }
    return nest.tensors()[tensor].role == Role::local;
  };
  auto is_known = [&](size_t tensor) {
    Role role = nest.tensors()[tensor].role;
    return role == Role::weight || role == Role::constant || is_made(tensor);
  };
  auto holds = [&](const std::vector<size_t>& place) {
    return std::all_of(place.begin(), place.end(), [&](size_t i) {
      const Statement& s = nest.statements()[i];
      return is_made(s.write.tensor) &&
             std::all_of(s.reads.begin(), s.reads.end(),
                         [&](const Access& read) { return is_known(read.tensor); });
    });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t p = 0; p < places.size(); ++p) {
      if (!result[p] || holds(places[p])) continue;
      result[p] = false;
      changed = true;
    }
  }
  return result;
}

}  // namespace

NodeCode lower_node(const Nest& given, std::vector<Layout> layouts, const Target& target,
                    Listing listing, Unset unset, const std::optional<Choice>& choice,
                    double max_error) {
  Nest nest = unset == Unset::zero ? with_starts(given) : given;
  choose_local_layouts(nest, layouts);
  Scheduled scheduled = schedule({nest, layouts, target}, choice, max_error);
  nest = scheduled.nest;
  choose_local_layouts(nest, layouts);  // of what packing added
  LoopTree tree = scan_for(target, nest, layouts);
  const std::vector<Layout> stored = tree.layouts;
  NodeCode result{
      scheduled.name, print(scheduled.recipe), tree.nest.tensors(), stored, {}, {}, {}, "", ""};
  result.as_chosen = scheduled.as_chosen;
  std::vector<std::vector<size_t>> statements;
  for (const auto& place : tree.places) collect_statements(place, statements.emplace_back());
  std::vector<bool> of_weights = places_of_weights(tree.nest, statements);
  std::vector<std::vector<LoopNode>> places;
  std::set<size_t> copied;
  for (size_t i = 0; i < tree.places.size(); ++i) {
    if (is_repacking(tree.nest, statements[i].front())) {
      result.repackings.push_back(repacking_of(tree.nest, statements[i].front(), stored));
      copied.insert(result.repackings.back().to);
      continue;
    }
    result.once.push_back(of_weights[i]);
    places.push_back(std::move(tree.places[i]));
  }
  tree.places = std::move(places);
  tree.nest = with_given(tree.nest, copied);
  if (listing == Listing::text) {
    result.nest = print(nest);
    result.loops = print(tree);
  }
  result.kernels = lower(tree, target);
  return result;
}

std::vector<Fitting> fitting_schedules(const Nest& given, std::vector<Layout> layouts,
                                       const Target& target, Unset unset) {
  Nest nest = unset == Unset::zero ? with_starts(given) : given;
  choose_local_layouts(nest, layouts);
  return fitting_schedules(Situation{nest, layouts, target});
}

void repack(const Repacking& p, const std::byte* from, std::byte* to, long bytes) {
  size_t depth = p.extents.size();
  std::vector<long> at(depth, 0);
  auto size = static_cast<size_t>(bytes);
  bool linear = p.source.is_linear() && p.target.is_linear() && p.guard.empty() && depth > 0;
  while (true) {
    long source = poly::evaluate(p.source, at), target = poly::evaluate(p.target, at);
    if (linear) {
      // The innermost loop is stepped.
      long s = p.source.coefficients.back() * bytes, t = p.target.coefficients.back() * bytes;
      const std::byte* a = from + source * bytes;
      std::byte* b = to + target * bytes;
      if (size == 4) {
        for (long i = 0; i < p.extents.back(); ++i) std::memcpy(b + i * t, a + i * s, 4);
      } else {
        for (long i = 0; i < p.extents.back(); ++i) std::memcpy(b + i * t, a + i * s, size);
      }
    } else if (p.guard.empty() || poly::contains(p.guard, at)) {
      std::memcpy(to + target * bytes, from + source * bytes, size);
    }
    size_t d = depth - (linear ? 1 : 0);
    while (d > 0 && ++at[d - 1] == p.extents[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

}  // namespace lathe
