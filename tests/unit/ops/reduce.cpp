// Reductions, and the normalisations made of them, against plain loops.
#include <limits>

#include "support/run_call.h"

namespace lathe::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// What becomes of the elements that a reduction combines.
using Combine = std::function<double(const std::vector<double>&)>;

std::vector<double> reduced(const lathe::Array& x, const std::vector<bool>& over,
                            const Combine& combine) {
  Shape kept = x.shape();
  for (size_t i = 0; i < kept.size(); ++i) kept[i] = over[i] ? 1 : kept[i];
  std::vector<std::vector<double>> groups(static_cast<size_t>(count_of(kept)));
  std::vector<double> values = x.reals(), result;
  for_each_index(x.shape(), [&](const Shape& index) {
    Shape to = index;
    for (size_t i = 0; i < to.size(); ++i) to[i] = over[i] ? 0 : to[i];
    groups[offset(kept, to)].push_back(values[offset(x.shape(), index)]);
  });
  for (const auto& group : groups) result.push_back(combine(group));
  return result;
}

double sum(const std::vector<double>& x) {
  double total = 0;
  for (double value : x) total += value;
  return total;
}

double sum_of(const std::vector<double>& x, double (*f)(double)) {
  double total = 0;
  for (double value : x) total += f(value);
  return total;
}

double square(double x) { return x * x; }
double magnitude(double x) { return std::abs(x); }
double exponential(double x) { return std::exp(x); }

struct Case {
  std::string operands;
  std::vector<bool> over;
  Shape shape;
};

const std::vector<Case> cases_of_reduction = {
    {"(f64[2x3x5])", {true, true, true}, {1, 1, 1}},
    {"(f64[2x3x5], keep=0)", {true, true, true}, {}},
    {"(f64[2x3x5], axes=[1])", {false, true, false}, {2, 1, 5}},
    {"(f64[2x3x5x1], axes=[-2, 0], keep=0)", {true, false, true, false}, {3, 1}},
    {"(f64[7], axes=[-1], keep=0)", {true}, {}},
    {"(f64[1x4], axes=[0])", {true, false}, {1, 4}},
    {"(f64[])", {}, {}},
    {"(f64[2x1x3x1x2x2], axes=[1, 4])",
     {false, true, false, false, true, false},
     {2, 1, 3, 1, 1, 2}},
};

void expect_reduction(const std::string& name, const Combine& combine) {
  for (const Case& test : cases_of_reduction) {
    SCOPED_TRACE(name + test.operands);
    CallRun run(name + test.operands);
    EXPECT_EQ(run.outputs[0].shape(), test.shape);
    expect_elements(run.outputs[0], reduced(run.inputs[0], test.over, combine));
  }
}

TEST(Reduce, Sum) { expect_reduction("reduce_sum", sum); }

TEST(Reduce, Mean) {
  expect_reduction("reduce_mean", [](const std::vector<double>& x) {
    return sum(x) / static_cast<double>(x.size());
  });
}

TEST(Reduce, Max) {
  expect_reduction("reduce_max", [](const std::vector<double>& x) {
    return *std::max_element(x.begin(), x.end());
  });
}

TEST(Reduce, Min) {
  expect_reduction("reduce_min", [](const std::vector<double>& x) {
    return *std::min_element(x.begin(), x.end());
  });
}

TEST(Reduce, L1) {
  expect_reduction("reduce_l1", [](const auto& x) { return sum_of(x, magnitude); });
}

TEST(Reduce, L2) {
  expect_reduction("reduce_l2", [](const auto& x) { return std::sqrt(sum_of(x, square)); });
}

TEST(Reduce, SumSquare) {
  expect_reduction("reduce_sum_square", [](const auto& x) { return sum_of(x, square); });
}

TEST(Reduce, LogSum) {
  expect_reduction("reduce_log_sum", [](const auto& x) { return std::log(sum(x)); });
}

