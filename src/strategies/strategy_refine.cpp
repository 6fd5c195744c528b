// strategy_refine.cpp: a few changes at a time. Interface: strategy_refine.h.
#include "strategies/strategy_refine.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "strategies/strategy_links.h"

namespace lathe {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Times that all changes are judged anew.
constexpr int most_sweeps = 16;
/// A sweep that saves less than this share is the last one.
constexpr double least_saved = 0.002;
/// How often limits are drawn tighter, by as much as they were broken, before fewer changes are
/// tried.
constexpr int most_tightened = 3;

/// Returns by how much limits are broken, in all.
double broken_by(const Standing& standing) {
  double sum = std::max(0.0, -standing.left_of_layers);
  for (double left : standing.left) sum += std::max(0.0, -left);
  return sum;
}

class Refinement {
 public:
  Refinement(const StrategyInput& input, const ChoiceTable& allowed, Assignment start,
             const std::function<Standing(const Assignment&)>& standing_of)
      : input_(input),
        allowed_(allowed),
        standing_of_(standing_of),
        current_(std::move(start)),
        now_(standing_of(current_)) {}

  Assignment run() {
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
      Standing before = now_;
      look_around();
      bool moved = false;
      for (auto most = static_cast<double>(current_.size()); !moved && most >= 1; most /= 2) {
        moved = step(std::floor(most));
      }
      bool is_done =
          before.is_allowed() && before.cost - now_.cost < least_saved * std::abs(before.cost);
      if (!moved || is_done) break;
    }
    return current_;
  }

 private:
  const StrategyInput& input_;
  const ChoiceTable& allowed_;
  const std::function<Standing(const Assignment&)>& standing_of_;
  Assignment current_;
  Standing now_;
  ChoiceProblem around_;  // what each change alone does to the current assignment

  /// Judges each change alone.
  void look_around() {
    around_ = {allowed_, {}, {}};
    for (double left : now_.left) around_.limits.push_back({allowed_, -left});
    around_.limits.push_back({allowed_});  // of the number of changes
    std::vector<std::vector<Standing>> then(current_.size());
    for_each_index(current_.size(), processors(), [&](size_t s) {
      Assignment changed = current_;
      for (size_t v = 0; v < allowed_[s].size(); ++v) {
        changed[s] = v;
        bool may_be = std::isfinite(allowed_[s][v]);
        then[s].push_back(may_be ? standing_of_(changed) : Standing{});
      }
    });
    for (size_t s = 0; s < current_.size(); ++s) {
      for (size_t v = 0; v < allowed_[s].size(); ++v) add(s, v, then[s][v]);
    }
    keep_links_together(input_, around_);
  }

  /// Adds a change to what is known of those around.
  void add(size_t s, size_t v, const Standing& then) {
    bool is_same = v == current_[s];
    bool allowed = std::isfinite(allowed_[s][v]) && (is_same || then.left_of_layers >= 0);
    // The sum over all places is the cost of the whole.
    double share = now_.cost / static_cast<double>(current_.size());
    around_.costs[s][v] = allowed ? then.cost - now_.cost + share : infinity;
    for (size_t i = 0; i < now_.left.size(); ++i) {
      double more = allowed ? then.left[i] - now_.left[i] : 0;
      around_.limits[i].amounts[s][v] = std::isnan(more) ? 0 : more;  // it has no end
    }
    around_.limits.back().amounts[s][v] = is_same ? 0 : 1;
  }

  /// Changes at most so many places; returns whether that was worth it.
  bool step(double most_changes) {
    ChoiceProblem problem = around_;
    problem.limits.back().most = most_changes;
    for (int tightened = 0; tightened <= most_tightened; ++tightened) {
      auto found = cheapest(problem);
      if (!found) return false;
      found->resize(current_.size());  // what follows are the links' levels
      Standing then = standing_of_(*found);
      if (is_better(then)) {
        current_ = std::move(*found);
        now_ = std::move(then);
        return true;
      }
      if (then.is_allowed()) return false;  // and it costs more
      for (size_t i = 0; i < then.left.size(); ++i) {
        problem.limits[i].least += std::max(0.0, -then.left[i]);
      }
    }
    return false;
  }

  bool is_better(const Standing& then) const {
    if (now_.is_allowed()) return then.is_allowed() && then.cost < now_.cost;
    return broken_by(then) < broken_by(now_);
  }
};

}  // namespace

Assignment refined(const StrategyInput& input, const ChoiceTable& allowed, const Assignment& start,
                   const std::function<Standing(const Assignment&)>& standing_of) {
  return Refinement(input, allowed, start, standing_of).run();
}

}  // namespace lathe
