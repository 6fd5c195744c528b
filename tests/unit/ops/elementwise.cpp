// Operators that treat each element alone, against the same formula in C++.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "support/run_op.h"

namespace lathe::test {
namespace {

void expect_each(const std::string& name, std::vector<std::string> more,
                 const std::function<double(double)>& f) {
  for (const char* shape : {"(c=1)", "(n=1, c=2, h=3)", "(c=3, w=5)", "(n=3, c=1, h=7, w=1)"}) {
    more.push_back(name + shape);
  }
  for (const std::string& text : cases(name, more)) {
    SCOPED_TRACE(text);
    OpRun<double> run(text);
    Array<double> output = run.run().tensor("O"), wanted = run.tensor("I");
    for (double& x : wanted.data) x = f(x);
    expect_near(output, wanted);
  }
}

TEST(Elementwise, Relu) {
  expect_each("relu", {}, [](double x) { return x < 0 ? 0 : x; });
}

TEST(Elementwise, Sigmoid) {
  expect_each("sigmoid", {}, [](double x) { return 1 / (1 + std::exp(-x)); });
}

TEST(Elementwise, Tanh) {
  expect_each("tanh", {}, [](double x) { return std::tanh(x); });
}

TEST(Elementwise, Gelu) {
  expect_each("gelu", {}, [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); });
}

TEST(Elementwise, HardSwish) {
  expect_each("hard_swish", {}, [](double x) {
    return x <= -3 ? 0 : x >= 3 ? x : x * (x + 3) / 6;
  });
}

TEST(Elementwise, ClipIsRelu6UnlessToldOtherwise) {
  std::string shape = "(n=2, c=3, h=4, w=5";
  OpRun<long> plain("clip" + shape + ")");
  OpRun<long> told("clip" + shape + ", min=-5, max=-2)");
  Array<long> input = plain.tensor("I"), six = plain.run().tensor("O"),
              low = told.run().tensor("O");
  for (size_t i = 0; i < input.data.size(); ++i) {
    EXPECT_EQ(six.data[i], std::clamp(input.data[i], 0L, 6L));
    EXPECT_EQ(low.data[i], std::clamp(input.data[i], -5L, -2L));
  }
}

TEST(Elementwise, ClipEqualsClamp) {
  for (const std::string& text : cases("clip", {"clip(c=9, min=3, max=3)"})) {
    SCOPED_TRACE(text);
    OpRun<long> run(text);
    Array<long> output = run.run().tensor("O"), wanted = run.tensor("I");
    for (long& x : wanted.data) x = std::clamp(x, value(text, "min", 0), value(text, "max", 6));
    EXPECT_EQ(output, wanted);
  }
}

/// The shapes of add and mul: all dimensions, in both operands or in the first alone.
std::vector<std::string> pairs(const std::string& name) {
  return cases(name, {name + "(c=1)", name + "(n=2, c=3, h=4, w=5, bn=1, bc=1, bh=1, bw=1)",
                      name + "(n=2, c=3, h=4, w=5, bc=1)",
                      name + "(n=2, c=3, h=4, w=5, bn=1, bh=1)", name + "(c=3, h=4, w=5, bw=1)",
                      name + "(c=3, w=5, bc=1)", name + "(n=1, c=4, h=1, w=3, bh=1)"});
}

void expect_pairs(const std::string& name, const std::function<long(long, long)>& f) {
  for (const std::string& text : pairs(name)) {
    SCOPED_TRACE(text);
    OpRun<long> run(text);
    Array<long> output = run.run().tensor("O"), a = run.tensor("A"), b = run.tensor("B");
    ASSERT_EQ(a.shape.size(), b.shape.size());
    Array<long> wanted(a.shape);
    for (size_t k = 0; k < a.data.size(); ++k) {
      long rest = static_cast<long>(k), offset = 0, stride = 1;
      for (size_t i = a.shape.size(); i-- > 0;) {
        if (b.shape[i] > 1) offset += rest % a.shape[i] * stride;
        rest /= a.shape[i];
        stride *= b.shape[i];
      }
      wanted.data[k] = f(a.data[k], b.data[static_cast<size_t>(offset)]);
    }
    EXPECT_EQ(output, wanted);
  }
}

TEST(Elementwise, Add) {
  expect_pairs("add", [](long a, long b) { return a + b; });
}

TEST(Elementwise, Mul) {
  expect_pairs("mul", [](long a, long b) { return a * b; });
}

TEST(Elementwise, BroadcastOperandHasExtentOne) {
  EXPECT_EQ(OpRun<long>("mul(n=2, c=3, h=4, w=5, bh=1, bw=1)").tensor("B").shape,
            (std::vector<long>{2, 3, 1, 1}));
  EXPECT_EQ(OpRun<long>("add(c=3, w=5, bc=1)").tensor("B").shape, (std::vector<long>{1, 5}));
}

TEST(BatchNorm, NormalisesEachChannel) {
  for (const std::string& text :
       cases("batch_norm", {"batch_norm(c=1)", "batch_norm(n=3, c=5, h=1, w=7)"})) {
    SCOPED_TRACE(text);
    OpRun<double> run(text);
    for (double& x : run.elements("variance")) x = std::abs(x) / 4;
    Array<double> output = run.run().tensor("O"), wanted = run.tensor("I");
    auto channel = [&](const char* name, size_t c) { return run.tensor(name).data[c]; };
    size_t channels = run.tensor("mean").data.size();
    size_t area =
        wanted.data.size() / channels / static_cast<size_t>(std::max(value(text, "n", 0), 1L));
    for (size_t i = 0; i < wanted.data.size(); ++i) {
      size_t c = i / area % channels;
      double deviation = std::sqrt(channel("variance", c) + 1e-5);
      double normal = (wanted.data[i] - channel("mean", c)) / deviation;
      wanted.data[i] = normal * channel("scale", c) + channel("shift", c);
    }
    expect_near(output, wanted);
  }
}

}  // namespace
}  // namespace lathe::test
