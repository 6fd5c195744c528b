// transform_permute.cpp: orders of channels as steps. Interface: transform_permute.h.
#include "transforms/transform_permute.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "transforms/transform.h"

namespace lathe {
namespace {

/// Counts the channels that a step must name, at least one: those behind them are in order.
size_t named_count(const std::vector<long>& order) {
  size_t first = order.size() - 1;  // of those in order
  while (first > 0 && order[first - 1] < order[first]) --first;
  return std::max<size_t>(first, 1);
}

/// Returns how far channels count up, or down, from a place on; 1 if they do not.
size_t run_length(const std::vector<long>& order, size_t first, size_t end) {
  if (first + 1 >= end) return 1;
  long step = order[first + 1] - order[first];
  if (std::abs(step) != 1) return 1;
  size_t next = first + 1;
  while (next < end && order[next] == order[next - 1] + step) ++next;
  return next - first;
}

}  // namespace

Step permute_step(const std::vector<long>& order) {
  check(!order.empty(), "a layer has channels");
  Step step{"permute", {}};
  size_t end = named_count(order);
  for (size_t at = 0; at < end;) {
    size_t length = run_length(order, at, end);
    constexpr size_t shortest_range = 3;
    if (length < shortest_range) {
      step.args.emplace_back(order[at++]);
    } else {
      step.args.emplace_back(Range{order[at], order[at + length - 1]});
      at += length;
    }
  }
  return step;
}

std::vector<long> order_of(const Step& step, long channels) {
  check_arguments(step);
  std::vector<long> order;
  std::vector<bool> named(static_cast<size_t>(channels), false);
  auto add = [&](long channel) {
    if (channel < 0 || channel >= channels) {
      fail("{}: there is no channel {}; they count from 0 to {}", print(step), channel,
           channels - 1);
    }
    if (named[static_cast<size_t>(channel)]) {
      fail("{}: channel {} is named twice", print(step), channel);
    }
    named[static_cast<size_t>(channel)] = true;
    order.push_back(channel);
  };
  for (const Arg& arg : step.args) {
    if (auto* number = std::get_if<long>(&arg)) {
      add(*number);
      continue;
    }
    auto [first, last] = std::get<Range>(arg);
    for (long channel = first; channel != last; channel += first < last ? 1 : -1) add(channel);
    add(last);
  }
  for (long channel = 0; channel < channels; ++channel) {
    if (!named[static_cast<size_t>(channel)]) order.push_back(channel);
  }
  return order;
}

}  // namespace lathe
