// The search for one unit: what was tried, and what is next.
#pragma once

#include <deque>

#include "search/tune.h"

namespace lathe {

/// Says what can be chosen for a unit.
using UnitSpaces = std::function<ScheduleSpace(const Unit&)>;

/// The search for one unit, candidate after candidate.
class UnitSearch {
 public:
  UnitSearch(Unit work, TunedFor where) : work_(std::move(work)), where_(std::move(where)) {
    unit_.key = where_.unit;
  }

  const Unit& work() const { return work_; }
  const TunedFor& where() const { return where_; }
  TunedUnit& unit() { return unit_; }
  const TunedUnit& unit() const { return unit_; }
  /// Returns the names of all kernels that were measured.
  const std::set<std::string>& codes() const { return codes_; }

  /// Takes over what the store knows.
  void resume(const TunedStore& store);
  /// Returns how many seconds of the network the next candidate may save; 0 if no more is expected.
  double promise() const;
  /// Returns a choice that was not tried; nothing if there seems to be none.
  std::optional<Choice> propose(const UnitSpaces& space_of, const TunedStore& store,
                                Random& random);
  /// Does the same where nothing is known yet: any template with any settings, rather than what is
  /// like the best so far.
  std::optional<Choice> propose_broadly(const UnitSpaces& space_of, const TunedStore& store,
                                        Random& random);
  /// Returns the best choices that were measured, at most so many, the default not among them.
  std::vector<Choice> best(size_t most) const;
  /// Notes what came of a choice, and writes what was measured to the store.
  void observe(const Choice& choice, const Tried& tried, TunedStore& store);
  /// Notes whether the last choice was better than all before.
  void learn(bool better) { stale_ = better ? 0 : stale_ + 1; }

 private:
  Unit work_;
  TunedFor where_;
  TunedUnit unit_;
  std::optional<ScheduleSpace> space_;
  std::set<Choice> tried_;
  std::set<std::string> codes_;
  std::vector<Scored> best_;  // the best first
  std::deque<Choice> seeds_;  // that are tried before others
  long stale_ = 0;            // candidates since one was better
  bool exhausted_ = false;

  void open(const UnitSpaces& space_of, const TunedStore& store);
  std::optional<Choice> next(const UnitSpaces& space_of, const TunedStore& store,
                             const std::function<Choice()>& draw);
  void add_score(const Choice& choice, double ratio);
};

}  // namespace lathe
