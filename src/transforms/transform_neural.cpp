// transform_neural.cpp: choosing and replacing the statement that a neural step acts on. Interface:
// transform_neural.h; the completions are in transform_completion.cpp.
#include "transforms/transform_neural.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "nest/dependence.h"

namespace lathe {
namespace {

/// An order in which one statement is alone, and what is wrong with it.
struct Isolation {
  std::vector<Order> order;
  std::optional<Violation> violation;
};

/// Gives a statement an outermost place of its own.
Isolation isolated(const Nest& nest, size_t s) {
  Nest apart = nest;
  std::string name = apart.order[s].loops.front().name;
  apart.order[s].loops.front().name += " apart";  // no name has a space: nothing shares this loop
  apart.order = settled(apart.order);
  bool shares = false;
  for (size_t t = 0; t < nest.order.size(); ++t) {
    shares = shares || (t != s && shared_loops(nest.order[t], nest.order[s]) > 0);
  }
  std::optional<Violation> violation;
  if (shares) violation = judge_order(apart).violation;
  apart.order[s].loops.front().name = name;
  return {std::move(apart.order), std::move(violation)};
}

/// Rebases an isolated statement. A loop that it shared may have counted further than it needs.
NeuralTarget alone(const Nest& nest, size_t s, std::vector<Order> order) {
  auto [statement, own] = rebased(nest.statements()[s], order[s]);
  auto box_sides = poly::sides(statement.domain);
  for (size_t i = 0; i < own.loops.size(); ++i) {
    long upper = box_sides ? (*box_sides)[i].upper : poly::range(statement.domain, i).upper;
    own.loops[i].extent = upper + 1;
  }
  return {s, std::move(statement), std::move(own), std::move(order)};
}

/// Has every index of the access one element for each value of its coordinates? Floors, which fused
/// loops bring, have not.
bool is_linear(const Access& access) {
  for (unsigned d = 0; d < access.at.size(); ++d) {
    if (!poly::take_apart(access.at.at(static_cast<int>(d))).is_linear()) return false;
  }
  return true;
}

/// Returns the elements that a statement writes.
isl::set written_by(const Statement& s) { return s.domain.apply(s.write.at.as_map()); }

}  // namespace

const std::vector<std::string>& completion_names() {
  static const std::vector<std::string> names{"propagate", "expand", "deepen", "repeat", "reduce"};
  return names;
}

Completion completion_named(const std::string& name) {
  const std::vector<std::string>& names = completion_names();
  auto found = std::find(names.begin(), names.end(), name);
  check(found != names.end(), "arguments are checked before a step is applied");
  return static_cast<Completion>(found - names.begin());
}

std::optional<size_t> coordinate_of(const Statement& s, const isl::aff& index) {
  for (size_t i = 0; i < s.dims.size(); ++i) {
    if (poly::same(index, poly::coordinate(s.domain.space(), i))) return i;
  }
  return std::nullopt;
}

std::optional<size_t> find_target(const Nest& nest) {
  for (size_t s : sequence(nest.order)) {
    const auto& loops = nest.order[s].loops;
    const Statement& statement = nest.statements()[s];
    bool is_own = !statement.origin.statement.empty();
    bool accumulates = statement.update != Update::assign;
    if (is_own && accumulates && !loops.empty() && loops.front().mark != Mark::unrolled) return s;
  }
  return std::nullopt;
}

std::optional<NeuralTarget> try_take_target(const Nest& nest) {
  auto found = find_target(nest);
  if (!found) return std::nullopt;
  auto [order, violation] = isolated(nest, *found);
  if (violation) return std::nullopt;
  return alone(nest, *found, std::move(order));
}

NeuralTarget take_target(const Nest& nest) {
  auto found = find_target(nest);
  if (!found) {
    fail("no statement accumulates in a loop that is not unrolled; neural steps act on such a one");
  }
  return take_statement(nest, *found);
}

NeuralTarget take_statement(const Nest& nest, size_t s) {
  if (nest.order[s].loops.empty()) fail("statement '{}' has no loops", nest.statements()[s].name);
  auto [order, violation] = isolated(nest, s);
  if (violation) {
    fail("statement '{}' cannot leave the loops that it shares: {}", nest.statements()[s].name,
         witness(*violation, nest));
  }
  return alone(nest, s, std::move(order));
}

void require_network_loop(const Loop& loop) {
  if (loop.name != batch_loop) return;
  fail(
      "loop '{}' counts samples, which are no part of the network; interchange another loop "
      "outermost",
      loop.name);
}

void require_divisor(const Loop& loop, long factor) {
  if (loop.extent % factor == 0) return;
  fail("{} does not divide the {} iterations of loop '{}'; what divides them: {}", factor,
       loop.extent, loop.name, fmt::join(divisors(loop.extent), " "));
}

void require_only_writer(const Nest& nest, const NeuralTarget& target) {
  size_t tensor = target.statement.write.tensor;
  for (size_t s = 0; s < nest.statements().size(); ++s) {
    const Statement& other = nest.statements()[s];
    if (s == target.index || other.write.tensor != tensor || other.update == Update::assign)
      continue;
    fail(
        "'{}' accumulates into {} too, so what '{}' no longer writes cannot be completed; take a "
        "step that keeps all of it",
        other.name, nest.tensors()[tensor].name, target.statement.name);
  }
}

bool writes_all(const NeuralTarget& target, const Statement& changed) {
  if (is_linear(target.statement.write)) return false;
  return written_by(target.statement).is_equal(written_by(changed));
}

Statement without_computed(Statement fill, const NeuralTarget& target, const Statement& changed) {
  if (is_linear(target.statement.write)) return fill;
  isl::set computed = written_by(changed).preimage(fill.write.at);
  fill.domain = poly::boxed(poly::coalesced(fill.domain.subtract(computed)));
  return fill;
}

bool applies(const Nest& nest, const Step& step) {
  try {
    apply(nest, step);
    return true;
  } catch (const UserError&) {
    return false;
  }
}

Nest assemble(const Nest& nest, const NeuralTarget& target,
              const std::pair<Statement, Order>& changed) {
  std::vector<Statement> statements = nest.statements();
  std::vector<Order> order = target.rest;
  statements[target.index] = changed.first;
  order[target.index] = changed.second;
  return assemble_nest(nest.name, nest.tensors(), std::move(statements), std::move(order));
}

Nest assemble_with(const Nest& nest, const NeuralTarget& target,
                   const std::pair<Statement, Order>& changed, std::vector<Tensor> tensors,
                   Added added) {
  std::vector<Statement> statements = nest.statements();
  std::vector<Order> order = target.rest;
  statements[target.index] = changed.first;
  order[target.index] = changed.second;
  // Room for the new statements between the target and whatever comes before and next.
  auto before = static_cast<long>(added.before.size()),
       after = static_cast<long>(added.after.size());
  for (Order& o : order) o.at[0] = o.at[0] * (before + after + 1) + before;
  long place = order[target.index].at[0];
  auto add = [&](Statement s, long at) {
    s = without_units(s);
    s.origin = {"", poly::identity(s.domain.space())};
    order.push_back(plain_order(s, {at}));
    statements.push_back(std::move(s));
  };
  for (long i = 0; i < before; ++i) {
    add(std::move(added.before[static_cast<size_t>(i)]), place - before + i);
  }
  for (long i = 0; i < after; ++i) {
    add(std::move(added.after[static_cast<size_t>(i)]), place + 1 + i);
  }
  return assemble_nest(nest.name, std::move(tensors), std::move(statements), std::move(order));
}

}  // namespace lathe
