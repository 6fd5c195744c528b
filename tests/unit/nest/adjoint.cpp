// Gradients of nests against finite differences, for every operator that has a nest.
#include "nest/adjoint.h"

#include <gtest/gtest.h>

#include <random>

#include "nest/derivative.h"
#include "nest/interpret.h"
#include "ops/op.h"
#include "transforms/transform.h"

namespace lathe {
namespace {

/// Calls "visit" with the place of every element that is no padding: in a tensor as it is stored.
void each_element(const Tensor& tensor, const std::function<void(size_t offset)>& visit) {
  std::vector<long> at(tensor.shape.size(), 0);
  for (size_t offset = 0;; ++offset) {
    bool inside = true;
    for (size_t d = 0; d < at.size(); ++d) {
      inside =
          inside && at[d] >= tensor.pad[d].before && at[d] < tensor.shape[d] - tensor.pad[d].after;
    }
    if (inside) visit(offset);
    size_t d = at.size();
    while (d > 0 && ++at[d - 1] == tensor.shape[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

/// The elements of a tensor without its padding.
std::vector<double> elements(const Tensor& tensor, const std::vector<double>& stored) {
  std::vector<double> result;
  each_element(tensor, [&](size_t offset) { result.push_back(stored[offset]); });
  return result;
}

void set_elements(const Tensor& tensor, std::vector<double>& stored,
                  const std::vector<double>& values) {
  size_t next = 0;
  each_element(tensor, [&](size_t offset) { stored[offset] = values.at(next++); });
  EXPECT_EQ(next, values.size());
}

/// A nest on values of its own, with the derivative of a weighted sum of its outputs.
class Case {
 public:
  Case(const Nest& nest, unsigned seed) : nest_(nest), random_(seed) {
    values_ = make_buffers<double>(nest);
    for (size_t t = 0; t < nest.tensors().size(); ++t) {
      const Tensor& tensor = nest.tensors()[t];
      if (is_operand(tensor)) each_element(tensor, [&](size_t i) { values_[t][i] = draw(); });
      if (tensor.role == Role::output) {
        factors_.emplace_back(values_[t].size());
        for (double& factor : factors_.back()) factor = draw();
      }
    }
  }

  static bool is_operand(const Tensor& tensor) {
    return tensor.role == Role::input || tensor.role == Role::weight;
  }

  Buffers<double> run(const Buffers<double>& values) const {
    Buffers<double> result = values;
    interpret(nest_, result);
    return result;
  }

  double weighted_sum(const Buffers<double>& values) const {
    Buffers<double> done = run(values);
    double sum = 0;
    size_t output = 0;
    for (size_t t = 0; t < nest_.tensors().size(); ++t) {
      if (nest_.tensors()[t].role != Role::output) continue;
      for (size_t i = 0; i < done[t].size(); ++i) sum += done[t][i] * factors_[output][i];
      ++output;
    }
    return sum;
  }

  /// Returns the gradient by a tensor that its adjoint computes.
  std::vector<double> computed(const Adjoint& adjoint) const {
    Buffers<double> done = run(values_), buffers = make_buffers<double>(adjoint.nest);
    size_t next = 0;
    std::vector<size_t> operands;
    for (size_t t = 0; t < buffers.size(); ++t) {
      if (is_operand(adjoint.nest.tensors()[t])) operands.push_back(t);
    }
    auto give = [&](const Tensor& from, const std::vector<double>& stored) {
      size_t t = operands.at(next++);
      set_elements(adjoint.nest.tensors()[t], buffers[t], elements(from, stored));
    };
    for (size_t t : adjoint.values) give(nest_.tensors()[t], done[t]);
    for (size_t t : adjoint.gradients) give(nest_.tensors()[t], factors_.at(output_of(t)));
    EXPECT_EQ(next, operands.size());
    interpret(adjoint.nest, buffers);
    for (size_t t = 0; t < buffers.size(); ++t) {
      if (adjoint.nest.tensors()[t].role == Role::output) return buffers[t];
    }
    return {};
  }

  /// Returns the same from differences.
  std::vector<double> wanted(size_t by) const {
    std::vector<double> result;
    Buffers<double> values = values_;
    constexpr double step = 1e-5;
    each_element(nest_.tensors()[by], [&](size_t i) {
      double middle = values[by][i];
      values[by][i] = middle + step;
      double above = weighted_sum(values);
      values[by][i] = middle - step;
      double below = weighted_sum(values);
      values[by][i] = middle;
      result.push_back((above - below) / (2 * step));
    });
    return result;
  }

 private:
  const Nest& nest_;
  std::mt19937 random_;
  Buffers<double> values_;
  std::vector<std::vector<double>> factors_;  // of the outputs

  /// Positive, as roots and logarithms want it; seldom equal.
  double draw() { return std::uniform_real_distribution<double>(0.2, 0.9)(random_); }

  size_t output_of(size_t tensor) const {
    size_t place = 0;
    for (size_t t = 0; t < tensor; ++t) {
      if (nest_.tensors()[t].role == Role::output) ++place;
    }
    return place;
  }
};

/// Compares all gradients of a nest; returns how many there were.
size_t compare(const Nest& nest, unsigned seed) {
  Case one(nest, seed);
  size_t compared = 0;
  for (size_t t = 0; t < nest.tensors().size(); ++t) {
    if (!Case::is_operand(nest.tensors()[t])) continue;
    SCOPED_TRACE("by " + nest.tensors()[t].name);
    auto adjoint = adjoint_of(nest, t);
    std::vector<double> wanted = one.wanted(t);
    std::vector<double> found(wanted.size(), 0);
    if (adjoint) found = one.computed(*adjoint);
    EXPECT_EQ(found.size(), wanted.size());
    if (found.size() != wanted.size()) continue;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (std::isnan(wanted[i])) continue;  // the function is not defined there
      double slack = 1e-5 * (1 + std::abs(wanted[i]));
      EXPECT_NEAR(found[i], wanted[i], slack) << "element " << i;
      if (std::abs(found[i] - wanted[i]) > slack) break;
    }
    ++compared;
  }
  return compared;
}

bool is_real(const Nest& nest) {
  return std::all_of(nest.tensors().begin(), nest.tensors().end(), [](const Tensor& tensor) {
    return tensor.element == Element::f32 || tensor.element == Element::f64;
  });
}

TEST(Adjoint, EqualsFiniteDifferencesForEveryOperator) {
  size_t compared = 0;
  // What has no slope, or draws by position, says nothing here.
  for (const Op& op : operators()) {
    for (const std::string& example : op.examples) {
      SCOPED_TRACE(example);
      Context context;
      std::optional<Nest> nest;
      try {
        nest = parse_op(context, example);
      } catch (const UserError&) {
        continue;  // it only runs
      }
      if (!is_real(*nest) || op.name.starts_with("bit") || op.name.starts_with("shift")) continue;
      compared += compare(*nest, 1);
    }
  }
  EXPECT_GT(compared, 200u);
}

TEST(Adjoint, OfANetworkThatNeuralStepsMade) {
  for (const char* recipe :
       {"group(2)", "bottleneck(2, repeat)", "bottleneck(2, expand)",
        "interchange(co, ci) -> bottleneck(2)", "reorder(oh, ci, co, ow, kh, kw) -> group(2)",
        "split_range(co, 1/2) -> group(2)", "unroll(co, 4) -> group(2)"}) {
    SCOPED_TRACE(recipe);
    Context context;
    Nest nest = parse_op(context, "conv(co=8, ci=8, oh=4, ow=3, k=3, pad=1)");
    bool applied = true;
    for (const Step& step : parse_recipe(recipe)) {
      try {
        nest = apply(nest, step).nest;
      } catch (const UserError& error) {
        ADD_FAILURE() << error.what();
        applied = false;
      }
    }
    if (applied) compare(nest, 2);
  }
}

TEST(Adjoint, GradientsHaveGradients) {
  for (const char* text :
       {"conv(n=2, co=2, ci=3, oh=4, ow=3, k=3, pad=1)",
        "conv(n=1, co=2, ci=2, oh=2, ow=3, k=3, pad=1, stride=2)", "log_softmax(f32[2x5], axis=1)",
        "batch_norm(n=2, c=3, h=2, w=2)", "variance(f32[2x3x2x2], f32[3], axes=[0, 2, 3], keep=0)",
        "gelu(f32[2x3])"}) {
    SCOPED_TRACE(text);
    Context context;
    Nest nest = parse_op(context, text);
    for (size_t t = 0; t < nest.tensors().size(); ++t) {
      if (!Case::is_operand(nest.tensors()[t])) continue;
      auto adjoint = adjoint_of(nest, t);
      ASSERT_TRUE(adjoint.has_value());
      compare(adjoint->nest, 3);
    }
  }
}

TEST(Adjoint, OfAConvolutionIsAConvolutionOverABox) {
  Context context;
  Nest nest = parse_op(context, "conv(n=2, co=4, ci=6, oh=5, ow=5, k=3, pad=1)");
  Adjoint adjoint = *adjoint_of(nest, 0);
  ASSERT_EQ(adjoint.nest.statements().size(), 1u);
  const Statement& s = adjoint.nest.statements()[0];
  EXPECT_TRUE(poly::is_box_from_zero(s.domain));
  EXPECT_EQ(s.update, Update::add);
  EXPECT_EQ(s.dims, (std::vector<std::string>{"n", "ci", "co", "oh", "ow", "kh", "kw"}));
  EXPECT_EQ(adjoint.values, std::vector<size_t>{1});  // not the input itself
}

TEST(Adjoint, OfTheGradientByAConvolutionsWeightIsAConvolutionToo) {
  Context context;
  Nest nest = parse_op(context, "conv(n=2, co=4, ci=6, oh=8, ow=8, k=3, pad=1)");
  Adjoint by_weight = *adjoint_of(nest, 1);
  long products = poly::count(nest.statements()[0].domain);
  for (size_t t : {size_t{0}, size_t{1}}) {  // by the image, by the gradient of what it computes
    Adjoint second = *adjoint_of(by_weight.nest, t);
    ASSERT_EQ(second.nest.statements().size(), 1u);
    EXPECT_EQ(poly::count(second.nest.statements()[0].domain), products);
  }
}

TEST(Derivative, OfARectifier) {
  Expr value = call(Expr::Op::max, {read(0), number(0)});
  Expr slope = derivative(value, [](size_t) { return true; });
  EXPECT_EQ(slope, call(Expr::Op::less, {number(0), read(0)}));
}

}  // namespace
}  // namespace lathe
