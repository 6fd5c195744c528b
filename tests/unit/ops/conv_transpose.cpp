// The transposed convolution against a plain loop over inputs and kernel elements.
#include "support/run_call.h"

namespace lathe::test {
namespace {

struct Case {
  std::string text;
  Shape strides, dilations, before;
  long groups;
  Shape output;
};

Shape joined(std::initializer_list<long> first, const Shape& rest) {
  Shape result = first;
  result.insert(result.end(), rest.begin(), rest.end());
  return result;
}

std::vector<double> scattered(const CallRun& run, const Case& test) {
  const Shape &input = run.inputs[0].shape(), &weight = run.inputs[1].shape();
  std::vector<double> x = run.inputs[0].reals(), w = run.inputs[1].reals();
  std::vector<double> result(static_cast<size_t>(count_of(test.output)), 0);
  Shape inner(input.begin() + 2, input.end()), kernel(weight.begin() + 2, weight.end());
  long per_group = input[1] / test.groups;
  for_each_index(joined({input[0], input[1], weight[1]}, inner), [&](const Shape& i) {
    for_each_index(kernel, [&](const Shape& k) {
      long group = i[1] / per_group;
      Shape to{i[0], group * weight[1] + i[2]}, from(i.begin() + 3, i.end());
      for (size_t d = 0; d < k.size(); ++d) {
        to.push_back(from[d] * test.strides[d] + k[d] * test.dilations[d] - test.before[d]);
      }
      if (!is_inside(test.output, to)) return;
      result[offset(test.output, to)] +=
          x[offset(input, joined({i[0], i[1]}, from))] * w[offset(weight, joined({i[1], i[2]}, k))];
    });
  });
  if (run.inputs.size() < 3) return result;
  std::vector<double> bias = run.inputs[2].reals();
  for_each_index(test.output, [&](const Shape& at) {
    result[offset(test.output, at)] += bias[static_cast<size_t>(at[1])];
  });
  return result;
}

TEST(ConvTranspose, EqualsScatteredProducts) {
  const std::vector<Case> all = {
      {"(f64[1x2x3x4], f64[2x3x3x2])", {1, 1}, {1, 1}, {0, 0}, 1, {1, 3, 5, 5}},
      {"(f64[2x4x5], f64[4x1x3], f64[2], groups=2, strides=[2], pads=[1, 2], output_pads=[1])",
       {2},
       {1},
       {1},
       2,
       {2, 2, 9}},
      {"(f64[1x1x3x3], f64[1x2x2x2], f64[2], dilations=[2, 1], output_pads=[0, 1], strides=[1, 3])",
       {1, 3},
       {2, 1},
       {0, 0},
       1,
       {1, 2, 5, 9}},
      {"(f64[1x2x2x1x3], f64[2x2x2x1x2], strides=[1, 2, 3])",
       {1, 2, 3},
       {1, 1, 1},
       {0, 0, 0},
       1,
       {1, 2, 3, 1, 8}},
      // The padding cuts off all that the first inputs and kernel elements reach.
      {"(f64[1x1x3], f64[1x1x3], pads=[4, 0])", {1}, {1}, {4}, 1, {1, 1, 1}},
      {"(f64[2x3x4x3], f64[3x2x3x3], f64[2], pads=[3, 1, 0, 2], strides=[2, 1], dilations=[1, 2])",
       {2, 1},
       {1, 2},
       {3, 1},
       1,
       {2, 2, 6, 4}},
      {"(f64[1x2x2], f64[2x1x2], pads=[0, 1], output_pads=[1], strides=[3])",
       {3},
       {1},
       {0},
       1,
       {1, 1, 5}},
      {"(f64[1x1x1], f64[1x1x1], f64[1])", {1}, {1}, {0}, 1, {1, 1, 1}},
  };
  for (const Case& test : all) {
    SCOPED_TRACE(test.text);
    CallRun run("conv_transpose" + test.text);
    ASSERT_EQ(run.outputs[0].shape(), test.output);
    expect_elements(run.outputs[0], scattered(run, test));
  }
}

TEST(ConvTranspose, RefusesWhatMakesNoSense) {
  expect_call_error("conv_transpose(f32[1x2x3], f32[3x2x2])",
                    "conv_transpose: weights 3x2x2 in 1 groups do not fit the input 1x2x3");
  expect_call_error("conv_transpose(f32[1x3x3], f32[3x2x2], groups=2)", "in 2 groups do not fit");
  expect_call_error("conv_transpose(f32[1x2x3], f32[2x2x2], f32[3])", "must have 2 elements");
  expect_call_error("conv_transpose(f32[1x2x2], f32[2x2x2], pads=[2, 1])",
                    "conv_transpose: pads=[2, 1] leave no output");
  expect_call_error("conv_transpose(f32[1x2x2], f32[2x2x2], strides=[0])",
                    "strides=[0]: 0 is out of range");
  expect_call_error("conv_transpose(f32[1x2], f32[2x2])", "needs a batch, channels and rows");
}

}  // namespace
}  // namespace lathe::test
