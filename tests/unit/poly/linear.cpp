// Arithmetic on functions taken apart: what is simplified, and that it stays the same function.
#include "poly/linear.h"

#include <gtest/gtest.h>

#include "support/random_case.h"

namespace lathe::poly {
namespace {

const std::vector<std::string> names = {"x", "y", "z"};

Affine linear(std::vector<long> coefficients, long constant = 0) {
  Affine a;
  a.coefficients = std::move(coefficients);
  a.constant = constant;
  return a;
}

TEST(Linear, FloorsThatTheRangesShow) {
  struct {
    Affine of;
    long divisor;
    std::vector<Interval> ranges;
    const char* wanted;
  } table[] = {
      {linear({16, 1, 0}), 16, {{0, 9}, {0, 15}, {0, 0}}, "x"},
      {linear({16, 1, 0}), 16, {{0, 9}, {0, 16}, {0, 0}}, "x + y / 16"},
      {linear({4, 1, 0}), 16, {{0, 9}, {0, 3}, {0, 0}}, "x / 4"},
      {linear({8, 1, 0}, 5), 16, {{0, 9}, {0, 2}, {0, 0}}, "x / 2"},
      {linear({32, 2, 1}), 64, {{0, 9}, {0, 15}, {0, 1}}, "x / 2"},
      {linear({32, 2, 1}), 64, {{0, 9}, {0, 16}, {0, 1}}, "(16*x + y) / 32"},
      {linear({32, 16, 1}), 16, {{0, 3}, {0, 1}, {0, 15}}, "2*x + y"},
      {linear({1, 0, 0}, 48), 16, {{0, 15}, {0, 0}, {0, 0}}, "3"},
      {linear({1, 0, 0}, -1), 16, {{0, 0}, {0, 0}, {0, 0}}, "-1"},
      {linear({0, 0, 0}, 35), 16, {{0, 0}, {0, 0}, {0, 0}}, "2"},
  };
  for (const auto& [of, divisor, ranges, wanted] : table) {
    EXPECT_EQ(text(floor_of(of, divisor, ranges), names), wanted)
        << "(" << text(of, names) << ") / " << divisor;
  }
}

TEST(Linear, SumsJoinEqualFloors) {
  std::vector<Interval> ranges{{0, 99}, {0, 99}, {0, 0}};
  Affine half = floor_of(linear({1, 1, 0}), 2, ranges);
  EXPECT_EQ(text(plus(half, half), names), "2*((x + y) / 2)");
  EXPECT_EQ(text(plus(half, half, -1), names), "0");
  EXPECT_TRUE(same(plus(half, half, 3), plus(plus(half, half), half, 2)));
}

/// Draws a function of three coordinates, with floors in floors.
Affine random_function(test::Random& random, const std::vector<Interval>& ranges, int floors) {
  Affine a = constant_of(3, random.between(-9, 9));
  for (long& c : a.coefficients) {
    c = random.chance(30) ? 0 : random.pick(std::vector<long>{1, -1, 2, 3, 4, -4, 8, 16, 32});
  }
  for (; floors > 0; --floors) {
    Affine inner = random_function(random, ranges, random.chance(30) ? 1 : 0);
    a = plus(a, floor_of(inner, random.between(2, 16), ranges), random.between(-3, 8));
  }
  return a;
}

/// Returns  a % divisor,  written  a - divisor * (a / divisor).
Affine remainder(const Affine& a, long divisor) {
  Affine floor = a;
  floor.divisor *= divisor;
  Affine result = a;
  result.floors.push_back({-divisor, floor});
  return result;
}

template <class Visit>
void for_each_point(const std::vector<Interval>& ranges, Visit visit) {
  std::vector<long> at(3);
  for (at[0] = ranges[0].lower; at[0] <= ranges[0].upper; ++at[0]) {
    for (at[1] = ranges[1].lower; at[1] <= ranges[1].upper; ++at[1]) {
      for (at[2] = ranges[2].lower; at[2] <= ranges[2].upper; ++at[2]) visit(at);
    }
  }
}

std::vector<Interval> random_ranges(test::Random& random) {
  std::vector<Interval> ranges;
  for (int i = 0; i < 3; ++i) {
    long lower = random.chance(60) ? 0 : random.between(-3, 5);
    ranges.push_back({lower, lower + random.pick(std::vector<long>{0, 0, 1, 3, 4, 7})});
  }
  return ranges;
}

long floor_div(long a, long b) { return (a - ((a % b) + b) % b) / b; }

TEST(Linear, SimplifiedFunctionsAreTheSame) {
  test::for_each_case(3000, [](test::Case& trial) {
    std::vector<Interval> ranges = random_ranges(trial.random);
    Affine a = random_function(trial.random, ranges, static_cast<int>(trial.random.between(0, 2)));
    Affine b = random_function(trial.random, ranges, 1);
    long divisor = trial.random.between(1, 16), factor = trial.random.between(-3, 3);
    trial.story = fmt::format("({}) / {}\n", text(a, names), divisor);
    for (const Interval& range : ranges) {
      trial.story += fmt::format("from {} to {}\n", range.lower, range.upper);
    }
    Affine quotient = floor_of(a, divisor, ranges), narrow = narrowed(a, ranges);
    Affine sum = plus(a, b, factor);
    Interval within = bounds(a, ranges);
    for_each_point(ranges, [&](const std::vector<long>& at) {
      long value = evaluate(a, at);
      ASSERT_EQ(evaluate(quotient, at), floor_div(value, divisor));
      ASSERT_EQ(evaluate(narrow, at), value);
      ASSERT_EQ(evaluate(sum, at), value + factor * evaluate(b, at));
      ASSERT_LE(within.lower, value);
      ASSERT_GE(within.upper, value);
    });
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_FALSE(ranges[i].size() == 1 && involved(narrow)[i]);
    }
  });
}

TEST(Linear, BoundsOfLinearFunctionsAreExact) {
  test::for_each_case(500, [](test::Case& trial) {
    std::vector<Interval> ranges = random_ranges(trial.random);
    Affine a = random_function(trial.random, ranges, 0);
    Interval within = bounds(a, ranges), is{1L << 40, -(1L << 40)};
    for_each_point(ranges, [&](const std::vector<long>& at) {
      is = {std::min(is.lower, evaluate(a, at)), std::max(is.upper, evaluate(a, at))};
    });
    EXPECT_EQ(within.lower, is.lower);
    EXPECT_EQ(within.upper, is.upper);
  });
}

TEST(Linear, RemaindersHaveTightBounds) {
  struct {
    const char* what;
    Affine of;
    std::vector<Interval> ranges;
    Interval wanted;
  } table[] = {
      {"x % 4", remainder(linear({1, 0, 0}), 4), {{0, 99}, {0, 0}, {0, 0}}, {0, 3}},
      {"x % 4 where it is less", remainder(linear({1, 0, 0}), 4), {{0, 2}, {0, 0}, {0, 0}}, {0, 2}},
      {"(3*x + y) % 7", remainder(linear({3, 1, 0}), 7), {{0, 99}, {0, 9}, {0, 0}}, {0, 6}},
      {"4*z + x % 4",
       plus(linear({0, 0, 4}), remainder(linear({1, 0, 0}), 4)),
       {{0, 99}, {0, 0}, {0, 5}},
       {0, 23}},
      {"y - x % 4",
       plus(linear({0, 1, 0}), remainder(linear({1, 0, 0}), 4), -1),
       {{0, 99}, {0, 9}, {0, 0}},
       {-3, 9}},
  };
  for (const auto& [what, of, ranges, wanted] : table) {
    Interval found = bounds(of, ranges);
    EXPECT_EQ(found.lower, wanted.lower) << what;
    EXPECT_EQ(found.upper, wanted.upper) << what;
  }
}

TEST(Linear, BoundsOfRemaindersHold) {
  test::for_each_case(2000, [](test::Case& trial) {
    std::vector<Interval> ranges = random_ranges(trial.random);
    Affine a = random_function(trial.random, ranges, 0);
    for (long count = trial.random.between(1, 2); count > 0; --count) {
      Affine inner = random_function(trial.random, ranges, trial.random.chance(30) ? 1 : 0);
      long divisor = trial.random.between(2, 9);
      a = plus(a, remainder(inner, divisor), trial.random.between(-3, 3));
    }
    trial.story = text(a, names) + "\n";
    Interval within = bounds(a, ranges);
    for_each_point(ranges, [&](const std::vector<long>& at) {
      ASSERT_LE(within.lower, evaluate(a, at));
      ASSERT_GE(within.upper, evaluate(a, at));
    });
  });
}

}  // namespace
}  // namespace lathe::poly
