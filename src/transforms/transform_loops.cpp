// transform_loops.cpp: finding and rewriting loops. Interface: transform_loops.h.
#include "transforms/transform_loops.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace lathe {
namespace {

/// Adds to "order" that its loops  depth  and  depth + 1  together count only to "extent".
void limit(Order& order, size_t depth, long factor, long extent) {
  isl::space space = poly::tuples(order.instance.ctx(), order.loops.size());
  isl::aff whole = poly::coordinate(space, depth).scale(factor);
  whole = whole.add(poly::coordinate(space, depth + 1));
  isl::set counted = whole.lt_set(poly::constant(space, extent));
  order.within = order.within ? order.within->intersect(counted) : counted;
}

}  // namespace

size_t tensor_named(const Nest& nest, const std::string& name) {
  if (auto tensor = find_tensor(nest, name)) return *tensor;
  std::string known;
  for (const Tensor& tensor : nest.tensors()) known += " " + tensor.name;
  fail("no tensor '{}'; tensors here:{}", name, known);
}

std::vector<LoopRef> resolve(const Nest& nest, const std::string& name) {
  size_t colon = name.find(':');
  std::string loop = colon == std::string::npos ? name : name.substr(colon + 1);
  std::string statement = colon == std::string::npos ? "" : name.substr(0, colon);
  std::vector<LoopRef> found;
  bool known = statement.empty();
  for (size_t s = 0; s < nest.statements().size(); ++s) {
    if (!statement.empty() && nest.statements()[s].name != statement) continue;
    known = true;
    if (auto depth = find_loop(nest.order[s], loop)) found.push_back({s, *depth});
  }
  if (!known) {
    std::vector<std::string> names;
    for (const Statement& s : nest.statements()) names.push_back(s.name);
    fail("no statement '{}'; statements here: {}", statement, fmt::join(names, " "));
  }
  if (found.empty()) {
    fail("no loop '{}'; loops here: {}", name, fmt::join(loop_names(nest), " "));
  }
  return found;
}

long least_extent(const Nest& nest, const std::string& name) {
  long least = std::numeric_limits<long>::max();
  for (const LoopRef& ref : resolve(nest, name)) {
    least = std::min(least, nest.order[ref.statement].loops[ref.depth].extent);
  }
  return least;
}

Nest with_order(const Nest& nest, std::vector<Order> order) {
  return {nest.name, nest.meaning, settled(std::move(order))};
}

Order replace_loops(const Order& order, size_t from, size_t count, std::vector<Loop> loops,
                    const std::function<std::vector<isl::aff>(const std::vector<isl::aff>&)>& old) {
  Order result;
  size_t total = order.loops.size() - count + loops.size();
  isl::space space = poly::tuples(order.instance.ctx(), total);
  std::vector<isl::aff> iterations, replaced;
  for (size_t i = 0; i < from; ++i) iterations.push_back(poly::coordinate(space, i));
  for (size_t i = 0; i < loops.size(); ++i) replaced.push_back(poly::coordinate(space, from + i));
  for (isl::aff& iteration : old(replaced)) iterations.push_back(std::move(iteration));
  for (size_t i = from + loops.size(); i < total; ++i) {
    iterations.push_back(poly::coordinate(space, i));
  }
  isl::multi_aff before = poly::tuple(space, iterations);
  result.instance = order.instance.pullback(before);
  if (order.within) result.within = order.within->preimage(before);
  auto begin = order.loops.begin();
  auto at = order.at.begin();
  auto first = static_cast<long>(from), last = static_cast<long>(from + count);
  result.loops.assign(begin, begin + first);
  result.at.assign(at, at + first + 1);
  for (size_t i = 0; i < loops.size(); ++i) {
    if (i > 0) result.at.push_back(0);
    result.loops.push_back(std::move(loops[i]));
  }
  result.loops.insert(result.loops.end(), begin + last, order.loops.end());
  result.at.insert(result.at.end(), at + last, order.at.end());
  return result;
}

Order permuted(const Order& order, const std::vector<size_t>& from) {
  Order result = order;
  isl::space space = poly::tuples(order.instance.ctx(), from.size());
  std::vector<isl::aff> iterations(from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    result.loops[i] = order.loops[from[i]];
    iterations[from[i]] = poly::coordinate(space, i);
  }
  isl::multi_aff before = poly::tuple(space, iterations);
  result.instance = order.instance.pullback(before);
  if (order.within) result.within = order.within->preimage(before);
  return result;
}

Order split_loop(const Order& order, size_t depth, long factor) {
  const Loop& loop = order.loops[depth];
  for (const char* part : {".o", ".i"}) {
    if (!find_loop(order, loop.name + part)) continue;
    fail("there is a loop '{}{}' already; rename one of them first", loop.name, part);
  }
  Loop outer{loop.name + ".o", (loop.extent + factor - 1) / factor,
             poly::quotient(loop.value, factor), loop.mark, loop.prefetches};
  Loop inner{loop.name + ".i",
             std::min(factor, loop.extent),
             poly::remainder(loop.value, factor),
             Mark::serial,
             {}};
  auto whole = [&](const std::vector<isl::aff>& split) {
    return std::vector<isl::aff>{split[0].scale(factor).add(split[1])};
  };
  Order result = replace_loops(order, depth, 1, {outer, inner}, whole);
  if (loop.extent % factor != 0) limit(result, depth, factor, loop.extent);
  return result;
}

bool can_be_split(const Nest& nest, const std::string& loop) {
  return std::all_of(nest.order.begin(), nest.order.end(), [&](const Order& order) {
    return !find_loop(order, loop) ||
           (!find_loop(order, loop + ".o") && !find_loop(order, loop + ".i"));
  });
}

Nest with_loops(const Nest& nest, const std::string& name,
                const std::function<void(Loop&)>& change) {
  std::vector<Order> order = nest.order;
  for (const LoopRef& ref : resolve(nest, name)) {
    for (size_t s = 0; s < order.size(); ++s) {
      bool inside =
          s == ref.statement || shared_loops(nest.order[s], nest.order[ref.statement]) > ref.depth;
      if (inside) change(order[s].loops[ref.depth]);
    }
  }
  return with_order(nest, std::move(order));
}

Nest marked(const Nest& nest, const std::string& loop, Mark mark) {
  return with_loops(nest, loop, [&](Loop& l) { l.mark = mark; });
}

std::vector<Step> for_each_loop(const Nest& nest, const std::string& step,
                                const std::function<bool(const Loop&)>& wanted) {
  std::vector<Step> steps;
  for (const std::string& name : loop_names(nest)) {
    for (const Order& order : nest.order) {
      auto depth = find_loop(order, name);
      if (!depth) continue;
      if (wanted(order.loops[*depth])) steps.push_back({step, {name}});
      break;
    }
  }
  return steps;
}

std::vector<long> divisors(long n) {
  std::vector<long> result;
  for (long d = 2; d <= n; ++d) {
    if (n % d == 0) result.push_back(d);
  }
  return result;
}

}  // namespace lathe
