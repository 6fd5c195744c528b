// threads.cpp: the loops of blocks and threads outermost. Interface: threads.h.
#include "nest/threads.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "nest/marks.h"

namespace lathe {
namespace {

/// The loops of one statement: those that are bound to axes, and where the others stand.
struct Unbound {
  std::map<Mark, size_t> bound;  // depths
  std::vector<size_t> loops;     // depths
  std::vector<long> at;
};

class Threads {
 public:
  explicit Threads(const Nest& nest) : nest_(nest), unbound_(nest.order.size()) {}

  std::vector<Order> run() {
    std::vector<Order> order(nest_.order.size());
    long number = 0;
    for (const Place& place : places(nest_.order)) {
      std::map<Mark, long> axes = axes_of(place.statements);
      long next = 0;
      flatten({place}, {}, next);
      for (size_t s : place.statements) order[s] = order_of(s, number, axes);
      ++number;
    }
    return order;
  }

 private:
  const Nest& nest_;
  std::vector<Unbound> unbound_;

  /// Returns how far each axis counts.
  std::map<Mark, long> axes_of(const std::vector<size_t>& statements) const {
    std::map<Mark, long> axes;
    for (size_t s : statements) {
      std::map<Mark, const Loop*> bound;
      for (const Loop& loop : nest_.order[s].loops) {
        if (!is_axis(loop.mark)) continue;
        auto [at, is_new] = bound.emplace(loop.mark, &loop);
        if (!is_new) {
          fail("loops '{}' and '{}' around '{}' are both bound to {}", at->second->name, loop.name,
               nest_.statements()[s].name, name_of(loop.mark));
        }
        axes[loop.mark] = std::max(axes[loop.mark], loop.extent);
      }
    }
    return axes;
  }

  /// Numbers the places of one body: what is in a loop of an axis stands in the body around it.
  void flatten(const std::vector<Place>& body, const std::vector<long>& around, long& next) {
    for (const Place& place : body) {
      if (!place.is_loop) {
        Unbound& one = unbound_[place.statements.front()];
        one.at = around;
        one.at.push_back(next++);
        continue;
      }
      Mark mark = nest_.order[place.statements.front()].loops[place.depth].mark;
      if (is_axis(mark)) {
        for (size_t s : place.statements) unbound_[s].bound[mark] = place.depth;
        flatten(place.body, around, next);
        continue;
      }
      for (size_t s : place.statements) unbound_[s].loops.push_back(place.depth);
      std::vector<long> inside = around;
      inside.push_back(next++);
      long first = 0;
      flatten(place.body, inside, first);
    }
  }

  Order order_of(size_t s, long number, const std::map<Mark, long>& axes) const {
    const Order& before = nest_.order[s];
    const Unbound& unbound = unbound_[s];
    isl::space instances = nest_.statements()[s].domain.space();
    isl::space space = poly::tuples(nest_.ctx(), axes.size() + unbound.loops.size());
    std::vector<isl::aff> old(before.loops.size(), poly::constant(space, 0));
    Order order;
    std::vector<long> most;  // iterations of each loop that are the statement's
    for (Mark axis : grid_axes()) {
      if (!axes.contains(axis)) continue;
      auto depth = unbound.bound.find(axis);
      Loop loop{name_of(axis), axes.at(axis), poly::constant(instances, 0), axis, {}};
      most.push_back(1);
      if (depth != unbound.bound.end()) {
        loop.value = before.loops[depth->second].value;
        most.back() = before.loops[depth->second].extent;
        old[depth->second] = poly::coordinate(space, order.loops.size());
      }
      order.loops.push_back(std::move(loop));
    }
    for (size_t depth : unbound.loops) {
      old[depth] = poly::coordinate(space, order.loops.size());
      order.loops.push_back(before.loops[depth]);
      most.push_back(before.loops[depth].extent);
    }
    isl::multi_aff back = poly::tuple(space, old);
    order.instance = before.instance.pullback(back);
    if (most != extents(order)) order.within = poly::box(nest_.ctx(), most);
    if (before.within) {
      isl::set within = before.within->preimage(back);
      order.within = order.within ? order.within->intersect(within) : within;
    }
    order.at.assign(axes.size(), 0);
    order.at.insert(order.at.begin(), number);
    order.at.pop_back();
    if (axes.empty()) {
      // Without axes the place is what it was: its own loops are outermost.
      order.at = unbound.at;
      order.at.front() = number;
      return order;
    }
    order.at.insert(order.at.end(), unbound.at.begin(), unbound.at.end());
    return order;
  }
};

/// Is a loop of a place bound to blocks or threads?
bool has_axis(const Nest& nest, const Place& outermost) {
  auto is_bound = [](const Loop& loop) { return is_axis(loop.mark); };
  return std::any_of(outermost.statements.begin(), outermost.statements.end(), [&](size_t s) {
    return std::any_of(nest.order[s].loops.begin(), nest.order[s].loops.end(), is_bound);
  });
}

/// Returns how many of the outermost loops are parallel and around all statements of a place; three
/// at most, as there are axes.
size_t count_parallel(const Nest& nest, const Place& outermost) {
  constexpr size_t most = 3;
  const Place* place = &outermost;
  const std::vector<Loop>& loops = nest.order[place->statements.front()].loops;
  size_t count = 0;
  while (place->is_loop && count < most && loops[place->depth].mark == Mark::parallel) {
    ++count;
    if (place->body.size() != 1) break;
    place = &place->body.front();
  }
  return count;
}

}  // namespace

Nest in_threads(const Nest& nest) {
  if (find_axis(nest) == nullptr) return nest;
  return {nest.name, nest.meaning, Threads(nest).run()};
}

Nest in_blocks(const Nest& nest) {
  constexpr Mark axes[] = {Mark::block_x, Mark::block_y, Mark::block_z};
  std::vector<Order> order = nest.order;
  for (const Place& outermost : places(nest.order)) {
    size_t count = has_axis(nest, outermost) ? 0 : count_parallel(nest, outermost);
    for (size_t s : outermost.statements) {
      for (size_t depth = 0; depth < order[s].loops.size(); ++depth) {
        Mark& mark = order[s].loops[depth].mark;
        if (mark == Mark::parallel) mark = depth < count ? axes[count - 1 - depth] : Mark::serial;
      }
    }
  }
  return {nest.name, nest.meaning, std::move(order)};
}

size_t count_axes(const Order& order) {
  size_t count = 0;
  while (count < order.loops.size() && is_axis(order.loops[count].mark)) ++count;
  return count;
}

}  // namespace lathe
