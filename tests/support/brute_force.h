// What the nests mean, point by point: every instance, the elements that it touches, when it runs.
// Slow and independent of the symbolic answers (dependences, costs) that are compared with it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "nest/dependence.h"
#include "nest/footprint.h"
#include "nest/interpret.h"
#include "nest/marks.h"
#include "nest/nest.h"
#include "nest/threads.h"

namespace lathe::test {

using Point = std::vector<long>;

inline isl_stat add_point(isl_point* owned, void* user) {
  isl::space space = isl::manage(isl_point_get_space(owned));
  auto dims = static_cast<size_t>(isl_space_dim(space.get(), isl_dim_set));
  Point point;
  for (size_t i = 0; i < dims; ++i) {
    isl_val* v = isl_point_get_coordinate_val(owned, isl_dim_set, static_cast<int>(i));
    point.push_back(isl_val_get_num_si(v));
    isl_val_free(v);
  }
  isl_point_free(owned);
  static_cast<std::vector<Point>*>(user)->push_back(std::move(point));
  return isl_stat_ok;
}

/// Lists the points of a bounded set.
inline std::vector<Point> points(const isl::set& set) {
  std::vector<Point> result;
  isl_set_foreach_point(set.get(), add_point, &result);
  return result;
}

/// A function of several values, taken apart once.
class PointFunction {
 public:
  explicit PointFunction(const isl::multi_aff& function) {
    for (const isl::aff& part : poly::parts(function)) parts_.push_back(poly::take_apart(part));
  }
  Point operator()(const Point& x) const {
    Point result;
    for (const poly::Affine& part : parts_) result.push_back(poly::evaluate(part, x));
    return result;
  }

 private:
  std::vector<poly::Affine> parts_;
};

/// An element of a tensor.
using Cell = std::pair<size_t, Point>;

struct Instance {
  size_t statement;
  Point at;
  Cell write;
  std::vector<Cell> reads;
};

/// Lists all instances of a nest, statement by statement.
inline std::vector<Instance> instances(const Nest& nest) {
  std::vector<Instance> result;
  for (size_t s = 0; s < nest.statements().size(); ++s) {
    const Statement& statement = nest.statements()[s];
    PointFunction write(statement.write.at);
    std::vector<PointFunction> reads;
    for (const Access& access : statement.reads) reads.emplace_back(access.at);
    for (Point& at : points(statement.domain)) {
      Instance instance{s, std::move(at), {}, {}};
      instance.write = {statement.write.tensor, write(instance.at)};
      for (size_t r = 0; r < reads.size(); ++r) {
        instance.reads.emplace_back(statement.reads[r].tensor, reads[r](instance.at));
      }
      result.push_back(std::move(instance));
    }
  }
  return result;
}

/// Returns when each instance runs: (at[0], loops[0], at[1], ...).
inline std::vector<Point> times(const Nest& nest, const std::vector<Instance>& all) {
  std::vector<std::vector<poly::Affine>> loops;
  for (const Order& order : nest.order) {
    loops.emplace_back();
    for (const Loop& loop : order.loops) loops.back().push_back(poly::take_apart(loop.value));
  }
  std::vector<Point> result;
  for (const Instance& instance : all) {
    const Order& order = nest.order[instance.statement];
    Point time{order.at[0]};
    for (size_t d = 0; d < order.loops.size(); ++d) {
      time.push_back(poly::evaluate(loops[instance.statement][d], instance.at));
      time.push_back(order.at[d + 1]);
    }
    result.push_back(std::move(time));
  }
  return result;
}

/// The loop in which two instances part, if it is one and not the sequence of statements.
inline const Loop* parting_loop(const Nest& nest, size_t statement, const Point& a,
                                const Point& b) {
  size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  return i % 2 == 1 ? &nest.order[statement].loops[i / 2] : nullptr;
}

/// Judges an order pair by pair. Instances "before" ran in a valid order of the same instances.
class PairJudge {
 public:
  PairJudge(const Nest& before, const Nest& after)
      : nest_(after),
        threads_(in_threads(after)),
        all_(instances(after)),
        was_(times(before, all_)),
        is_(times(after, all_)),
        in_thread_(times(threads_, all_)) {
    for (size_t i = 0; i < all_.size(); ++i) {
      number_[{all_[i].statement, all_[i].at}] = i;
      touching_[all_[i].write].insert(i);
      for (const Cell& element : all_[i].reads) touching_[element].insert(i);
    }
  }

