// Statistics, against values of NumPy and mpmath, and against their definitions.
#include "base/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

using List = std::vector<double>;

const List x = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};
const List y = {2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4};
const double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Statistics, Summaries) {
  EXPECT_DOUBLE_EQ(mean(x), 4);
  EXPECT_DOUBLE_EQ(deviation(x), 2.3664319132398464);
  EXPECT_DOUBLE_EQ(median(x), 4);
  EXPECT_DOUBLE_EQ(median(List{1, 2, 4, 8}), 3);
  EXPECT_DOUBLE_EQ(quantile(x, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(x, 0.25), 2.5);
  EXPECT_DOUBLE_EQ(quantile(x, 0.9), 6);
  EXPECT_DOUBLE_EQ(quantile(x, 1), 9);
  EXPECT_DOUBLE_EQ(quantile(List{7}, 0.3), 7);
  EXPECT_EQ(deviation(List{2, 2, 2}), 0);
}

TEST(Statistics, Ranks) {
  EXPECT_EQ(ranks(List{10, 30, 10, 20}), (List{1.5, 4, 1.5, 3}));
  EXPECT_EQ(ranks(List{5, 5, 5}), (List{2, 2, 2}));
  EXPECT_EQ(ranks(List{}), List{});
}

TEST(Statistics, Correlations) {
  EXPECT_NEAR(pearson(x, y), 0.09422924859889797, 1e-15);
  EXPECT_NEAR(spearman(x, y), 0.1384567651467695, 1e-15);
  EXPECT_NEAR(kendall(x, y), 0.14757295747452437, 1e-15);
  List up = {1, 2, 3, 4}, curved = {1, 4, 9, 16}, down = {4, 3, 2, 1};
  EXPECT_DOUBLE_EQ(spearman(up, curved), 1);
  EXPECT_DOUBLE_EQ(kendall(up, curved), 1);
  EXPECT_DOUBLE_EQ(spearman(up, down), -1);
  EXPECT_DOUBLE_EQ(kendall(up, down), -1);
}

/// Counts all pairs, as the definition does.
double kendall_by_pairs(const List& a, const List& b) {
  auto sign = [](double v) { return v > 0 ? 1 : v < 0 ? -1 : 0; };
  double balance = 0, in_a = 0, in_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      balance += sign(a[i] - a[j]) * sign(b[i] - b[j]);
      in_a += std::abs(sign(a[i] - a[j]));
      in_b += std::abs(sign(b[i] - b[j]));
    }
  }
  return balance / std::sqrt(in_a * in_b);
}

TEST(Statistics, KendallIsThatOfItsDefinition) {
  Random random(11);
  for (size_t count = 2; count < 60; ++count) {
    for (uint64_t values : {2, 3, 10, 1000}) {
      List a, b;
      for (size_t i = 0; i < count; ++i) {
        a.push_back(static_cast<double>(random.below(values)));
        b.push_back(static_cast<double>(random.below(values)));
      }
      a.front() = b.front() = -1;  // not all equal
      EXPECT_NEAR(kendall(a, b), kendall_by_pairs(a, b), 1e-14) << count << " " << values;
    }
  }
}

TEST(Statistics, RocArea) {
  std::vector<bool> marked;
  for (double v : y) marked.push_back(v >= 4);
  EXPECT_NEAR(roc_area(x, marked), 0.5166666666666667, 1e-15);
  EXPECT_EQ(roc_area(List{1, 2, 3, 4}, {false, false, true, true}), 1);
  EXPECT_EQ(roc_area(List{1, 2, 3, 4}, {true, true, false, false}), 0);
  EXPECT_EQ(roc_area(List{5, 5, 5}, {true, false, false}), 0.5);
}

TEST(Statistics, IncompleteBeta) {
  EXPECT_NEAR(incomplete_beta(2, 3, 0.4), 0.5248, 1e-14);
  EXPECT_NEAR(incomplete_beta(0.5, 0.5, 0.1), 0.20483276469913346, 1e-14);
  EXPECT_NEAR(incomplete_beta(5, 0.5, 0.99), 0.7571581091015624, 1e-14);
  EXPECT_NEAR(incomplete_beta(30, 40, 0.5), 0.88579988732335151, 1e-13);
  EXPECT_NEAR(incomplete_beta(0.5, 10, 0.001), 0.11110329087513969, 1e-14);
  EXPECT_NEAR(incomplete_beta(200, 300, 0.45), 0.98814634562026288, 1e-12);
  EXPECT_EQ(incomplete_beta(2, 3, 0), 0);
  EXPECT_EQ(incomplete_beta(2, 3, 1), 1);
}

