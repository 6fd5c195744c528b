// Times of work that takes turns: what disturbs one disturbs all.
#pragma once

#include <functional>
#include <vector>

namespace lathe {

/// Keeps the process on so many processors, the first that it may use.
void pin(int threads);

/// The times of one piece of work.
struct Times {
  std::vector<double> all;
  std::vector<double> undisturbed;  ///< those during which nobody else was given a processor

  /// Runs "work" so often, and notes how long it took each time.
  void add(const std::function<void()>& work, int calls = 1);
};

/// Returns a time for each piece of work that can be compared with the others': the median of the
/// undisturbed ones. On a machine that is too busy for those it is the lower quartile of all.
std::vector<double> typical_times(const std::vector<Times>& times);

struct Turns {
  double seconds = 0.2;  ///< for all together
  size_t least = 5;      ///< times each, whatever they take
  /// Stops early if the last piece of work is so many times slower than the fastest.
  double hopeless = 1e9;
};

/// Runs pieces of work in turn and returns the typical time of each, in seconds.
std::vector<double> times_in_turn(const std::vector<std::function<void()>>& works,
                                  const Turns& turns);

}  // namespace lathe
