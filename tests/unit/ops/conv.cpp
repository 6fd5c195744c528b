// The convolutions (conv, depthwise) against direct sums.
#include <gtest/gtest.h>

#include <random>

#include "support/run_op.h"

namespace lathe::test {
namespace {

/// One output of a convolution: the weights are [filter, channel in the group, row, column].
long direct_sum(const std::string& text, const Array<long>& input, const Array<long>& weight,
                std::initializer_list<long> output) {
  long stride = value(text, "stride", 1), dilation = value(text, "dilation", 1);
  long pad = value(text, "pad", 0), groups = value(text, "groups", 1);
  const long* at = output.begin();
  long n = at[0], co = at[1], oh = at[2], ow = at[3];
  long first = co / (weight.shape[0] / groups) * weight.shape[1];
  long sum = 0;
  for (long ci = 0; ci < weight.shape[1]; ++ci) {
    for (long kh = 0; kh < weight.shape[2]; ++kh) {
      for (long kw = 0; kw < weight.shape[3]; ++kw) {
        long row = oh * stride + kh * dilation - pad, column = ow * stride + kw * dilation - pad;
        if (!input.has({n, first + ci, row, column})) continue;
        sum += weight({co, ci, kh, kw}) * input({n, first + ci, row, column});
      }
    }
  }
  return sum;
}

Array<long> convolve(const std::string& text, const Array<long>& input, const Array<long>& weight,
                     const Array<long>& bias) {
  Array<long> output({input.shape[0], weight.shape[0], value(text, "oh", 0), value(text, "ow", 0)});
  for (long n = 0; n < output.shape[0]; ++n) {
    for (long co = 0; co < output.shape[1]; ++co) {
      for (long oh = 0; oh < output.shape[2]; ++oh) {
        for (long ow = 0; ow < output.shape[3]; ++ow) {
          output({n, co, oh, ow}) = bias({co}) + direct_sum(text, input, weight, {n, co, oh, ow});
        }
      }
    }
  }
  return output;
}

Array<long> bias_of(const OpRun<long>& run, const std::string& text, long channels) {
  return value(text, "bias", 0) == 1 ? run.tensor("B") : Array<long>({channels});
}

TEST(Conv, EqualsDirectSums) {
  for (const std::string& text :
       cases("conv", {"conv(co=3, ci=5, oh=7, ow=6, k=1)", "conv(co=1, ci=1, oh=1, ow=1, k=1)",
                      "conv(n=1, co=2, ci=3, oh=4, ow=5, k=3, pad=1, bias=1)",
                      "conv(n=3, co=4, ci=6, oh=3, ow=5, k=3, stride=2, pad=1, groups=2, bias=1)",
                      "conv(co=4, ci=4, oh=3, ow=3, k=2, stride=3, groups=4)",
                      "conv(co=3, ci=2, oh=5, ow=3, kh=5, kw=2, dilation=3, pad=2)",
                      "conv(co=2, ci=2, oh=4, ow=4, k=3, kw=1, stride=2, dilation=2)",
                      "conv(co=2, ci=3, oh=1, ow=9, k=7, stride=2, pad=3)"})) {
    SCOPED_TRACE(text);
    OpRun<long> run(text);
    Array<long> output = run.run().tensor("O").raised_to(4);
    Array<long> bias = bias_of(run, text, value(text, "co", 0));
    EXPECT_EQ(output, convolve(text, run.tensor("I").raised_to(4), run.tensor("W"), bias));
  }
}

TEST(Conv, StoresJustTheInputThatWindowsSpan) {
  OpRun<long> run("conv(n=2, co=4, ci=6, oh=5, ow=4, kh=3, kw=5, stride=2, dilation=3, pad=1)");
  EXPECT_EQ(run.tensor("I").shape, (std::vector<long>{2, 6, 13, 17}));
  EXPECT_EQ(run.elements("I").size(), 2u * 6 * 15 * 19);
}

TEST(Conv, HasNoBatchDimensionWithoutSamples) {
  EXPECT_EQ(OpRun<long>("conv(co=2, ci=2, oh=3, ow=3, k=1)").tensor("O").shape.size(), 3u);
  EXPECT_EQ(OpRun<long>("conv(n=1, co=2, ci=2, oh=3, ow=3, k=1)").tensor("O").shape.size(), 4u);
}

TEST(Conv, OfFullSizeEqualsDirectSums) {
  std::string text = "conv(co=64, ci=64, oh=28, ow=28, k=3, pad=1)";
  OpRun<long> run(text);
  Array<long> output = run.run().tensor("O").raised_to(4);
  Array<long> input = run.tensor("I").raised_to(4), weight = run.tensor("W");
  std::mt19937 random(7);
  for (int i = 0; i < 50; ++i) {
    long co = random() % 64, oh = random() % 28, ow = random() % 28;
    EXPECT_EQ(output({0, co, oh, ow}), direct_sum(text, input, weight, {0, co, oh, ow}));
  }
}

TEST(Depthwise, IsAConvolutionOfEachChannel) {
  for (const std::string& text :
       cases("depthwise", {"depthwise(c=1, oh=1, ow=1, k=1)",
                           "depthwise(n=1, c=5, oh=4, ow=3, k=5, pad=2, bias=1)",
                           "depthwise(n=3, c=2, oh=3, ow=5, kh=3, kw=2, stride=3, pad=1)",
                           "depthwise(c=3, oh=2, ow=4, k=3, stride=2, dilation=3, pad=3)"})) {
    SCOPED_TRACE(text);
    OpRun<long> run(text);
    long channels = value(text, "c", 0);
    Array<long> output = run.run().tensor("O").raised_to(4), weight = run.tensor("W");
    weight.shape.insert(weight.shape.begin() + 1, 1);
    std::string grouped = text + " groups=" + std::to_string(channels);
    Array<long> bias = bias_of(run, text, channels);
    EXPECT_EQ(output, convolve(grouped, run.tensor("I").raised_to(4), weight, bias));
  }
}

}  // namespace
}  // namespace lathe::test
