// Statistics of small samples: means, correlations, intervals.
//
//   spearman(scores, accuracies)                                    0.87
//   bootstrap(scores.size(), [&](std::span<const size_t> chosen) {
//     return spearman(picked(scores, chosen), picked(accuracies, chosen));
//   })                                                              {0.79, 0.92}
//
// A function fails with a UserError where it has no answer: for too few numbers, for a NaN, and for
// numbers that are all equal where they must differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace lathe {

using Numbers = std::span<const double>;

/// Returns the mean, and the standard deviation of the population that the numbers are drawn from:
/// the sum of squares is divided by one less than their count.
double mean(Numbers numbers);
double deviation(Numbers numbers);

/// Returns the number below which the share "q" of the numbers lies, interpolated between the two
/// nearest (as NumPy does); the median is that of one half.
double quantile(Numbers numbers, double q);
double median(Numbers numbers);

/// Returns the rank of each number, from 1 up; equal numbers share the mean of their
/// ranks.
std::vector<double> ranks(Numbers numbers);

/// Return how well y follows x, from -1 to 1: along a line (Pearson), in its order (Spearman, with
/// shared ranks for ties; Kendall's tau-b, from the pairs that are ordered alike).
double pearson(Numbers x, Numbers y);
double spearman(Numbers x, Numbers y);
double kendall(Numbers x, Numbers y);

/// Returns the area under the receiver operating characteristic: the share of pairs in which the
/// marked number is larger than the unmarked one. Equal numbers count one half.
double roc_area(Numbers numbers, const std::vector<bool>& marked);

/// The numbers from "low" to "high".
struct Interval {
  double low = 0, high = 0;

  friend bool operator==(const Interval&, const Interval&) = default;
};

/// How an interval is found by drawing samples again.
struct Resampling {
  double level = 0.95;  ///< how likely the interval holds the true value
  int samples = 2000;
  uint64_t seed = 0;
};

/// Returns the interval of a statistic of "count" observations. Samples of as many are drawn with
/// repetition; the interval is between quantiles of their statistics. The statistic gets the places
/// of the observations that were drawn. A sample for which it is NaN, or fails with a UserError,
/// does not count. Fails where that is so for more than half of the samples.
Interval bootstrap(size_t count, const std::function<double(std::span<const size_t>)>& statistic,
                   const Resampling& resampling = {});

/// Returns the numbers at these places.
std::vector<double> picked(Numbers numbers, std::span<const size_t> places);

/// Returns the interval of the mean of the population, by Student's distribution.
Interval mean_interval(Numbers numbers, double level = 0.95);

/// Returns the number below which a variable of Student's distribution lies with a probability.
double student_quantile(double probability, double degrees_of_freedom);

/// Returns the regularised incomplete beta function I_x(a, b): the probability that a variable of
/// the beta distribution is less than x.
double incomplete_beta(double a, double b, double x);

}  // namespace lathe
