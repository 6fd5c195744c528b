// The search for one unit: what was tried, and what is next.
#pragma once

#include <deque>

#include "search/tune.h"

namespace lathe {

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
  std::optional<Choice> propose(TuneBench& bench, const TunedStore& store, Random& random);
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

  void open(TuneBench& bench, const TunedStore& store);
  void add_score(const Choice& choice, double ratio);
};

}  // namespace lathe
