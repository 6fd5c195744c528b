// What values of a network are while it runs on samples, and which 8-bit integers stand for them
// best.
//
//   std::vector<Seen> seen = seen_values(network, {{x}, {a, b}}, minibatches, options);
//   Integers how = integers_for(seen[0], Clipping::mse);    number = (integer - zero) * scale
//
// Numbers beyond the range of the integers are cut off: that loses little where they are few, and
// all others are told apart better.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "graph/graph.h"

namespace lathe {

/// What is cut off.
enum class Clipping {
  minmax,      ///< nothing
  percentile,  ///< a ten-thousandth of all numbers, at both ends together
  mse,         ///< so much that the mean squared error is least
};

/// Finds a way by its name: "minmax", "percentile", "mse".
std::optional<Clipping> clipping_named(std::string_view name);

/// What was seen of some values together.
struct Seen {
  bool finite = true;               ///< are all of them numbers, and none infinite?
  double least = 0, greatest = 0;   ///< of those and 0, which always has an integer
  std::vector<double> counts = {};  ///< in equal parts of that range, from the least on

  /// Is no number but 0 among them?
  bool is_zero() const { return least == 0 && greatest == 0; }
};

/// How a network is run to be looked at.
struct WatchOptions {
  int threads = 1;
  std::function<void(size_t, size_t)> progress = nullptr;  ///< gets the runs done, and of how many
};

/// Runs a network on samples, which are minibatches of its only input, and hands out these values
/// of it.
void watch(const Graph& network, const std::vector<ValueId>& values,
           const std::vector<Array>& minibatches, const WatchOptions& options,
           const std::function<void(size_t minibatch, const std::vector<Array>& found)>& look);

/// Returns what each group of values is, on all samples together.
std::vector<Seen> seen_values(const Graph& network, const std::vector<std::vector<ValueId>>& groups,
                              const std::vector<Array>& minibatches, const WatchOptions& options);

/// Which numbers 8-bit integers with a sign stand for.
struct Integers {
  double scale = 1;
  long zero = 0;
};

/// Are integers of one zero point enough, or must that be 0?
enum class ZeroPoint { any, none };

/// Returns the integers for what was seen, which is finite and not only 0.
Integers integers_for(const Seen& seen, Clipping clipping, ZeroPoint zero = ZeroPoint::any);

/// Returns the scale of integers from -127 to 127 for the weights of one channel. All are 0: 1.
double scale_of_weights(std::span<const double> weights, Clipping clipping);

}  // namespace lathe