  /// Is there a pair of instances that may not run as they do?
  bool finds_violation() const {
    return any_pair([&](size_t a, size_t b) { return is_violated(a, b); });
  }
  /// Is there a pair of lanes that update the same element?
  bool finds_lane_sum() const {
    return any_pair([&](size_t a, size_t b) {
      const Loop* loop = parting(a, b);
      return updates_together(a, b) && loop && loop->mark == Mark::vector;
    });
  }

  /// Says what is wrong with a violation that was claimed; empty if it is one.
  std::string refute(const Violation& v) const {
    auto source = number_.find({v.dependence.source, v.source});
    auto sink = number_.find({v.dependence.sink, v.sink});
    if (source == number_.end() || sink == number_.end()) return "it names no instances";
    size_t a = source->second, b = sink->second;
    if (!conflict(a, b) && !updates_together(a, b)) return "the pair does not conflict";
    bool free = v.dependence.kind == Dependence::Kind::reduction;
    if (!free && !(was_[a] < was_[b])) return "the source did not run first";
    if (!is_violated(a, b)) return "the pair runs as it must";
    if (v.how == Violation::How::apart || v.how == Violation::How::hidden) {
      if (!is_lost(a, b)) return "one thread runs both, or a barrier can stand between them";
      std::vector<std::string> axes = parting_axes(a, b);
      bool named = std::find(axes.begin(), axes.end(), *v.loop) != axes.end();
      return named ? "" : "it is another axis";
    }
    const Loop* loop = parting(a, b);
    if (v.loop != (loop ? std::optional(loop->name) : std::nullopt)) return "it is another loop";
    bool concurrent = loop && is_concurrent(loop->mark);
    if ((v.how == Violation::How::concurrent) != concurrent) return "it happens otherwise";
    return "";
  }

 private:
  const Nest& nest_;
  Nest threads_;
  std::vector<Instance> all_;
  std::vector<Point> was_, is_, in_thread_;
  std::map<std::pair<size_t, Point>, size_t> number_;
  std::map<Cell, std::set<size_t>> touching_;

  const Loop* parting(size_t a, size_t b) const {
    return parting_loop(nest_, all_[a].statement, is_[a], is_[b]);
  }
  bool reads(size_t i, const Cell& element) const {
    const auto& list = all_[i].reads;
    return std::find(list.begin(), list.end(), element) != list.end();
  }
  Update update(size_t i) const { return nest_.statements()[all_[i].statement].update; }

