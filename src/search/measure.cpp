// measure.cpp: times of work that takes turns. Interface: measure.h.
#include "search/measure.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>

#include "base/statistics.h"

namespace lathe {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Returns how often work is run between two looks at the clock, so that the clock can tell.
int calls_for(const std::vector<std::function<void()>>& works) {
  constexpr double enough = 50e-6;  // seconds: far longer than a look at the clock takes
  double longest = 0;
  for (const auto& work : works) {
    auto begin = Clock::now();
    work();
    longest = std::max(longest, seconds_since(begin));
  }
  constexpr double most = 1000;  // calls, however short each is
  return static_cast<int>(std::clamp(enough / std::max(longest, 1e-9), 1.0, most));
}

/// Returns how often somebody else was given a processor instead of this process.
long interruptions() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
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

void Times::add(const std::function<void()>& work, int calls) {
  long before = interruptions();
  auto start = Clock::now();
  for (int c = 0; c < calls; ++c) work();
  double time = seconds_since(start) / calls;
  all.push_back(time);
  if (interruptions() == before) undisturbed.push_back(time);
}

std::vector<double> typical_times(const std::vector<Times>& times) {
  constexpr size_t enough = 3;         // the fewest of which the median leaves out an outlier
  constexpr double lower_part = 0.25;  // disturbed times are only ever too long
  bool quiet = std::all_of(times.begin(), times.end(),
                           [&](const Times& each) { return each.undisturbed.size() >= enough; });
  std::vector<double> result;
  for (const Times& each : times) {
    bool none = each.all.empty();
    result.push_back(none ? 0 : quiet ? median(each.undisturbed) : quantile(each.all, lower_part));
  }
  return result;
}

std::vector<double> times_in_turn(const std::vector<std::function<void()>>& works,
                                  const Turns& turns) {
  constexpr double patience = 2;  // times as long, for times that are undisturbed
  int calls = calls_for(works);
  std::vector<Times> times(works.size());
  auto is_done = [&](size_t round, double seconds) {
    if (round < turns.least || seconds < turns.seconds) return false;
    return seconds >= patience * turns.seconds ||
           std::all_of(times.begin(), times.end(),
                       [&](const Times& each) { return each.undisturbed.size() >= turns.least; });
  };
  // Early enough to save most of the time, late enough that a single disturbance does not decide.
  constexpr size_t first_look = 2, second_look = 8;
  auto begin = Clock::now();
  for (size_t round = 0; !is_done(round, seconds_since(begin)); ++round) {
    for (size_t i = 0; i < works.size(); ++i) times[i].add(works[i], calls);
    if (round != first_look && round != second_look) continue;
    std::vector<double> first = typical_times(times);
    if (first.back() > turns.hopeless * *std::min_element(first.begin(), first.end())) break;
  }
  return typical_times(times);
}

}  // namespace lathe
