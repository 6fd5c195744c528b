// scan.cpp: Nest to loops. Interface: scan() of loops.h.
//
// The loops of an order are walked from outside in. For each loop the conditions of the statements
// inside are looked at: "16*o + i < 100" holds for every i while o < 6, and for some at o = 6. The
// loop is cut there; in each part, conditions that always hold are dropped, and statements whose
// conditions never hold are left out. A parallel loop stays one: its parts become ranges. So that
// workers share the parallel loops inside, too, these are put around the ranges:
//
//   parallel for o:                           parallel for o:
//     where o < 3:   parallel for c: ...  ->    parallel for c:
//     where 3 <= o:  parallel for c: ...          where o < 3: ...
//                                                 where 3 <= o: ...
#include <algorithm>
#include <limits>
#include <set>

#include "base/error.h"
#include "codegen/loops.h"
#include "nest/marks.h"

namespace lathe {
namespace {

using poly::Interval;

long floor_div(long a, long b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

/// A statement in terms of its loops, with the conditions that are still open.
struct Open {
  size_t index;
  const Statement* statement;  // rebased
  Guard guard;
};

/// Do several workers share the iterations: threads of a CPU, blocks or threads of a GPU?
bool is_workers(Mark mark) { return mark == Mark::parallel || is_axis(mark); }

bool begins_with_workers(const LoopNode& node) {
  if (node.kind != LoopNode::Kind::range || node.body.size() != 1) return false;
  const LoopNode& inner = node.body.front();
  return inner.kind == LoopNode::Kind::loop && is_workers(inner.mark) && inner.from == 0;
}

/// Puts a parallel loop that is all there is in each range of the loop around it around the ranges.
void put_ranges_inside(LoopNode& loop) {
  if (loop.body.empty() || !std::all_of(loop.body.begin(), loop.body.end(), begins_with_workers)) {
    return;
  }
  LoopNode inner = loop.body.front().body.front();
  inner.body.clear();
  for (const LoopNode& range : loop.body) inner.to = std::max(inner.to, range.body.front().to);
  for (LoopNode& range : loop.body) {
    LoopNode part = std::move(range.body.front());
    part.kind = LoopNode::Kind::range;
    range.body.clear();
    if (part.to < inner.to) {
      range.body.push_back(std::move(part));
    } else {
      range.body = std::move(part.body);
    }
    inner.body.push_back(std::move(range));
  }
  put_ranges_inside(inner);
  loop.body.clear();
  loop.body.push_back(std::move(inner));
}

/// Beyond so many parts of one loop the code would grow too much: the condition stays.
constexpr size_t most_parts = 4;

class Scanner {
 public:
  Scanner(const Nest& nest, const std::vector<Layout>& layouts,
          const std::vector<Barrier>& barriers)
      : nest_(nest), layouts_(layouts), barriers_(barriers) {
    for (size_t i = 0; i < nest.statements().size(); ++i) {
      rebased_.push_back(rebased(nest.statements()[i], nest.order[i]).first);
    }
  }

  std::vector<std::vector<LoopNode>> run() {
    std::vector<Open> open;
    for (size_t i = 0; i < rebased_.size(); ++i) {
      bool box = poly::is_box(rebased_[i].domain, extents(nest_.order[i]));
      open.push_back({i, &rebased_[i], box ? Guard{} : poly::constraints(rebased_[i].domain)});
    }
    std::vector<std::vector<LoopNode>> result;
    for (const Place& place : places(nest_.order)) {
      std::vector<Interval> ranges;
      long number = nest_.order[place.statements.front()].at[0];
      uncut_ = std::any_of(barriers_.begin(), barriers_.end(), [&](const Barrier& barrier) {
        return !barrier.body.empty() && barrier.body.front() == number;
      });
      result.push_back(nodes_of({place}, open, ranges));
      if (result.back().empty()) result.pop_back();
    }
    return result;
  }

 private:
  const Nest& nest_;
  const std::vector<Layout>& layouts_;
  const std::vector<Barrier>& barriers_;
  bool uncut_ = false;  // are there barriers in this outermost place?
  std::vector<Statement> rebased_;

  /// Returns the body that these places are: the places of the loops around.
  std::vector<long> body_of(const Place& place) const {
    const std::vector<long>& at = nest_.order[place.statements.front()].at;
    return {at.begin(), at.begin() + static_cast<long>(place.depth)};
  }

  /// Is a barrier the last that a node does? A loop in the tree has iterations.
  static bool ends_with_barrier(const LoopNode& node) {
    if (node.kind == LoopNode::Kind::barrier) return true;
    return node.kind == LoopNode::Kind::loop && node.extent() > 0 && !node.body.empty() &&
           ends_with_barrier(node.body.back());
  }

  /// Adds a barrier if one stands in "body" behind place "after", and not behind "before". Threads
  /// that have just waited need not wait again.
  void add_barrier(const std::vector<long>& body, long after, long before,
                   std::vector<LoopNode>& nodes) const {
    bool any = std::any_of(barriers_.begin(), barriers_.end(), [&](const Barrier& barrier) {
      return barrier.body == body && barrier.before > after && barrier.before <= before;
    });
    if (!any || (!nodes.empty() && ends_with_barrier(nodes.back()))) return;
    LoopNode node;
    node.kind = LoopNode::Kind::barrier;
    node.depth = body.size();
    nodes.push_back(std::move(node));
  }

  std::vector<LoopNode> nodes_of(const std::vector<Place>& list, const std::vector<Open>& open,
                                 std::vector<Interval>& ranges) {
    std::vector<LoopNode> nodes;
    long after = -1;
    for (const Place& place : list) {
      long number = nest_.order[place.statements.front()].at[place.depth];
      if (!barriers_.empty()) add_barrier(body_of(place), after, number, nodes);
      after = number;
      std::vector<Open> inside;
      for (size_t s : place.statements) {
        auto found =
            std::find_if(open.begin(), open.end(), [&](const Open& o) { return o.index == s; });
        if (found != open.end()) inside.push_back(*found);
      }
      if (inside.empty()) continue;
      if (place.is_loop) {
        add_loop(place, inside, ranges, nodes);
      } else {
        nodes.push_back(statement_node(inside.front(), ranges));
      }
    }
    if (!barriers_.empty() && !list.empty()) {
      add_barrier(body_of(list.back()), after, std::numeric_limits<long>::max(), nodes);
    }
    return nodes;
  }

  LoopNode statement_node(const Open& open, const std::vector<Interval>& ranges) const {
    LoopNode node;
    node.kind = LoopNode::Kind::statement;
    node.statement = open.index;
    node.depth = ranges.size();
    const Statement& s = *open.statement;
    node.write = offset_of(s.write.at, layouts_[s.write.tensor], ranges);
    for (const Access& access : s.reads) {
      node.reads.push_back(offset_of(access.at, layouts_[access.tensor], ranges));
    }
    node.guard = open.guard;
    return node;
  }

  void add_loop(const Place& place, const std::vector<Open>& open, std::vector<Interval>& ranges,
                std::vector<LoopNode>& nodes) {
    const Loop& loop = nest_.order[place.statements.front()].loops[place.depth];
    std::vector<Interval> parts{{0, loop.extent - 1}};
    bool whole_only = is_axis(loop.mark) && (uncut_ || (is_thread(loop.mark) && in_step(open)));
    if (!whole_only) parts = parts_of(place.depth, loop.extent, open, ranges);
    LoopNode whole;
    whole.depth = place.depth;
    whole.name = loop.name;
    whole.mark = loop.mark;
    whole.prefetches = loop.prefetches;
    bool cut_inside = is_workers(loop.mark) && parts.size() > 1;
    for (const Interval& part : parts) {
      ranges.push_back(part);
      LoopNode node = whole;
      node.from = part.lower;
      node.to = part.upper + 1;
      node.kind = cut_inside ? LoopNode::Kind::range : LoopNode::Kind::loop;
      node.body = nodes_of(place.body, narrowed(open, ranges), ranges);
      ranges.pop_back();
      if (node.body.empty()) continue;
      (cut_inside ? whole.body : nodes).push_back(std::move(node));
    }
    if (!cut_inside) return;
    whole.from = parts.front().lower;
    whole.to = parts.back().upper + 1;
    put_ranges_inside(whole);
    nodes.push_back(std::move(whole));
  }

  /// May some statement be a product of matrices, which all threads of a warp compute together?
  /// That takes four vector loops (matrices.h).
  bool in_step(const std::vector<Open>& open) const {
    constexpr long loops_of_matrix = 4;
    return std::any_of(open.begin(), open.end(), [&](const Open& o) {
      const auto& loops = nest_.order[o.index].loops;
      return std::count_if(loops.begin(), loops.end(), [](const Loop& loop) {
               return loop.mark == Mark::vector;
             }) == loops_of_matrix;
    });
  }

  /// Returns the ranges of all loops of a statement: those around the current one, and all others.
  std::vector<Interval> all_ranges(const Open& open, const std::vector<Interval>& ranges) const {
    std::vector<Interval> all = ranges;
    const auto& loops = nest_.order[open.index].loops;
    for (size_t i = all.size(); i < loops.size(); ++i) all.push_back({0, loops[i].extent - 1});
    return all;
  }

  /// Cuts a loop where the conditions of the statements inside change.
  std::vector<Interval> parts_of(size_t depth, long extent, const std::vector<Open>& open,
                                 const std::vector<Interval>& ranges) const {
    std::set<long> cuts;  // a part begins at each
    for (const Open& o : open) {
      if (o.guard.size() != 1) continue;
      std::vector<Interval> all = all_ranges(o, ranges);
      all[depth] = {0, 0};
      for (const poly::Constraint& c : o.guard.front()) {
        if (c.expression.divisor != 1) continue;
        add_cuts(c, depth, all, cuts);
      }
    }
    std::vector<long> begins{0};
    for (long cut : cuts) {
      if (cut > 0 && cut < extent) begins.push_back(cut);
    }
    if (begins.size() > most_parts) begins = {0};
    std::vector<Interval> parts;
    for (size_t i = 0; i < begins.size(); ++i) {
      parts.push_back({begins[i], (i + 1 < begins.size() ? begins[i + 1] : extent) - 1});
    }
    return parts;
  }

  /// Adds where  a*x + rest >= 0  begins or ceases to hold for all, or for some, of the rest.
  static void add_cuts(const poly::Constraint& c, size_t depth, const std::vector<Interval>& others,
                       std::set<long>& cuts) {
    long a = c.expression.coefficients[depth];
    if (a == 0 || c.equality) return;
    for (const auto& floor : c.expression.floors) {
      if (poly::involved(floor.of)[depth]) return;
    }
    Interval rest = poly::bounds(c.expression, others);
    for (long r : {rest.lower, rest.upper}) {
      cuts.insert(a > 0 ? -floor_div(r, a) : floor_div(r, -a) + 1);
    }
  }

  /// Drops the conditions that hold everywhere in these ranges, and the statements that have one
  /// which holds nowhere.
  std::vector<Open> narrowed(const std::vector<Open>& open,
                             const std::vector<Interval>& ranges) const {
    std::vector<Open> result;
    for (const Open& o : open) {
      Open left{o.index, o.statement, {}};
      if (!can_hold(o.guard, all_ranges(o, ranges), left.guard)) continue;
      result.push_back(std::move(left));
    }
    return result;
  }
};

}  // namespace

LoopTree scan(const Nest& nest, std::vector<Layout> layouts) {
  if (layouts.empty()) {
    for (const Tensor& tensor : nest.tensors()) layouts.push_back(row_major_layout(tensor.shape));
  }
  check(layouts.size() == nest.tensors().size(), "every tensor has a layout");
  auto places = Scanner(nest, layouts, {}).run();
  return {nest, std::move(layouts), std::move(places)};
}

LoopTree scan(const Nest& threads, std::vector<Layout> layouts, const Synchronised& synchronised) {
  check(layouts.size() == threads.tensors().size(), "every tensor has a layout");
  auto places = Scanner(threads, layouts, synchronised.barriers).run();
  return {threads, std::move(layouts), std::move(places), synchronised.handed};
}

}  // namespace lathe
