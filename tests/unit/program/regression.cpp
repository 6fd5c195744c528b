// Nests that are linear in their weights: program/regression.h.
#include "program/regression.h"

#include <gtest/gtest.h>

#include "ops/op.h"
#include "program/random_inputs.h"

namespace lathe {
namespace {

/// Returns an array with padding around it, as the tensor says.
std::vector<double> stored(const Array& array, const Tensor& tensor) {
  std::vector<double> inner = array.reals(),
                      result(static_cast<size_t>(count_of(tensor.shape)), tensor.padding);
  Shape shape = inner_shape(tensor);
  for (size_t i = 0; i < inner.size(); ++i) {
    long rest = static_cast<long>(i), place = 0, stride = 1;
    for (size_t d = shape.size(); d-- > 0;) {
      place += stride * (rest % shape[d] + tensor.pad[d].before);
      stride *= tensor.shape[d];
      rest /= shape[d];
    }
    result[static_cast<size_t>(place)] = inner[i];
  }
  return result;
}

/// Computes the output of a call by its regression, and compares it with the interpreter's.
void expect_same(const std::string& text) {
  SCOPED_TRACE(text);
  Context context;
  Call call = parse_call(text);
  Nest nest = nest_of(context, call);
  std::optional<Regression> found = regression_of(nest);
  ASSERT_TRUE(found.has_value());
  std::vector<Array> operands;
  for (size_t i = 0; i < call.inputs(); ++i) {
    operands.push_back(random_array(call.type(i), 2, 20261117, std::to_string(i)));
  }
  std::map<size_t, std::vector<double>> of_tensor;
  size_t next = 0;
  for (size_t t = 0; t < nest.tensors().size(); ++t) {
    Role role = nest.tensors()[t].role;
    if (role != Role::input && role != Role::weight) continue;
    of_tensor[t] = stored(operands[next++], nest.tensors()[t]);
  }
  std::vector<double> wanted = evaluate(context, call, operands).front().reals();
  std::vector<int> written(wanted.size(), 0);
  for (const RegressionBlock& block : found->blocks) {
    for (size_t p = 0; p < found->inputs_at.size(); ++p) {
      for (size_t f = 0; f < block.outputs.size(); ++f) {
        double sum = 0;
        for (size_t k = 0; k < block.regressors.size(); ++k) {
          sum += of_tensor[found->weight]
                          [static_cast<size_t>(block.weights[f * block.regressors.size() + k])] *
                 of_tensor[found->input]
                          [static_cast<size_t>(found->inputs_at[p] + block.regressors[k])];
        }
        if (found->bias) sum += of_tensor[*found->bias][static_cast<size_t>(block.biases[f])];
        auto place = static_cast<size_t>(found->outputs_at[p] + block.outputs[f]);
        EXPECT_NEAR(sum, wanted[place], 1e-4) << place;
        ++written[place];
      }
    }
  }
  for (int times : written) EXPECT_EQ(times, 1);
}

TEST(Regression, ComputesWhatTheOperatorDoes) {
  expect_same("conv(f32[2x4x6x5], weight f32[6x4x3x3], pads=[1, 1, 1, 1])");
  expect_same("conv(f32[2x4x6x5], weight f32[6x4x3x3], weight f32[6], pads=[1, 0, 1, 2])");
  expect_same("conv(f32[1x4x7x7], weight f32[6x2x3x3], weight f32[6], groups=2, strides=[2, 2])");
  expect_same("conv(f32[1x4x6x6], weight f32[4x1x3x3], groups=4, dilations=[2, 1])");
  expect_same("conv(f32[2x4x5], weight f32[3x4x2])");
  expect_same("fully_connected(f32[3x5], weight f32[4x5], weight f32[4])");
  expect_same("matmul(f32[3x5], weight f32[5x4])");
}

TEST(Regression, OfOtherNestsThereIsNone) {
  Context context;
  for (const char* text : {"relu(f32[2x3])", "max_pool(f32[1x2x4x4], kernel=[2, 2])",
                           "matmul(f32[3x5], f32[5x4])", "add(f32[2x3], weight f32[2x3])"}) {
    EXPECT_FALSE(regression_of(nest_of(context, parse_call(text)))) << text;
  }
}

}  // namespace
}  // namespace lathe
