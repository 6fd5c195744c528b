// merge.cpp: statements in loops of their own that count alike come into one loop.
//
//   merge(i):   for i < N: A(i);  for i < N: B(i)  ->  for i < N: { A(i); B(i) }
//
// Statements that have the loop, in loops that are the same further out, come together where the
// first of them is, in their order; one whose loops differ keeps those before it and those after it
// apart. With a second name, merge(g, co), loops of that name count as the same loop and get the
// first name.
#include <algorithm>

#include "transforms/transform_loops.h"

namespace lathe::transforms {
namespace {

/// Renames the loops "from" of the statements that have no loop "to".
Nest renamed(const Nest& nest, const std::string& from, const std::string& to) {
  std::vector<Order> order = nest.order;
  for (Order& o : order) {
    auto at = find_loop(o, from);
    if (at && !find_loop(o, to)) o.loops[*at].name = to;
  }
  return {nest.name, nest.meaning, std::move(order)};
}

/// Do the two loops count the same iterations in the same way?
bool alike(const Loop& a, const Loop& b) {
  return a.name == b.name && a.extent == b.extent && a.mark == b.mark &&
         a.prefetches == b.prefetches;
}

/// Returns the statements that have the loop, in sequence, each with its depth.
std::vector<LoopRef> in_sequence(const Nest& nest, const std::string& name) {
  std::vector<LoopRef> refs = resolve(nest, name), result;
  for (size_t s : sequence(nest.order)) {
    for (const LoopRef& ref : refs) {
      if (ref.statement == s) result.push_back(ref);
    }
  }
  return result;
}

/// Does the loop "ref" of another statement fit into the loop "first"?
bool fits(const Nest& nest, const LoopRef& first, const LoopRef& ref) {
  const Order &a = nest.order[first.statement], &b = nest.order[ref.statement];
  return ref.depth == first.depth && alike(a.loops[first.depth], b.loops[ref.depth]) &&
         shared_loops(a, b) >= first.depth;
}

Applied bring_together(const Nest& given, const Arguments& args) {
  resolve(given, args.name(0));
  if (args.has(1)) resolve(given, args.name(1));
  Nest nest = args.has(1) ? renamed(given, args.name(1), args.name(0)) : given;
  std::vector<Order> order = nest.order;
  std::optional<LoopRef> first, last, misfit;
  long next = 0, base = 0;
  bool any = false;
  for (const LoopRef& ref : in_sequence(nest, args.name(0))) {
    Order& o = order[ref.statement];
    size_t depth = ref.depth;
    if (!first || !fits(nest, *first, ref)) {
      if (first) misfit = ref;
      first = last = ref;
      next = o.at[depth + 1] + 1;
      base = 0;
      continue;
    }
    if (shared_loops(nest.order[last->statement], nest.order[ref.statement]) <= depth) {
      // A new place begins unless the statement stood in the same one as the last.
      base = next;
      any = true;
    }
    o.at[depth] = order[first->statement].at[depth];
    o.at[depth + 1] += base;
    next = std::max(next, o.at[depth + 1] + 1);
    last = ref;
  }
  if (!any && misfit) {
    fail(
        "loop '{}' of statement '{}' differs from that of the one before, or the loops around it "
        "do",
        args.name(0), nest.statements()[misfit->statement].name);
  }
  if (!any) fail("only one loop '{}' is there; nothing can be merged with it", args.name(0));
  return {with_order(nest, std::move(order)), ""};
}

std::vector<Step> candidates_of_merge(const Nest& nest) {
  std::vector<Step> steps;
  for (const std::string& name : loop_names(nest)) {
    std::vector<LoopRef> refs = in_sequence(nest, name);
    bool all = std::all_of(refs.begin(), refs.end(),
                           [&](const LoopRef& ref) { return fits(nest, refs.front(), ref); });
    bool apart = std::any_of(refs.begin(), refs.end(), [&](const LoopRef& ref) {
      return shared_loops(nest.order[refs.front().statement], nest.order[ref.statement]) <=
             refs.front().depth;
    });
    if (all && apart && refs.size() > 1) steps.push_back({"merge", {name}});
  }
  return steps;
}

}  // namespace

Transform merge() {
  return {"merge",
          Transform::Kind::program,
          {{Takes::loop}, {Takes::loop, true}},
          "for i: A; for i: B  ->  for i: { A; B }",
          bring_together,
          candidates_of_merge};
}

}  // namespace lathe::transforms
