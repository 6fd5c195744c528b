// schedule_counting.cpp: what loops count. Interface: schedule_counting.h.
#include "schedules/schedule_counting.h"

#include <algorithm>
#include <map>

#include "poly/linear.h"

namespace lathe::schedules {
namespace {

/// Returns the loops that an index involves, from outside in.
std::vector<size_t> loops_in(const poly::Affine& index) {
  std::vector<bool> involved = poly::involved(index);
  std::vector<size_t> loops;
  for (size_t i = 0; i < involved.size(); ++i) {
    if (involved[i]) loops.push_back(i);
  }
  return loops;
}

Counted counted(const poly::Affine& index, const Order& order) {
  std::vector<size_t> loops = loops_in(index);
  if (!index.is_linear() || loops.empty() || loops.size() > 2) return {};
  const Loop& inner = order.loops[loops.back()];
  if (index.coefficients[loops.back()] != 1) return {};
  if (loops.size() == 1) return {inner.name, "", inner.extent};
  const Loop& outer = order.loops[loops.front()];
  if (index.coefficients[loops.front()] != inner.extent) return {};
  return {inner.name, outer.name, outer.extent * inner.extent};
}

/// Does a loop alone count the first index of an access, and no other?
bool counts_first(const Access& access, const Order& order, size_t loop) {
  std::vector<Counted> indices = counted_indices(access, order);
  const std::string& name = order.loops[loop].name;
  if (indices.empty() || indices[0].loop != name || !indices[0].outer.empty()) return false;
  std::vector<isl::aff> parts = poly::parts(access.at.pullback(order.instance));
  return std::none_of(parts.begin() + 1, parts.end(),
                      [&](const isl::aff& part) { return poly::involves(part, loop); });
}

bool counts_samples(const Nest& nest, size_t statement, size_t loop) {
  const Statement& s = nest.statements()[statement];
  const Order& order = nest.order[statement];
  std::vector<const Access*> accesses{&s.write};
  for (const Access& read : s.reads) accesses.push_back(&read);
  size_t moved = 0;
  for (const Access* access : accesses) {
    if (!poly::involves(access->at.pullback(order.instance), loop)) continue;
    bool given = access != &s.write && nest.tensors()[access->tensor].role == Role::weight;
    if (given || !counts_first(*access, order, loop)) return false;
    ++moved;
  }
  // What moves both factors and the result does not make samples of one product, but products.
  return moved == 2;
}

/// What is known of the indices of tensors: the loops of the main statement that count them.
using Known = std::map<std::pair<size_t, size_t>, Counted>;

std::vector<Access> accesses_of(const Statement& s) {
  std::vector<Access> accesses{s.write};
  accesses.insert(accesses.end(), s.reads.begin(), s.reads.end());
  return accesses;
}

/// Returns the main statement's names for the loops of another one; "" where it has none.
std::vector<std::string> names_in(const Nest& nest, size_t statement, const Known& known) {
  const Order& order = nest.order[statement];
  std::vector<std::string> names(order.loops.size());
  for (const Access& access : accesses_of(nest.statements()[statement])) {
    std::vector<Counted> indices = counted_indices(access, order);
    for (size_t k = 0; k < indices.size(); ++k) {
      auto same = known.find({access.tensor, k});
      if (same == known.end() || indices[k].loop.empty() || !indices[k].outer.empty()) continue;
      std::string& name = names[*find_loop(order, indices[k].loop)];
      bool taken = std::find(names.begin(), names.end(), same->second.loop) != names.end();
      if (name.empty() && !taken && same->second.extent == indices[k].extent) {
        name = same->second.loop;
      }
    }
  }
  return names;
}

/// Adds what a statement writes, whose loops are called "names" by the main statement.
void add(Known& known, const Nest& nest, size_t statement, const std::vector<std::string>& names) {
  const Access& write = nest.statements()[statement].write;
  const Order& order = nest.order[statement];
  std::vector<Counted> indices = counted_indices(write, order);
  for (size_t k = 0; k < indices.size(); ++k) {
    if (indices[k].loop.empty()) continue;
    const std::string& name = names[*find_loop(order, indices[k].loop)];
    if (!name.empty()) {
      known.try_emplace({write.tensor, k}, Counted{name, indices[k].outer, indices[k].extent});
    }
  }
}

}  // namespace

std::vector<Counted> counted_indices(const Access& access, const Order& order) {
  std::vector<poly::Interval> ranges;
  for (const Loop& loop : order.loops) ranges.push_back({0, loop.extent - 1});
  std::vector<Counted> result;
  for (const isl::aff& part : poly::parts(access.at.pullback(order.instance))) {
    result.push_back(counted(poly::narrowed(poly::take_apart(part), ranges), order));
  }
  return result;
}

std::string samples_loop(const Nest& nest, size_t statement) {
  const std::vector<Loop>& loops = nest.order[statement].loops;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (counts_samples(nest, statement, i)) return loops[i].name;
  }
  return "";
}

bool count_together(const Nest& nest, size_t statement, const std::string& outer,
                    const std::string& inner) {
  std::vector<Counted> indices =
      counted_indices(nest.statements()[statement].write, nest.order[statement]);
  return std::any_of(indices.begin(), indices.end(), [&](const Counted& index) {
    return index.outer == outer && index.loop == inner;
  });
}

std::vector<OtherName> other_names(const Nest& nest, size_t main) {
  Known known;
  std::vector<std::string> own;
  for (const Loop& loop : nest.order[main].loops) own.push_back(loop.name);
  add(known, nest, main, own);
  std::vector<OtherName> result;
  for (size_t i : sequence(nest.order)) {
    if (i == main || nest.statements()[i].update != Update::assign) continue;
    std::vector<std::string> names = names_in(nest, i, known);
    bool whole = std::find(names.begin(), names.end(), "") == names.end();
    add(known, nest, i, names);
    const std::vector<Loop>& loops = nest.order[i].loops;
    for (size_t depth = 0; depth < loops.size(); ++depth) {
      if (names[depth].empty() || loops[depth].name == names[depth]) continue;
      result.push_back({i, depth, names[depth], whole});
    }
  }
  return result;
}

void rename_loop(RecipeWriter& writer, const OtherName& other) {
  auto loop = [&](size_t depth) {
    return writer.nest().statements()[other.statement].name + ":" +
           writer.nest().order[other.statement].loops[depth].name;
  };
  if (auto taken = find_loop(writer.nest().order[other.statement], other.name)) {
    writer.step("rename", {loop(*taken), fresh_name(writer.nest(), other.name)});
  }
  writer.step("rename", {loop(other.depth), other.name});
}

void name_alike(RecipeWriter& writer, size_t main) {
  for (const OtherName& other : other_names(writer.nest(), main)) {
    if (other.whole) rename_loop(writer, other);
  }
}

}  // namespace lathe::schedules