TEST(Reduce, LogSumExp) {
  expect_reduction("reduce_log_sum_exp",
                   [](const auto& x) { return std::log(sum_of(x, exponential)); });
  CallRun large("reduce_log_sum_exp(f64[2])", {reals({2}, {1000, 1000})});
  expect_elements(large.outputs[0], {1000 + std::log(2)});
}

TEST(Reduce, Prod) {
  expect_reduction("reduce_prod", [](const std::vector<double>& x) {
    double product = 1;
    for (double value : x) product *= value;
    return product;
  });
  CallRun integral("reduce_prod(i64[3])", {integers({3}, {1L << 40, 3, 1L << 20})});
  EXPECT_EQ(integral.outputs[0].integer(), 3 * (1L << 60));
}

TEST(Reduce, WorksOnIntegers) {
  lathe::Array x = integers({2, 3}, {3, -4, 100, 5, -128, 120}, Element::i8);
  expect_elements(CallRun("reduce_max(i8[2x3], axes=[1])", {x}).outputs[0], {100, 120});
  expect_elements(CallRun("reduce_min(i8[2x3], axes=[1])", {x}).outputs[0], {-4, -128});
  expect_elements(CallRun("reduce_mean(i8[2x3], axes=[0])", {x}).outputs[0], {4, -66, 110});
  expect_elements(
      CallRun("reduce_l2(i8[2x3], axes=[1])", {integers({2, 3}, {0, 3, 4, 2, 2, 1}, Element::i8)})
          .outputs[0],
      {5, 3});
  expect_elements(
      CallRun("reduce_sum(i64[2], axes=[0])", {integers({2}, {1L << 60, 1})}).outputs[0],
      {static_cast<double>((1L << 60) + 1)});
  EXPECT_EQ(CallRun("reduce_sum(i64[2])", {integers({2}, {1L << 60, 1})}).outputs[0].integer(),
            (1L << 60) + 1);
}

TEST(Reduce, MinOfUnsignedAndTruthValues) {
  expect_elements(
      CallRun("reduce_min(u8[3])", {integers({3}, {255, 7, 0}, Element::u8)}).outputs[0], {0});
  expect_elements(CallRun("reduce_min(u64[2])", {integers({2}, {9, 8}, Element::u64)}).outputs[0],
                  {8});
  lathe::Array b = integers({3, 2}, {0, 0, 1, 0, 1, 1}, Element::boolean);
  expect_elements(CallRun("reduce_max(bool[3x2], axes=[1])", {b}).outputs[0], {0, 1, 1});
  expect_elements(CallRun("reduce_min(bool[3x2], axes=[1])", {b}).outputs[0], {0, 0, 1});
}

TEST(Reduce, OfNothingHasAValue) {
  auto of_none = [](const std::string& name, const std::string& element = "f64") {
    CallRun run(name + "(" + element + "[2x0], axes=[1])");
    EXPECT_EQ(run.outputs[0].shape(), (Shape{2, 1}));
    return run.outputs[0].reals();
  };
  auto both = [](double value) { return std::vector<double>{value, value}; };
  for (const char* name : {"reduce_sum", "reduce_l1", "reduce_l2", "reduce_sum_square"}) {
    EXPECT_EQ(of_none(name), both(0)) << name;
  }
  EXPECT_EQ(of_none("reduce_prod"), both(1));
  EXPECT_EQ(of_none("reduce_prod", "i32"), both(1));
  EXPECT_EQ(of_none("reduce_max"), both(-infinity));
  EXPECT_EQ(of_none("reduce_min"), both(infinity));
  EXPECT_EQ(of_none("reduce_log_sum"), both(-infinity));
  EXPECT_EQ(of_none("reduce_log_sum_exp"), both(-infinity));
  EXPECT_TRUE(std::isnan(of_none("reduce_mean")[0]));
  EXPECT_EQ(of_none("reduce_max", "i8"), both(-128));
  EXPECT_EQ(of_none("reduce_min", "u8"), both(255));
  EXPECT_EQ(of_none("reduce_max", "bool"), both(0));
  EXPECT_EQ(of_none("reduce_min", "bool"), both(1));
  EXPECT_EQ(CallRun("reduce_sum(f64[0x3], axes=[1])").outputs[0].shape(), (Shape{0, 1}));
}