TEST(Statistics, StudentQuantiles) {
  EXPECT_NEAR(student_quantile(0.975, 1), 12.70620473617469, 1e-11);
  EXPECT_NEAR(student_quantile(0.975, 2), 4.302652729749462, 1e-12);
  EXPECT_NEAR(student_quantile(0.975, 9), 2.262157162798205, 1e-12);
  EXPECT_NEAR(student_quantile(0.975, 30), 2.042272456301238, 1e-12);
  EXPECT_NEAR(student_quantile(0.995, 4), 4.604094871349992, 1e-12);
  EXPECT_NEAR(student_quantile(0.9, 1000), 1.282398721460925, 1e-11);
  EXPECT_NEAR(student_quantile(0.6, 3.5), 0.2732654540557796, 1e-12);
  EXPECT_NEAR(student_quantile(0.9999, 5), 9.677566300882814, 1e-10);
  EXPECT_EQ(student_quantile(0.5, 7), 0);
  EXPECT_NEAR(student_quantile(0.025, 9), -student_quantile(0.975, 9), 1e-12);
}

TEST(Statistics, IntervalOfTheMean) {
  Interval interval = mean_interval(x);
  EXPECT_NEAR(interval.low, 2.410209408732996, 1e-12);
  EXPECT_NEAR(interval.high, 5.589790591267004, 1e-12);
  EXPECT_EQ(mean_interval(List{3, 3, 3}), (Interval{3, 3}));
}

TEST(Statistics, Bootstrap) {
  Random random(5);
  List numbers;
  for (int i = 0; i < 400; ++i) numbers.push_back(2 + random.normal());
  auto statistic = [&](std::span<const size_t> chosen) { return mean(picked(numbers, chosen)); };
  Interval interval = bootstrap(numbers.size(), statistic, {.level = 0.9, .seed = 3});
  // Of so many, the interval is that of the normal distribution.
  double reach = 1.6448536269514722 * deviation(numbers) / 20;
  EXPECT_NEAR(interval.low, mean(numbers) - reach, 0.01);
  EXPECT_NEAR(interval.high, mean(numbers) + reach, 0.01);
  EXPECT_EQ(bootstrap(numbers.size(), statistic, {.level = 0.9, .seed = 3}), interval);
  EXPECT_NE(bootstrap(numbers.size(), statistic, {.level = 0.9, .seed = 4}), interval);
}

TEST(Statistics, SamplesWithoutAValueDoNotCount) {
  // Of three observations, one sample in nine is one of them three times: it has no order.
  List a = {1, 2, 3}, b = {1, 3, 2};
  Interval interval = bootstrap(3, [&](std::span<const size_t> chosen) {
    return spearman(picked(a, chosen), picked(b, chosen));
  });
  EXPECT_DOUBLE_EQ(interval.low, -1);
  EXPECT_DOUBLE_EQ(interval.high, 1);
  expect_failure([&] { bootstrap(3, [](std::span<const size_t>) { return nan; }); },
                 {"bootstrap: of 2000 samples, only 0 have a value"});
}

TEST(Statistics, WhatCannotBeSaid) {
  expect_failure([] { mean(List{}); }, {"mean: 0 numbers where at least 1 is needed"});
  expect_failure([] { deviation(List{1}); }, {"deviation: 1 number where at least 2 are needed"});
  expect_failure([] { median(List{1, nan}); }, {"quantile: number 2 of 2 is NaN"});
  expect_failure([] { quantile(List{1, 2}, 1.5); }, {"the share 1.5 is not from 0 to 1"});
  expect_failure(
      [] {
        deviation(List{1, std::numeric_limits<double>::infinity()});
      },
      {"number 2 of 2 is infinite"});
  for (auto* correlation : {pearson, spearman, kendall}) {
    expect_failure([&] { correlation(List{1}, List{1}); }, {"1 number where at least 2"});
    expect_failure([&] { correlation(List{1, 2}, List{1, 2, 3}); }, {"2 numbers and 3 make no"});
    expect_failure([&] { correlation(List{2, 2}, List{1, 2}); }, {"all 2 numbers are equal to 2"});
    expect_failure([&] { correlation(List{1, 2}, List{1, nan}); }, {"number 2 of 2 is NaN"});
  }
  expect_failure([] { roc_area(List{1, 2}, {true, true}); }, {"all numbers are marked"});
  expect_failure([] { roc_area(List{1, 2}, {false, false}); }, {"no numbers are marked"});
  expect_failure([] { mean_interval(List{1}); }, {"mean_interval: 1 number"});
  expect_failure([] { mean_interval(List{1, 2}, 1); }, {"the level 1 is not between 0 and 1"});
  expect_failure([] { student_quantile(0.9, 0); }, {"0 degrees of freedom"});
  expect_failure([] { bootstrap(1, [](std::span<const size_t>) { return 0.0; }); },
                 {"bootstrap: 1 observations where at least 2"});
}

}  // namespace
}  // namespace lathe::test
