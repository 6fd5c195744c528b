// The p-norm under a window against a plain loop.
#include "support/run_call.h"

namespace lathe::test {
namespace {

struct Case {
  std::string text;
  Shape kernel, strides, dilations, before;
  double p;
  Shape output;
};

std::vector<double> norms(const lathe::Array& x, const Case& test) {
  std::vector<double> values = x.reals(), result;
  for_each_index(test.output, [&](const Shape& o) {
    double total = 0;
    for_each_index(test.kernel, [&](const Shape& k) {
      Shape from{o[0], o[1]};
      for (size_t d = 0; d < k.size(); ++d) {
        from.push_back(o[d + 2] * test.strides[d] + k[d] * test.dilations[d] - test.before[d]);
      }
      if (!is_inside(x.shape(), from)) return;
      total += std::pow(std::abs(values[offset(x.shape(), from)]), test.p);
    });
    result.push_back(std::pow(total, 1 / test.p));
  });
  return result;
}

TEST(LpPool, EqualsNormsOfWindows) {
  const std::vector<Case> all = {
      {"(f64[1x2x5x6], kernel=[2, 3], pads=[0, 1, 1, 2], strides=[2, 2])",
       {2, 3},
       {2, 2},
       {1, 1},
       {0, 1},
       2,
       {1, 2, 3, 4}},
      {"(f64[2x3x7], kernel=[3], p=3, dilations=[2])", {3}, {1}, {2}, {0}, 3, {2, 3, 3}},
      {"(f64[1x1x4x4], kernel=[3, 2], strides=[2, 3], p=1, ceil=1)",
       {3, 2},
       {2, 3},
       {1, 1},
       {0, 0},
       1,
       {1, 1, 2, 2}},
      {"(f64[2x1x3x3x2], kernel=[2, 2, 2])",
       {2, 2, 2},
       {1, 1, 1},
       {1, 1, 1},
       {0, 0, 0},
       2,
       {2, 1, 2, 2, 1}},
  };
  for (const Case& test : all) {
    SCOPED_TRACE(test.text);
    CallRun run("lp_pool" + test.text);
    ASSERT_EQ(run.outputs[0].shape(), test.output);
    expect_elements(run.outputs[0], norms(run.inputs[0], test));
  }
  expect_call_error("lp_pool(f32[1x1x3], kernel=[2], p=0)", "lp_pool: p=0 must be at least 1");
  expect_call_error("lp_pool(i32[1x1x3], kernel=[2])", "must be of a float type, not i32");
}

}  // namespace
}  // namespace lathe::test
