// Random tests: case k of a test draws everything from (seed, k), so that one case can be repeated
// alone. A failing case ends the test and prints how to repeat it, and its story.
//
//   LATHE_SEED=7    another seed          LATHE_CASES=100   so many cases of each test
//   LATHE_CASE=42   this case alone       LATHE_FIRST_CASE=42   of these, without the first 42
//
// With LATHE_FIRST_CASE a long run goes on where it stopped, or several processes share it.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace lathe::test {

/// Draws the same values on every platform, which std's distributions do not promise.
class Random {
 public:
  Random(unsigned long seed, unsigned long stream) {
    std::seed_seq words{seed, seed >> 32, stream, stream >> 32};
    engine_.seed(words);
  }

  /// Draws an integer from "least" to "most".
  long between(long least, long most) {
    return least + static_cast<long>(engine_() % static_cast<unsigned long>(most - least + 1));
  }
  /// Is true "percent" times of a hundred.
  bool chance(long percent) { return between(1, 100) <= percent; }

  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<size_t>(between(0, static_cast<long>(from.size()) - 1))];
  }
  std::string pick(std::initializer_list<const char*> from) {
    return pick(std::vector<std::string>(from.begin(), from.end()));
  }

  template <class T>
  void shuffle(std::vector<T>& list) {
    for (size_t i = list.size(); i > 1; --i) {
      std::swap(list[i - 1], list[static_cast<size_t>(between(0, static_cast<long>(i) - 1))]);
    }
  }

 private:
  std::mt19937_64 engine_;
};

/// One case: where its values come from, and what it did so far.
struct Case {
  Random random;
  std::string story;
  std::string repeat = "";  ///< the variables that make it the only case
};

/// Returns the value of an environment variable, if it is a number.
inline long environment(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atol(text) : otherwise;
}

/// Runs "body" on so many cases, or until one fails. "body" takes a Case&.
template <class Body>
void for_each_case(long otherwise, Body body) {
  const char* test = testing::UnitTest::GetInstance()->current_test_info()->name();
  long seed = environment("LATHE_SEED", 20211);
  long cases = environment("LATHE_CASES", otherwise), only = environment("LATHE_CASE", -1);
  long first = only < 0 ? environment("LATHE_FIRST_CASE", 0) : only;
  long last = only < 0 ? cases : only + 1;
  std::cout << fmt::format("{}: seed {}, {} cases from case {} on\n", test, seed,
                           std::max(0L, last - first), first);
  for (long k = first; k < last; ++k) {
    Case trial{Random(static_cast<unsigned long>(seed), static_cast<unsigned long>(k)), "",
               fmt::format("LATHE_SEED={} LATHE_CASE={}", seed, k)};
    try {
      body(trial);
    } catch (const std::exception& error) {
      ADD_FAILURE() << "threw " << error.what();
    }
    if (!testing::Test::HasFailure()) {
      constexpr long told = 1000;  // a long run says how far it is
      bool tells = last - first > told && (k + 1) % told == 0;
      if (tells) std::cout << fmt::format("{}: cases {} to {} hold", test, first, k) << std::endl;
      continue;
    }
    ADD_FAILURE() << fmt::format("case {}; repeat it with {}\n{}", k, trial.repeat, trial.story);
    return;
  }
}

}  // namespace lathe::test
