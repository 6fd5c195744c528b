// value_ranges.cpp: see value_ranges.h.
#include "capacity/value_ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "compile/executor.h"
#include "program/rebatch.h"

namespace lathe {
namespace {

/// Parts in which numbers are counted: eight for each integer.
constexpr size_t parts_of_range = 2048;

/// The share of numbers that Clipping::percentile cuts off.
constexpr double share_cut_off = 1e-4;

/// Where the ends of a range may be cut, as parts of the whole, from all of it on.
constexpr int cuts = 80;
constexpr double cut_step = 0.01;

constexpr double lowest = -128, highest = 127;  // of 8-bit integers

/// A number and how often it was seen.
struct Counted {
  double number, count;
};

/// Returns the middles of the parts in which numbers were counted.
std::vector<Counted> counted(const Seen& seen) {
  std::vector<Counted> result;
  double width = (seen.greatest - seen.least) / static_cast<double>(seen.counts.size());
  for (size_t i = 0; i < seen.counts.size(); ++i) {
    double middle = seen.least + (static_cast<double>(i) + 0.5) * width;
    if (seen.counts[i] > 0) result.push_back({middle, seen.counts[i]});
  }
  return result;
}

/// Returns the integers that stand for a range, which 0 is in.
Integers spread_over(double least, double greatest, ZeroPoint zero) {
  // Networks store scales as f32.
  auto rounded = [](double scale) {
    return std::max<double>(static_cast<float>(scale), std::numeric_limits<float>::min());
  };
  if (zero == ZeroPoint::none) return {rounded(std::max(-least, greatest) / highest), 0};
  double scale = rounded((greatest - least) / (highest - lowest));
  double at = std::clamp(std::round(lowest - least / scale), lowest, highest);
  return {scale, static_cast<long>(at)};
}

double squared_error(const std::vector<Counted>& numbers, const Integers& how) {
  double sum = 0;
  auto zero = static_cast<double>(how.zero);
  for (const Counted& each : numbers) {
    double integer = std::clamp(std::round(each.number / how.scale) + zero, lowest, highest);
    double error = (integer - zero) * how.scale - each.number;
    sum += each.count * error * error;
  }
  return sum;
}

/// Returns the integers of the least squared error among those for parts of a range.
Integers least_squares(const std::vector<Counted>& numbers, double least, double greatest,
                       ZeroPoint zero) {
  Integers best = spread_over(least, greatest, zero);
  double error = squared_error(numbers, best);
  for (int cut = 1; cut < cuts; ++cut) {
    double part = 1 - cut_step * cut;
    Integers other = spread_over(part * least, part * greatest, zero);
    double of_other = squared_error(numbers, other);
    if (of_other < error) {
      error = of_other;
      best = other;
    }
  }
  return best;
}

/// The ends of a range.
struct Ends {
  double least, greatest;
};

/// Returns the range without so many numbers at each end.
Ends without_ends(const std::vector<Counted>& numbers, double each) {
  auto reach = [&](auto from, auto to) {
    double passed = 0;
    for (; from != to; ++from) {
      passed += from->count;
      if (passed > each) return from->number;
    }
    return 0.0;
  };
  double least = std::min(0.0, reach(numbers.begin(), numbers.end()));
  double greatest = std::max(0.0, reach(numbers.rbegin(), numbers.rend()));
  return {least, greatest};
}

void widen(Seen& seen, const Array& values) {
  for (double number : values.reals()) {
    if (!std::isfinite(number)) {
      seen.finite = false;
      continue;
    }
    seen.least = std::min(seen.least, number);
    seen.greatest = std::max(seen.greatest, number);
  }
}

void count(Seen& seen, const Array& values) {
  double range = seen.greatest - seen.least;
  auto last = static_cast<double>(parts_of_range - 1);
  for (double number : values.reals()) {
    if (!std::isfinite(number)) continue;
    double part = std::min(last, (number - seen.least) / range * parts_of_range);
    seen.counts[static_cast<size_t>(part)] += 1;
  }
}

}  // namespace

std::optional<Clipping> clipping_named(std::string_view name) {
  if (name == "minmax") return Clipping::minmax;
  if (name == "percentile") return Clipping::percentile;
  if (name == "mse") return Clipping::mse;
  return std::nullopt;
}

void watch(const Graph& network, const std::vector<ValueId>& values,
           const std::vector<Array>& minibatches, const WatchOptions& options,
           const std::function<void(size_t, const std::vector<Array>&)>& look) {
  Graph probe = network;
  probe.outputs = values;
  probe = without_dead(probe);
  if (probe.inputs.size() != 1)
    fail("'{}' must have one input, not {}", probe.name, probe.inputs.size());
  long samples = minibatches.front().shape().at(0);
  if (probe.values[probe.inputs[0]].type.shape.at(0) != samples) probe = rebatched(probe, samples);
  ExecutorOptions how;
  how.threads = options.threads;
  Executor executor(probe, how);
  for (size_t i = 0; i < minibatches.size(); ++i) {
    look(i, executor.run({minibatches[i]}));
    if (options.progress) options.progress(i + 1, minibatches.size());
  }
}

std::vector<Seen> seen_values(const Graph& network, const std::vector<std::vector<ValueId>>& groups,
                              const std::vector<Array>& minibatches, const WatchOptions& options) {
  if (minibatches.empty()) fail("there are no samples to look at values with");
  std::vector<ValueId> values;
  std::vector<size_t> group_of;
  for (size_t g = 0; g < groups.size(); ++g) {
    for (ValueId id : groups[g]) {
      values.push_back(id);
      group_of.push_back(g);
    }
  }
  std::vector<Seen> seen(groups.size());
  watch(network, values, minibatches, options, [&](size_t, const std::vector<Array>& found) {
    for (size_t i = 0; i < found.size(); ++i) widen(seen[group_of[i]], found[i]);
  });
  for (Seen& each : seen) each.counts.assign(each.is_zero() ? 0 : parts_of_range, 0);
  watch(network, values, minibatches, options, [&](size_t, const std::vector<Array>& found) {
    for (size_t i = 0; i < found.size(); ++i) {
      if (!seen[group_of[i]].is_zero()) count(seen[group_of[i]], found[i]);
    }
  });
  return seen;
}

Integers integers_for(const Seen& seen, Clipping clipping, ZeroPoint zero) {
  check(seen.finite && !seen.is_zero(), "integers are chosen for numbers");
  std::vector<Counted> numbers = counted(seen);
  if (clipping == Clipping::mse) return least_squares(numbers, seen.least, seen.greatest, zero);
  if (clipping == Clipping::minmax) return spread_over(seen.least, seen.greatest, zero);
  double all = 0;
  for (const Counted& each : numbers) all += each.count;
  auto [least, greatest] = without_ends(numbers, all * share_cut_off / 2);
  bool nothing_left = least == greatest;  // nearly all are 0
  return nothing_left ? spread_over(seen.least, seen.greatest, zero)
                      : spread_over(least, greatest, zero);
}

double scale_of_weights(std::span<const double> weights, Clipping clipping) {
  double largest = 0;
  std::vector<Counted> numbers;
  for (double weight : weights) {
    largest = std::max(largest, std::abs(weight));
    numbers.push_back({weight, 1});
  }
  if (largest == 0) return 1;
  // A channel has few weights: all of them are in the range, unless errors say otherwise.
  if (clipping == Clipping::mse) {
    return least_squares(numbers, -largest, largest, ZeroPoint::none).scale;
  }
  return spread_over(-largest, largest, ZeroPoint::none).scale;
}

}  // namespace lathe
