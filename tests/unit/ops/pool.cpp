// The pools (max_pool, avg_pool, global_pool) against windows walked by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "support/run_op.h"

namespace lathe::test {
namespace {

/// Returns, for each output, what "summary" makes of the values under its window that are no
/// padding; it is also given the size of the whole window.
template <class T, class Summary>
Array<T> pooled(const std::string& text, const Array<T>& input, Summary summary) {
  long stride = value(text, "stride", 1), dilation = value(text, "dilation", 1);
  long pad = value(text, "pad", 0), k = value(text, "k", 0);
  long rows = value(text, "kh", k), columns = value(text, "kw", k);
  Array<T> output({input.shape[0], input.shape[1], value(text, "oh", 0), value(text, "ow", 0)});
  for (long n = 0; n < output.shape[0]; ++n) {
    for (long c = 0; c < output.shape[1]; ++c) {
      for (long oh = 0; oh < output.shape[2]; ++oh) {
        for (long ow = 0; ow < output.shape[3]; ++ow) {
          std::vector<T> values;
          for (long i = 0; i < rows * columns; ++i) {
            long row = oh * stride + i / columns * dilation - pad;
            long column = ow * stride + i % columns * dilation - pad;
            if (input.has({n, c, row, column})) values.push_back(input({n, c, row, column}));
          }
          output({n, c, oh, ow}) = summary(values, rows * columns);
        }
      }
    }
  }
  return output;
}

TEST(MaxPool, IsTheLargestValueUnderTheWindow) {
  for (const std::string& text :
       cases("max_pool", {"max_pool(c=1, oh=1, ow=1, k=1)", "max_pool(c=1, oh=1, ow=1, k=3, pad=1)",
                          "max_pool(n=1, c=3, oh=5, ow=7, k=3, pad=1)",
                          "max_pool(n=3, c=2, oh=4, ow=2, kh=2, kw=5, stride=3, pad=1)",
                          "max_pool(c=2, oh=3, ow=5, k=3, stride=2, dilation=3, pad=2)"})) {
    SCOPED_TRACE(text);
    OpRun<long> run(text);
    Array<long> output = run.run().tensor("O").raised_to(4);
    auto largest = [](const std::vector<long>& values, long) {
      return *std::max_element(values.begin(), values.end());
    };
    EXPECT_EQ(output, pooled<long>(text, run.tensor("I").raised_to(4), largest));
  }
}

TEST(MaxPool, PaddingIsLowerThanAnyValue) {
  OpRun<double> run("max_pool(c=2, oh=3, ow=3, k=3, pad=1)");
  for (double& x : run.elements("I")) x = x == 0 ? -1e30 : -std::abs(x) - 1e30;
  Array<double> output = run.run().tensor("O");
  for (double x : output.data) EXPECT_LT(x, -1e29);
  EXPECT_EQ(run.elements("I").front(), -std::numeric_limits<double>::infinity());
}

const std::vector<std::string> avg_pools = {
    "avg_pool(c=1, oh=1, ow=1, k=1)",
    "avg_pool(c=2, oh=1, ow=1, k=3, pad=1)",
    "avg_pool(n=1, c=3, oh=5, ow=7, k=3, pad=1)",
    "avg_pool(n=1, c=3, oh=5, ow=7, k=3, pad=1, count_pad=1)",
    "avg_pool(n=2, c=2, oh=4, ow=2, kh=3, kw=5, stride=3, pad=2)",
    "avg_pool(c=2, oh=3, ow=1, kh=2, kw=4, stride=5, pad=1)",
    "avg_pool(c=1, oh=4, ow=5, k=3, stride=2, pad=2)",
};

TEST(AvgPool, IsTheMeanUnderTheWindow) {
  for (const std::string& text : cases("avg_pool", avg_pools)) {
    SCOPED_TRACE(text);
    OpRun<double> run(text);
    Array<double> output = run.run().tensor("O").raised_to(4);
    bool count_pad = value(text, "count_pad", 0) == 1;
    auto mean = [&](const std::vector<double>& values, long window) {
      double sum = std::accumulate(values.begin(), values.end(), 0.0);
      return sum / (count_pad ? static_cast<double>(window) : static_cast<double>(values.size()));
    };
    expect_near(output, pooled<double>(text, run.tensor("I").raised_to(4), mean));
  }
}

TEST(AvgPool, DomainsStartAtZero) {
  for (const std::string& text : cases("avg_pool", avg_pools)) {
    SCOPED_TRACE(text);
    OpRun<double> run(text);
    for (const Statement& s : run.nest().statements()) {
      for (size_t i = 0; i < s.dims.size(); ++i) EXPECT_EQ(poly::range(s.domain, i).lower, 0);
    }
  }
}

TEST(GlobalPool, IsTheMeanOfTheChannel) {
  for (const std::string& text :
       cases("global_pool", {"global_pool(c=1, h=1, w=1)", "global_pool(n=1, c=5, h=7, w=3)"})) {
    SCOPED_TRACE(text);
    OpRun<double> run(text);
    Array<double> output = run.run().tensor("O");
    Array<double> input = run.tensor("I").raised_to(4);
    Array<double> wanted({input.shape[0], input.shape[1]});
    long area = input.shape[2] * input.shape[3];
    for (size_t i = 0; i < input.data.size(); ++i) {
      wanted.data[i / static_cast<size_t>(area)] += input.data[i] / static_cast<double>(area);
    }
    EXPECT_EQ(output.shape.size(), value(text, "n", 0) > 0 ? 2u : 1u);
    expect_near(output.raised_to(2), wanted);
  }
}

}  // namespace
}  // namespace lathe::test