TEST(Reduce, RefusesWhatMakesNoSense) {
  expect_call_error("reduce_sum(f32[2x3], axes=[2])",
                    "reduce_sum: axes=[2]: 2 is no axis of a tensor with 2 dimensions");
  expect_call_error("reduce_max(f32[2x3], axes=[1, -1])", "axes=[1, -1]: -1 is given twice");
  expect_call_error("reduce_min(string[2])", "reduce_min: operand 0 is text");
  expect_call_error("reduce_prod(string[2])", "reduce_prod: operand 0 is text");
  expect_call_error("reduce_mean(i32[0])", "reduce_mean: 0 has no elements to reduce");
  expect_call_error("reduce_sum(f32[2], keep=2)", "attribute 'keep' must be 0 or 1, not 2");
}

/// Calls "visit" with the offsets of the elements of each line along "axis".
void for_each_line(const Shape& shape, size_t axis,
                   const std::function<void(const std::vector<size_t>&)>& visit) {
  Shape starts = shape;
  starts[axis] = 1;
  for_each_index(starts, [&](const Shape& start) {
    std::vector<size_t> line;
    Shape index = start;
    for (index[axis] = 0; index[axis] < shape[axis]; ++index[axis]) {
      line.push_back(offset(shape, index));
    }
    visit(line);
  });
}

const std::vector<std::pair<std::string, size_t>> cases_of_softmax = {
    {"(f64[2x5], axis=1)", 1}, {"(f64[3x4x2], axis=-2)", 1}, {"(f64[7])", 0},
    {"(f64[3x1])", 1},         {"(f64[5x1x3], axis=0)", 0},
};

std::vector<double> softmax_of(const lathe::Array& x, size_t axis) {
  std::vector<double> y = x.reals();
  for_each_line(x.shape(), axis, [&](const std::vector<size_t>& line) {
    double total = 0;
    for (size_t i : line) total += std::exp(y[i]);
    for (size_t i : line) y[i] = std::exp(y[i]) / total;
  });
  return y;
}

TEST(Softmax, DividesExponentialsByTheirSum) {
  for (const auto& [operands, axis] : cases_of_softmax) {
    SCOPED_TRACE(operands);
    CallRun run("softmax" + operands), logarithm("log_softmax" + operands);
    std::vector<double> wanted = softmax_of(run.inputs[0], axis);
    expect_elements(run.outputs[0], wanted);
    for (double& x : wanted) x = std::log(x);
    expect_elements(logarithm.outputs[0], wanted);
  }
}

TEST(Softmax, TakesLargeElementsAndEmptyTensors) {
  lathe::Array x = reals({2}, {10000, 10001});
  double e = std::exp(1.0);
  expect_elements(CallRun("softmax(f64[2])", {x}).outputs[0], {1 / (1 + e), e / (1 + e)});
  expect_elements(CallRun("log_softmax(f64[2])", {x}).outputs[0],
                  {-std::log(1 + e), 1 - std::log(1 + e)});
  EXPECT_EQ(CallRun("softmax(f64[0x3])").outputs[0].shape(), (Shape{0, 3}));
  CallRun half("softmax(f16[3x4])");
  expect_elements(half.outputs[0], softmax_of(half.inputs[0], 1), 1e-3);
}

TEST(Softmax, RefusesWhatMakesNoSense) {
  expect_call_error("softmax(f32[2], axis=1)",
                    "softmax: axis=1 is no axis of a tensor with 1 dimensions");
  expect_call_error("log_softmax(i32[2])", "operand 0 must be of a float type, not i32");
}

