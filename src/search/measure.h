// Times of work that takes turns: what disturbs one disturbs all.
#pragma once

#include <functional>
#include <vector>

namespace lathe {

/// Keeps the process on so many processors, the first that it may use.
void pin(int threads);

double median(std::vector<double> values);

struct Turns {
  double seconds = 0.2;  ///< for all together
  size_t least = 5;      ///< times each, whatever they take
  /// Stops early if the last piece of work is so many times slower than the fastest.
  double hopeless = 1e9;
};

/// Runs pieces of work in turn and returns the median time of each, in seconds.
std::vector<double> times_in_turn(const std::vector<std::function<void()>>& works,
                                  const Turns& turns);

}  // namespace lathe
