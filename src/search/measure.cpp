// measure.cpp: times of work that takes turns. Interface: measure.h.
#include "search/measure.h"

#include <sched.h>

#include <algorithm>
#include <chrono>

namespace lathe {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Returns how often work is run between two looks at the clock, so that the clock can tell.
int calls_for(const std::vector<std::function<void()>>& works) {
  constexpr double enough = 50e-6;
  double longest = 0;
  for (const auto& work : works) {
    work();
    auto begin = Clock::now();
    work();
    longest = std::max(longest, seconds_since(begin));
  }
  return static_cast<int>(std::clamp(enough / std::max(longest, 1e-9), 1.0, 1000.0));
}

}  // namespace

void pin(int threads) {
  cpu_set_t all, some;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return;
  CPU_ZERO(&some);
  int found = 0;
  for (size_t cpu = 0; cpu < CPU_SETSIZE && found < threads; ++cpu) {
    if (!CPU_ISSET(cpu, &all)) continue;
    CPU_SET(cpu, &some);
    ++found;
  }
  sched_setaffinity(0, sizeof some, &some);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<double> times_in_turn(const std::vector<std::function<void()>>& works,
                                  const Turns& turns) {
  int calls = calls_for(works);
  std::vector<std::vector<double>> times(works.size());
  auto all_medians = [&] {
    std::vector<double> medians;
    for (const auto& each : times) medians.push_back(median(each));
    return medians;
  };
  auto begin = Clock::now();
  for (size_t round = 0; round < turns.least || seconds_since(begin) < turns.seconds; ++round) {
    for (size_t i = 0; i < works.size(); ++i) {
      auto start = Clock::now();
      for (int c = 0; c < calls; ++c) works[i]();
      times[i].push_back(seconds_since(start) / calls);
    }
    if (round != 2) continue;
    std::vector<double> first = all_medians();
    if (first.back() > turns.hopeless * *std::min_element(first.begin(), first.end())) break;
  }
  return all_medians();
}

}  // namespace lathe