void expect_layer_norm(const std::string& operands, size_t axis, double epsilon) {
  SCOPED_TRACE(operands);
  CallRun run("layer_norm" + operands);
  const Shape& shape = run.inputs[0].shape();
  Shape kept = shape;
  std::vector<bool> over(shape.size(), false);
  for (size_t i = axis; i < shape.size(); ++i) {
    over[i] = true;
    kept[i] = 1;
  }
  auto mean = [](const std::vector<double>& x) { return sum(x) / static_cast<double>(x.size()); };
  std::vector<double> means = reduced(run.inputs[0], over, mean);
  std::vector<double> factors = reduced(run.inputs[0], over, [&](const std::vector<double>& group) {
    std::vector<double> squares;
    for (double x : group) squares.push_back(square(x - mean(group)));
    return 1 / std::sqrt(mean(squares) + epsilon);
  });
  auto broadcast = [&](size_t operand, const Shape& index) {
    const lathe::Array& array = run.inputs[operand];
    Shape own = array.shape(), at(own.size());
    for (size_t i = 0; i < own.size(); ++i) {
      at[i] = own[i] == 1 ? 0 : index[shape.size() - own.size() + i];
    }
    return array.reals()[offset(own, at)];
  };
  std::vector<double> wanted, x = run.inputs[0].reals();
  for_each_index(shape, [&](const Shape& index) {
    Shape to = index;
    for (size_t i = axis; i < to.size(); ++i) to[i] = 0;
    size_t group = offset(kept, to);
    double shift = run.inputs.size() > 2 ? broadcast(2, index) : 0;
    wanted.push_back(
        (x[offset(shape, index)] - means[group]) * factors[group] * broadcast(1, index) + shift);
  });
  expect_elements(run.outputs[0], wanted);
  EXPECT_EQ(run.outputs[1].shape(), kept);
  expect_elements(run.outputs[1], means);
  expect_elements(run.outputs[2], factors);
}

TEST(LayerNorm, NormalisesTheLastDimensions) {
  expect_layer_norm("(f64[2x3x4], f64[4], f64[4])", 2, 1e-5);
  expect_layer_norm("(f64[2x3x4], f64[3x4], axis=1, epsilon=0.1)", 1, 0.1);
  expect_layer_norm("(f64[5], f64[1], f64[5], axis=0)", 0, 1e-5);
  expect_layer_norm("(f64[2x3x1x5], f64[3x1x1], f64[5], axis=-3)", 1, 1e-5);
}

TEST(LayerNorm, RefusesWhatMakesNoSense) {
  expect_call_error("layer_norm(f32[2x3], f32[2])",
                    "layer_norm: operand 1, 2, does not broadcast to 2x3");
  expect_call_error("layer_norm(f32[2x3], f64[3])", "the types f32 and f64 do not go together");
}

TEST(Lrn, SumsTheChannelsAround) {
  for (long size : {1, 2, 3, 4, 9}) {
    CallRun run(fmt::format("lrn(f64[2x5x3], size={}, alpha=0.5, beta=0.6, bias=1.5)", size));
    std::vector<double> x = run.inputs[0].reals(), wanted;
    for_each_index({2, 5, 3}, [&](const Shape& at) {
      double squares = 0;
      for (long c = at[1] - (size - 1) / 2; c <= at[1] + size / 2; ++c) {
        if (c >= 0 && c < 5) squares += square(x[offset({2, 5, 3}, {at[0], c, at[2]})]);
      }
      wanted.push_back(x[offset({2, 5, 3}, at)] /
                       std::pow(1.5 + 0.5 / static_cast<double>(size) * squares, 0.6));
    });
    expect_elements(run.outputs[0], wanted);
  }
  expect_call_error("lrn(f32[2x5])", "lrn: attribute 'size' is missing");
  expect_call_error("lrn(f32[2x5], size=0)", "lrn: size=0 is out of range");
  expect_call_error("lrn(f32[5], size=1)", "lrn: the input 5 has no channels");
}

}  // namespace
}  // namespace lathe::test
