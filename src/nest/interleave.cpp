// interleave.cpp: threads in any order. Interface: interleave.h.
//
// Each thread's instances and barriers are listed beforehand, in its own order. Then one thread
// after the other is drawn, and runs some of them; one that has come to a barrier waits until all
// threads of its block have.
#include "nest/interleave.h"

#include <algorithm>
#include <limits>
#include <map>
#include <random>

#include "base/error.h"
#include "nest/interpret_numbers.h"
#include "nest/marks.h"
#include "nest/threads.h"

namespace lathe {
namespace {

/// The most instances that a thread runs before another is drawn.
constexpr unsigned long most_in_a_row = 4;

/// One thing that a thread does: an instance of a statement, or a barrier.
struct Event {
  bool barrier;
  size_t statement;
  std::vector<long> iteration;
};

struct Thread {
  size_t block;
  std::vector<Event> events;
  size_t next = 0;
  std::map<size_t, std::vector<long>> own = {};  // elements of private tensors

  bool is_done() const { return next == events.size(); }
  bool waits() const { return !is_done() && events[next].barrier; }
};

struct Plan {
  bool guarded;
  std::vector<std::vector<poly::Constraint>> guard;
  poly::Affine write;
  std::vector<poly::Affine> reads;
};

class Interleaving {
 public:
  Interleaving(const Nest& nest, const std::vector<Barrier>& barriers, Buffers<long>& buffers,
               unsigned seed)
      : nest_(nest), barriers_(barriers), buffers_(buffers), random_(seed) {
    for (size_t s = 0; s < nest.statements().size(); ++s) plans_.push_back(plan_of(s));
    for (const Statement& s : nest.statements()) {
      starts_.try_emplace(s.write.tensor, s.update == Update::maximum ? lowest<long>() : 0);
    }
    for (const auto& [tensor, start] : starts_) {
      std::fill(buffers_[tensor].begin(), buffers_[tensor].end(), start);
    }
  }

  void run() {
    for (const Place& kernel : places(nest_.order)) run_kernel(kernel);
  }

 private:
  const Nest& nest_;
  const std::vector<Barrier>& barriers_;
  Buffers<long>& buffers_;
  std::mt19937 random_;
  std::vector<Plan> plans_;
  std::map<size_t, long> starts_;  // what elements begin with, by tensor
  std::vector<Thread> threads_;
  std::vector<std::map<size_t, std::vector<long>>> shared_;  // of each block

  Plan plan_of(size_t index) const {
    const Statement& s = nest_.statements()[index];
    const Order& order = nest_.order[index];
    isl::set domain = poly::boxed(iterations(s, order));
    Plan plan{!poly::is_box(domain, extents(order)), poly::constraints(domain), {}, {}};
    auto offset = [&](const Access& access) {
      return poly::take_apart(
          row_major(access.at.pullback(order.instance), nest_.tensors()[access.tensor]));
    };
    plan.write = offset(s.write);
    for (const Access& access : s.reads) plan.reads.push_back(offset(access));
    return plan;
  }

  void run_kernel(const Place& kernel) {
    const Order& order = nest_.order[kernel.statements.front()];
    size_t axes = count_axes(order);
    threads_.clear();
    shared_.clear();
    std::vector<Place> body{kernel};
    for (size_t i = 0; i < axes; ++i) body = std::vector<Place>(body.front().body);
    std::vector<long> at(axes, 0);
    std::map<std::vector<long>, size_t> blocks;
    while (true) {
      std::vector<long> block;
      for (size_t i = 0; i < axes; ++i) {
        if (is_block(order.loops[i].mark)) block.push_back(at[i]);
      }
      Thread thread{blocks.emplace(block, blocks.size()).first->second, {}};
      std::vector<long> iteration = at;
      list_events(body, iteration, thread.events);
      threads_.push_back(std::move(thread));
      size_t d = axes;
      while (d > 0 && ++at[d - 1] == order.loops[d - 1].extent) at[--d] = 0;
      if (d == 0) break;
    }
    shared_.resize(blocks.size());
    while (advance()) {
    }
    check(std::all_of(threads_.begin(), threads_.end(),
                      [](const Thread& thread) { return thread.is_done(); }),
          "all threads of a block pass the same barriers");
  }

