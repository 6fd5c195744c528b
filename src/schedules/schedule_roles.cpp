// schedule_roles.cpp: roles of loops, and writing recipes. Interface: schedule_roles.h.
#include "schedules/schedule_roles.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/error.h"
#include "poly/relation.h"
#include "transforms/transform_loops.h"

namespace lathe::schedules {
namespace {

/// Takes apart how an access moves with each loop.
std::vector<Motion> motions(const Access& access, const Order& order, const Layout& layout) {
  std::vector<poly::Interval> ranges;
  for (const Loop& loop : order.loops) ranges.push_back({0, loop.extent - 1});
  poly::Affine offset = offset_of(access.at.pullback(order.instance), layout, ranges);
  std::vector<Motion> result(order.loops.size());
  for (size_t i = 0; i < result.size(); ++i) {
    result[i].step = offset.coefficients[i];
    result[i].moves = offset.coefficients[i] != 0;
    for (const auto& floor : offset.floors) {
      if (!poly::involved(floor.of)[i]) continue;
      result[i].moves = true;
      long c = std::max(1L, std::abs(floor.of.coefficients[i]));
      long even = floor.of.divisor % c == 0 ? floor.of.divisor / c : 1;
      result[i].evenly = result[i].evenly == 0 ? even : std::min(result[i].evenly, even);
    }
  }
  return result;
}

}  // namespace

long LoopRole::evenly() const {
  long least = write.evenly;
  for (const Motion& read : reads) {
    if (read.evenly != 0) least = least == 0 ? read.evenly : std::min(least, read.evenly);
  }
  return least;
}

const LoopRole* Roles::find(const std::string& name) const {
  for (const LoopRole& loop : loops) {
    if (loop.name == name) return &loop;
  }
  return nullptr;
}

Roles roles_of(const Situation& situation, size_t statement) {
  const Statement& s = situation.nest.statements()[statement];
  const Order& order = situation.nest.order[statement];
  Roles roles{statement, {}};
  for (const Loop& loop : order.loops) roles.loops.push_back({loop.name, loop.extent, {}, {}});
  std::vector<Motion> write = motions(s.write, order, situation.layouts[s.write.tensor]);
  for (size_t i = 0; i < roles.loops.size(); ++i) roles.loops[i].write = write[i];
  for (const Access& access : s.reads) {
    std::vector<Motion> read = motions(access, order, situation.layouts[access.tensor]);
    for (size_t i = 0; i < roles.loops.size(); ++i) roles.loops[i].reads.push_back(read[i]);
  }
  return roles;
}

size_t main_statement(const Nest& nest) {
  auto work = [&](size_t i) {
    double instances = 1;
    for (const Loop& loop : nest.order[i].loops) instances *= static_cast<double>(loop.extent);
    return std::pair(instances, nest.statements()[i].update != Update::assign);
  };
  size_t best = 0;
  for (size_t i = 1; i < nest.statements().size(); ++i) {
    if (work(i) > work(best)) best = i;
  }
  return best;
}

void RecipeWriter::step(const std::string& name, std::vector<Arg> args) {
  Step step{name, std::move(args)};
  Applied applied = apply(nest(), step);
  Nest next = std::move(applied.nest);
  written_.error = std::max(written_.error, applied.error.value_or(0));
  // A new meaning takes the order in which it was made for a valid one.
  if (next.meaning == nest().meaning) written_.nests.pop_back();
  written_.nests.push_back(std::move(next));
  written_.recipe.push_back(std::move(step));
}

std::pair<std::string, std::string> RecipeWriter::split(const std::string& loop, long factor) {
  // Every statement that has the loop must be able to split it.
  for (const Order& order : nest().order) {
    auto at = find_loop(order, loop);
    if (at && order.loops[*at].extent <= factor) return {"", loop};
  }
  step("split", {loop, factor});
  return {loop + ".o", loop + ".i"};
}

RecipeWriter::Split RecipeWriter::split(const std::string& loop, long evenly, long part) {
  Split result{"", "", loop};
  if (evenly > part && evenly % part == 0) {
    std::tie(result.blocks, result.inside) = split(loop, evenly);
  }
  std::tie(result.parts, result.inside) = split(result.inside, part);
  return result;
}

bool RecipeWriter::has(const std::string& loop) const {
  return std::any_of(nest().order.begin(), nest().order.end(),
                     [&](const Order& order) { return find_loop(order, loop).has_value(); });
}

void RecipeWriter::reorder(const std::vector<std::string>& loops) {
  std::vector<Arg> args;
  for (const std::string& loop : loops) {
    if (!loop.empty() && has(loop)) args.emplace_back(loop);
  }
  if (args.size() > 1) step("reorder", std::move(args));
}

void RecipeWriter::share(const std::vector<std::string>& loops, const Target& target) {
  // Rules of thumb: several shares for each worker even out what disturbs one; a library may have
  // more workers than it was compiled for.
  constexpr long shares_each = 8, least_workers = 4;
  long enough = shares_each * std::max(least_workers, target.workers), shares = 1;
  for (const std::string& loop : loops) {
    if (loop.empty() || shares >= enough) continue;
    step("parallel", {loop});
    shares *= least_extent(nest(), loop);
  }
}

void RecipeWriter::pack_weights(size_t statement) {
  std::vector<Access> reads = nest().statements()[statement].reads;
  for (const Access& read : reads) {
    const Tensor& tensor = nest().tensors()[read.tensor];
    if (tensor.role == Role::weight) step("pack", {tensor.name});
  }
}

void RecipeWriter::merge(const std::vector<std::string>& loops) {
  for (const std::string& loop : loops) {
    Step wanted{"merge", {loop}};
    std::vector<Step> possible = find_transform("merge").candidates(nest());
    if (std::find(possible.begin(), possible.end(), wanted) != possible.end()) {
      step("merge", {loop});
    }
  }
}

void RecipeWriter::merge_neighbours(const std::vector<std::string>& loops) {
  for (const std::string& loop : loops) {
    if (loop.empty()) continue;
    try {
      step("merge", {loop});
    } catch (const UserError&) {
      return;
    }
  }
}

bool fits_registers(const Target& target, long positions, long vectors) {
  // Registers for what is loaded ahead: measured, with fewer the code spills. A broadcast can be
  // part of the product.
  constexpr long spare_with_lanes = 3, spare_with_broadcasts = 1;
  long spare = target.cpu.lane_products ? spare_with_lanes : spare_with_broadcasts;
  long factors = target.cpu.lane_products ? positions : 1;
  return positions == 1 || positions * vectors + vectors + factors <= target.cpu.registers - spare;
}

std::optional<TileChoice> choose_positions(const Target& target, long positions, long vectors,
                                           bool weights_stay) {
  // In cycles, as processors of today have them: two products or loads are done in one. A load of
  // four factors serves four products where an instruction can take one lane of it. Four pass until
  // a sum can be added to again. A vector that comes from the second cache costs a quarter more, a
  // factor hardly anything. The loop around it all costs a quarter.
  constexpr double lane_load = 0.25, until_sum = 4.0, vector_fetch = 0.25, factor_fetch = 0.04;
  constexpr double around = 0.25, clearly_cheaper = 0.999, per_cycle = 2;
  // Weights that come from the second cache again and again had better meet more positions.
  bool fetched = !weights_stay && target.cpu.lane_products;
  std::optional<TileChoice> best;
  for (long t = 1; t <= std::min(positions, target.cpu.registers); ++t) {
    if (!fits_registers(target, t, vectors)) break;
    auto cycles = [&](long n) {
      double products = static_cast<double>(n * vectors) / per_cycle;
      double broadcast = target.cpu.lane_products ? lane_load : 1;
      double loads =
          (static_cast<double>(vectors) + static_cast<double>(n) * broadcast) / per_cycle;
      double fetch =
          vector_fetch * static_cast<double>(vectors) + factor_fetch * static_cast<double>(n);
      return std::max({products, loads, until_sum}) + (fetched ? fetch : 0) + around;
    };
    double all = static_cast<double>(positions / t) * cycles(t);
    if (positions % t != 0) all += cycles(positions % t);
    double cost = all / static_cast<double>(positions * vectors);
    if (!best || cost < best->cost * clearly_cheaper) best = TileChoice{t, cost};
  }
  return best;
}

}  // namespace lathe::schedules