  bool updates_together(size_t a, size_t b) const {
    return all_[a].write == all_[b].write && update(a) == update(b) && update(a) != Update::assign;
  }
  /// Must they run in the order in which they were?
  bool conflict(size_t a, size_t b) const {
    bool both_write = all_[a].write == all_[b].write && !updates_together(a, b);
    return both_write || reads(a, all_[b].write) || reads(b, all_[a].write);
  }
  /// Names the axes along which two instances of one kernel are apart.
  std::vector<std::string> parting_axes(size_t a, size_t b) const {
    std::vector<std::string> axes;
    if (in_thread_[a][0] != in_thread_[b][0]) return axes;
    const Order& order = threads_.order[all_[a].statement];
    for (size_t i = 0; i < count_axes(order); ++i) {
      if (in_thread_[a][2 * i + 1] != in_thread_[b][2 * i + 1]) axes.push_back(order.loops[i].name);
    }
    return axes;
  }
  /// Do different blocks run them, or threads between which no barrier can stand?
  bool is_lost(size_t a, size_t b) const {
    std::vector<std::string> axes = parting_axes(a, b);
    if (axes.empty()) return false;
    if (axes.front().starts_with("block")) return true;
    auto hidden = [&](size_t i, size_t other) {
      const Cell& element = all_[i].write;
      return touches(other, element) && nest_.tensors()[element.first].space == Space::privately;
    };
    if (hidden(a, b) || hidden(b, a)) return true;
    auto rest = static_cast<long>(2 * count_axes(threads_.order[all_[a].statement]));
    Point first(in_thread_[a].begin() + rest, in_thread_[a].end());
    Point second(in_thread_[b].begin() + rest, in_thread_[b].end());
    if (first == second) return true;
    return conflict(a, b) && (was_[a] < was_[b]) != (first < second);
  }
  bool touches(size_t i, const Cell& element) const {
    return all_[i].write == element || reads(i, element);
  }
  bool is_violated(size_t a, size_t b) const {
    if ((conflict(a, b) || updates_together(a, b)) && is_lost(a, b)) return true;
    const Loop* loop = parting(a, b);
    bool concurrent = loop && is_concurrent(loop->mark);
    if (conflict(a, b) && (concurrent || (was_[a] < was_[b]) != (is_[a] < is_[b]))) return true;
    return updates_together(a, b) && concurrent && loop->mark != Mark::vector;
  }
  template <class Test>
  bool any_pair(Test test) const {
    for (const auto& [element, members] : touching_) {
      for (auto a = members.begin(); a != members.end(); ++a) {
        for (auto b = std::next(a); b != members.end(); ++b) {
          if (test(*a, *b)) return true;
        }
      }
    }
    return false;
  }
};

/// Counts the cost of a nest instance by instance. Local tensors are stored whole here.
inline Cost counted(const Nest& nest) {
  Cost result;
  std::set<Cell> elements;
  for (const Instance& instance : instances(nest)) {
    const Statement& s = nest.statements()[instance.statement];
    ++result.instances;
    if (s.update == Update::add && s.reads.size() >= 2 && is_product(s.value)) ++result.macs;
    elements.insert(instance.write);
    elements.insert(instance.reads.begin(), instance.reads.end());
  }
  for (const Cell& element : elements) {
    const Tensor& tensor = nest.tensors()[element.first];
    if (tensor.role == Role::weight) ++result.weights;
    result.bytes += size_of(tensor.element);
  }
  return result;
}

/// Does the nest have tensors whose storage may be reused?
inline bool has_local(const Nest& nest) {
  return std::any_of(nest.tensors().begin(), nest.tensors().end(),
                     [](const Tensor& t) { return t.role == Role::local; });
}

/// The elements of the output tensors, by name.
using Outputs = std::map<std::string, std::vector<long>>;

/// Interprets a nest on integers drawn from "seed".
inline Outputs outputs(const Nest& nest, unsigned seed = 1) {
  Buffers<long> buffers = make_buffers<long>(nest);
  fill_inputs(nest, buffers, seed);
  interpret(nest, buffers);
  Outputs result;
  for (size_t t = 0; t < nest.tensors().size(); ++t) {
    if (nest.tensors()[t].role == Role::output) result[nest.tensors()[t].name] = buffers[t];
  }
  return result;
}

/// Says what is wrong with the places of an order; empty if nothing is.
inline std::string refute_places(const Nest& nest) {
  for (const Order& a : nest.order) {
    if (a.at.size() != a.loops.size() + 1) return "a place is missing";
    std::set<std::string> names;
    for (const Loop& loop : a.loops) {
      if (!names.insert(loop.name).second) return "two loops called " + loop.name;
    }
    for (const Order& b : nest.order) {
      for (size_t d = 0; &a != &b; ++d) {
        if (a.at[d] != b.at[d]) break;
        if (d >= a.loops.size() || d >= b.loops.size()) return "two statements in one place";
        const Loop &x = a.loops[d], &y = b.loops[d];
        bool same = x.name == y.name && x.extent == y.extent && x.mark == y.mark &&
                    x.prefetches == y.prefetches;
        if (!same) return "different loops in one place: " + x.name + ", " + y.name;
      }
    }
  }
  return "";
}

}  // namespace lathe::test
