// schedule_product.cpp: the loops of sums of products. Interface: schedule_product.h.
#include "schedules/schedule_product.h"

#include <algorithm>
#include <functional>

#include "codegen/dots.h"
#include "codegen/panels.h"
#include "schedules/schedule_counting.h"
#include "transforms/transform_toom.h"

namespace lathe::schedules {
namespace {

/// May the vectors run along a loop, of all that move the weights and the result alone?
using Suits = std::function<bool(const LoopRole& loop)>;

std::optional<ProductLoops> parts_with(
    const Roles& roles, size_t weight, size_t data,
    const Suits& suits = [](const LoopRole&) { return true; }) {
  ProductLoops parts{weight, data, "", {}, {}, {}};
  long widest = 0;
  for (const LoopRole& loop : roles.loops) {
    bool w = loop.reads[weight].moves, d = loop.reads[data].moves;
    if (!loop.write.moves) {
      parts.sums.push_back(loop.name);
    } else if (w && d) {
      parts.both.push_back(loop.name);
    } else if (d) {
      parts.positions.push_back(loop.name);
    } else if (w && loop.extent > widest && suits(loop)) {
      if (!parts.vector.empty()) parts.both.push_back(parts.vector);
      parts.vector = loop.name;
      widest = loop.extent;
    } else {
      parts.both.push_back(loop.name);
    }
  }
  if (parts.vector.empty() || parts.sums.empty()) return std::nullopt;
  return parts;
}

/// Loops with fewer iterations make no vectors that are worth it.
constexpr long least_vector = 4;

/// Sums of fewer products in all take so little time that they need not be rounded for it.
constexpr long worth_rounding = 1 << 16;

long iterations_of(const Order& order) {
  long all = 1;
  for (const Loop& loop : order.loops) all *= loop.extent;
  return all;
}

/// Is a tensor so much smaller than another that copying it costs next to nothing?
bool is_small_beside(const Situation& s, size_t tensor, size_t other) {
  constexpr long much = 8;
  return s.layouts[tensor].size * much <= s.layouts[other].size;
}

}  // namespace

std::optional<ProductLoops> product_loops(const Situation& s, const Roles& roles) {
  const Statement& main = s.nest.statements()[roles.statement];
  if (main.update != Update::add || main.reads.size() != 2 || !is_product(main.value) ||
      main.value.op != Expr::Op::mul) {
    return std::nullopt;
  }
  for (size_t weight : {0, 1}) {
    if (s.nest.tensors()[main.reads[weight].tensor].role != Role::weight) continue;
    return parts_with(roles, weight, 1 - weight);
  }
  // Neither factor is a weight that could be packed: the vectors must lie side by side already, and
  // those of the results too if possible.
  for (size_t weight : {1, 0}) {
    auto parts = parts_with(roles, weight, 1 - weight, [&](const LoopRole& loop) {
      return loop.reads[weight].step == 1 && loop.write.step == 1 && loop.extent >= least_vector;
    });
    if (parts) return parts;
  }
  for (size_t weight : {1, 0}) {
    auto parts = parts_with(roles, weight, 1 - weight);
    if (parts && roles.find(parts->vector)->reads[weight].step == 1) return parts;
  }
  for (size_t weight : {1, 0}) {
    if (!is_small_beside(s, main.reads[weight].tensor, main.reads[1 - weight].tensor)) continue;
    auto parts = parts_with(roles, weight, 1 - weight);
    if (!parts || roles.find(parts->vector)->write.step != 1) continue;
    parts->packs = true;
    return parts;
  }
  return parts_with(roles, 1, 0);
}

bool multiplies_halves(const Situation& s, size_t statement) {
  if (expected_error_of_sum(products_in_f16, unit_of(Element::f16)) > s.max_error) return false;
  if (iterations_of(s.nest.order[statement]) < worth_rounding) return false;
  const std::vector<Access>& reads = s.nest.statements()[statement].reads;
  return s.target.has(Extra::f16) && std::all_of(reads.begin(), reads.end(), [&](const Access& a) {
           return s.nest.tensors()[a.tensor].element == Element::f16;
         });
}

void add_up_halves(RecipeWriter& writer, const std::string& statement,
                   const std::vector<std::string>& loops) {
  std::string around;
  for (const std::string& loop : loops) around = loop.empty() ? around : loop;
  if (around.empty()) return;
  writer.step("subsum", {statement + ":" + around, std::string(name_of(Element::f16))});
}

long terms_of_dot(const Situation& s, size_t statement, size_t weight) {
  const Statement& main = s.nest.statements()[statement];
  auto element = [&](size_t read) { return s.nest.tensors()[main.reads[read].tensor].element; };
  if (s.nest.tensors()[main.write.tensor].element != sum_of_products(element(weight))) return 0;
  return lathe::terms_of_dot(s.target, element(weight), element(1 - weight));
}

long terms_of_panels(const Situation& s, size_t statement, size_t weight) {
  const Statement& main = s.nest.statements()[statement];
  auto element = [&](size_t read) { return s.nest.tensors()[main.reads[read].tensor].element; };
  if (s.nest.tensors()[main.write.tensor].element != sum_of_products(element(weight))) return 0;
  return lathe::terms_of_panels(s.target, element(1 - weight), element(weight));
}

void fuse_groups(RecipeWriter& writer, const Situation& s, const Roles& roles,
                 ProductLoops& loops) {
  if (loops.both.empty()) return;
  std::string groups = loops.both.back();
  if (roles.find(groups) + 1 != roles.find(loops.vector)) return;
  if (!count_together(s.nest, roles.statement, groups, loops.vector)) return;
  writer.step("fuse", {groups, loops.vector, loops.vector});
  loops.both.pop_back();
}

void fuse_positions(RecipeWriter& writer, const Situation& s, const Nest& named,
                    ProductLoops& loops) {
  size_t n = loops.positions.size();
  if (n < 2) return;
  std::string rows = loops.positions[n - 2], columns = loops.positions[n - 1];
  if (!are_flat({named, s.layouts, s.target}, rows, columns)) return;
  std::string both = rows + "_" + columns;
  writer.step("fuse", {rows, columns, both});
  loops.positions.pop_back();
  loops.positions.back() = both;
}

bool are_flat(const Situation& s, const std::string& rows, const std::string& columns) {
  for (size_t i = 0; i < s.nest.statements().size(); ++i) {
    Roles roles = roles_of(s, i);
    const LoopRole *row = roles.find(rows), *column = roles.find(columns);
    if (row == nullptr && column == nullptr) continue;
    if (row == nullptr || column == nullptr || row + 1 != column) return false;
    auto flat = [&](const Motion& a, const Motion& b) {
      return a.evenly == 0 && b.evenly == 0 && a.step == b.step * column->extent;
    };
    if (!flat(row->write, column->write)) return false;
    for (size_t r = 0; r < row->reads.size(); ++r) {
      if (!flat(row->reads[r], column->reads[r])) return false;
    }
  }
  return true;
}

std::string neighbours(const Roles& roles, const ProductLoops& parts) {
  std::string best;
  long extent = 1;
  for (const std::string& name : parts.sums) {
    const LoopRole& loop = *roles.find(name);
    if (loop.reads[parts.data].step == 1 && loop.extent > extent) {
      best = name;
      extent = loop.extent;
    }
  }
  return best;
}

}  // namespace lathe::schedules