  /// Lists what one thread does in the places of a body.
  void list_events(const std::vector<Place>& body, std::vector<long>& iteration,
                   std::vector<Event>& events) const {
    if (body.empty()) return;
    const std::vector<long>& path = nest_.order[body.front().statements.front()].at;
    std::vector<long> own(path.begin(), path.begin() + static_cast<long>(body.front().depth));
    auto add_barriers = [&](long after, long before) {
      for (const Barrier& barrier : barriers_) {
        if (barrier.body != own || barrier.before <= after || barrier.before > before) continue;
        events.push_back({true, 0, {}});
      }
    };
    long after = -1;
    for (const Place& place : body) {
      const Order& order = nest_.order[place.statements.front()];
      add_barriers(after, order.at[place.depth]);
      after = order.at[place.depth];
      if (!place.is_loop) {
        events.push_back({false, place.statements.front(), iteration});
        continue;
      }
      for (long i = 0; i < order.loops[place.depth].extent; ++i) {
        iteration.push_back(i);
        list_events(place.body, iteration, events);
        iteration.pop_back();
      }
    }
    add_barriers(after, std::numeric_limits<long>::max());
  }

  /// Lets one thread run, or the threads of a block pass a barrier. Returns whether any could.
  bool advance() {
    std::vector<Thread*> ready;
    for (Thread& thread : threads_) {
      if (!thread.is_done() && !thread.waits()) ready.push_back(&thread);
    }
    if (ready.empty()) return pass_barriers();
    Thread& thread = *ready[random_() % ready.size()];
    for (auto n = random_() % most_in_a_row + 1; n > 0; --n) {
      if (thread.is_done() || thread.waits()) break;
      run_instance(thread, thread.events[thread.next++]);
    }
    if (random_() % most_in_a_row == 0) pass_barriers();
    return true;
  }

  /// Lets the threads of those blocks go on of which all wait.
  bool pass_barriers() {
    std::vector<bool> all(shared_.size(), true);
    for (const Thread& thread : threads_) {
      if (!thread.waits()) all[thread.block] = false;
    }
    bool any = false;
    for (Thread& thread : threads_) {
      if (!all[thread.block]) continue;
      ++thread.next;
      any = true;
    }
    return any;
  }

  std::vector<long>& elements(Thread& thread, size_t tensor) {
    Space space = nest_.tensors()[tensor].space;
    if (space != Space::shared && space != Space::privately) return buffers_[tensor];
    auto& all = space == Space::shared ? shared_[thread.block] : thread.own;
    auto [own, is_new] = all.try_emplace(tensor);
    if (is_new) {
      auto start = starts_.find(tensor);
      own->second.assign(buffers_[tensor].size(), start == starts_.end() ? 0 : start->second);
    }
    return own->second;
  }

  void run_instance(Thread& thread, const Event& event) {
    const Plan& plan = plans_[event.statement];
    if (plan.guarded && !poly::contains(plan.guard, event.iteration)) return;
    const Statement& s = nest_.statements()[event.statement];
    long value = evaluate_expr(s.value, thread, event);
    long& element = elements(thread, s.write.tensor)
                        .at(static_cast<size_t>(poly::evaluate(plan.write, event.iteration)));
    if (s.update == Update::assign) element = value;
    if (s.update == Update::add) element += value;
    if (s.update == Update::maximum) element = larger(element, value);
  }

  long evaluate_expr(const Expr& e, Thread& thread, const Event& event) {
    const Plan& plan = plans_[event.statement];
    const Statement& s = nest_.statements()[event.statement];
    if (e.op == Expr::Op::number) return from_double<long>(e.number);
    if (e.op == Expr::Op::read || e.op == Expr::Op::pick) {
      size_t read = e.op == Expr::Op::read ? e.read : pick_of(e).read;
      size_t tensor = s.reads[read].tensor;
      long at = poly::evaluate(plan.reads[read], event.iteration);
      if (e.op == Expr::Op::pick) {
        for (const Pick::Along& along : pick_of(e).along) {
          at += picked_offset(nest_.tensors()[tensor], along.dim,
                              evaluate_expr(*along.index, thread, event));
        }
      }
      return elements(thread, tensor).at(static_cast<size_t>(at));
    }
    long args[3] = {};
    for (size_t i = 0; i < e.args.size(); ++i) args[i] = evaluate_expr(e.args[i], thread, event);
    return evaluate(e.op, args);
  }
};

}  // namespace

void interleave(const Nest& threads, const std::vector<Barrier>& barriers, Buffers<long>& buffers,
                unsigned seed) {
  check(buffers.size() == threads.tensors().size(), "every tensor has a buffer");
  Interleaving(threads, barriers, buffers, seed).run();
}

}  // namespace lathe
