// Measures pieces of work in turn, so that what disturbs one of them disturbs all.
#pragma once

#include <functional>
#include <vector>

namespace lathe {

/// Keeps this process on so many processors: the first of those that it may use.
void pin(int threads);

/// The times of one piece of work.
struct Times {
  std::vector<double> all;
  std::vector<double> undisturbed;  ///< those during which nothing interrupted this process

  /// Runs "work" so often, one call after the other, and adds the mean time of a call.
  void add(const std::function<void()>& work, int calls = 1);
};

/// Returns one time for each piece of work; these can be compared with each other. It is the median
/// of the undisturbed times. If the machine is too busy to have enough of those, it is the lower
/// quartile of all times.
std::vector<double> typical_times(const std::vector<Times>& times);

struct Turns {
  double seconds = 0.2;  ///< for all pieces together
  size_t least = 5;      ///< how often each runs at least, however long that takes
  /// Measuring stops early if the last piece of work is so many times slower than the fastest.
  double hopeless = 1e9;
};

/// Runs pieces of work in turn and returns the typical time of each, in seconds.
std::vector<double> times_in_turn(const std::vector<std::function<void()>>& works,
                                  const Turns& turns);

}  // namespace lathe
