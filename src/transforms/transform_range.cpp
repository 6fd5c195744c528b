// transform_range.cpp: cutting a loop's range in two. Interface: transform_range.h.
#include "transforms/transform_range.h"

#include <algorithm>

namespace lathe {
namespace {

/// Makes one part of a rebased statement: iterations first .. first+count-1 of loop "depth".
std::pair<Statement, Order> part_of(const Statement& s, const Order& order, size_t depth,
                                    long first, long count, int number) {
  std::vector<Loop> loops = order.loops;
  std::vector<long> at = order.at;
  at[depth] += number;
  loops[depth].name += fmt::format(".{}", number);
  loops[depth].extent = count;
  isl::multi_aff old = poly::identity(s.domain.space());
  int i = static_cast<int>(depth);
  old = old.set_at(i, old.at(i).add_constant(first));
  auto [part, part_order] = reindexed(s, loops, old, at);
  part.name = fmt::format("{}.{}", s.name, number);
  return {std::move(part), std::move(part_order)};
}

/// Returns the loops that "name" means and, for all statements that share them, theirs.
std::vector<LoopRef> resolve_shared(const Nest& nest, const std::string& name) {
  std::vector<LoopRef> refs = resolve(nest, name), all = refs;
  for (const LoopRef& ref : refs) {
    for (size_t s = 0; s < nest.order.size(); ++s) {
      bool known =
          std::any_of(all.begin(), all.end(), [&](const LoopRef& r) { return r.statement == s; });
      if (known || shared_loops(nest.order[s], nest.order[ref.statement]) <= ref.depth) continue;
      all.push_back({s, ref.depth});
    }
  }
  return all;
}

}  // namespace

Nest cut_range(const Nest& nest, const std::string& loop, long count) {
  std::vector<LoopRef> refs = resolve_shared(nest, loop);
  std::vector<Statement> statements;
  std::vector<Order> orders;
  for (size_t s = 0; s < nest.statements().size(); ++s) {
    Order order = nest.order[s];
    for (long& at : order.at) at *= 2;
    auto ref =
        std::find_if(refs.begin(), refs.end(), [&](const LoopRef& r) { return r.statement == s; });
    if (ref == refs.end()) {
      statements.push_back(nest.statements()[s]);
      orders.push_back(std::move(order));
      continue;
    }
    auto [statement, plain] = rebased(nest.statements()[s], order);
    long extent = plain.loops[ref->depth].extent;
    if (count >= extent) {
      fail("loop '{}' has {} iterations; cut it after fewer", plain.loops[ref->depth].name, extent);
    }
    for (int number : {0, 1}) {
      long first = number == 0 ? 0 : count, length = number == 0 ? count : extent - count;
      auto [part, part_order] = part_of(statement, plain, ref->depth, first, length, number);
      if (part.domain.is_empty()) continue;
      statements.push_back(std::move(part));
      orders.push_back(std::move(part_order));
    }
  }
  return assemble_nest(nest.name, nest.tensors(), std::move(statements), std::move(orders));
}

}  // namespace lathe
