// Recurrent layers of ONNX: directions, sequences of different lengths, and what is refused.
#include <gtest/gtest.h>

#include <cmath>

#include "compile/executor.h"
#include "support/onnx_model.h"

namespace lathe::test {
namespace {

constexpr long steps = 4, samples = 2, features = 3, hidden = 2;

Array random_array(const Shape& shape, unsigned seed) {
  std::vector<double> values;
  for (long i = 0; i < count_of(shape); ++i) {
    values.push_back(std::sin(static_cast<double>(seed) + 1.7 * static_cast<double>(i)));
  }
  return Array::of_reals(Element::f32, shape, values);
}

long gates_of(const std::string& op) { return op == "LSTM" ? 4 : op == "GRU" ? 3 : 1; }

/// A layer on "x", with weights for each direction.
OnnxModel layer(const std::string& op, const Attributes& attributes,
                const std::string& lengths = "", const Shape& x = {steps, samples, features}) {
  auto found = attributes.find("direction");
  bool both = found != attributes.end() && std::get<std::string>(found->second) == "bidirectional";
  long directions = both ? 2 : 1, rows = gates_of(op) * hidden;
  OnnxModel m;
  m.input("x", x);
  m.initialiser("w", random_array({directions, rows, features}, 1));
  m.initialiser("r", random_array({directions, rows, hidden}, 2));
  m.initialiser("b", random_array({directions, 2 * rows}, 3));
  m.node(op, {"x", "w", "r", "b", lengths}, {"y", "last"}, attributes, "layer");
  m.output("y");
  m.output("last");
  return m;
}

std::vector<std::vector<double>> run_layer(const OnnxModel& model, const Array& x) {
  std::vector<std::vector<double>> results;
  for (const Array& output : Executor(model.parse(), {.target = native_target()}).run({x}))
    results.push_back(output.reals());
  return results;
}

/// Returns the steps of a sequence, the last first.
Array reversed(const Array& x) {
  std::vector<double> from = x.reals(), to;
  long inner = x.count() / steps;
  for (long t = steps; t-- > 0;) {
    to.insert(to.end(), from.begin() + t * inner, from.begin() + (t + 1) * inner);
  }
  return Array::of_reals(Element::f32, x.shape(), to);
}

void expect_near(const std::vector<double>& got, const std::vector<double>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-5) << i;
}

TEST(OnnxRecurrent, BackwardsIsForwardsOnTheReversed) {
  Array x = random_array({steps, samples, features}, 7);
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    auto forwards = run_layer(layer(op, {}), reversed(x));
    auto backwards = run_layer(layer(op, {{"direction", std::string("reverse")}}), x);
    expect_near(backwards[1], forwards[1]);
    Array y = Array::of_reals(Element::f32, {steps, samples * hidden}, forwards[0]);
    expect_near(backwards[0], reversed(y).reals());
  }
}

TEST(OnnxRecurrent, BothDirections) {
  Array x = random_array({steps, samples, features}, 7);
  auto one = run_layer(layer("GRU", {}), x);
  auto both = run_layer(layer("GRU", {{"direction", std::string("bidirectional")}}), x);
  ASSERT_EQ(both[0].size(), 2 * one[0].size());
  // The first direction has the same weights in both; outputs are [step, direction, ...].
  constexpr size_t block = samples * hidden;
  for (size_t t = 0; t < steps; ++t) {
    for (size_t i = 0; i < block; ++i) {
      EXPECT_NEAR(both[0][2 * t * block + i], one[0][t * block + i], 1e-5);
    }
  }
}

TEST(OnnxRecurrent, ShortSequencesEndInZeros) {
  Array x = random_array({steps, samples, features}, 7);
  std::vector<double> all = x.reals();
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    OnnxModel model = layer(op, {}, "lengths");
    model.initialiser("lengths",
                      Array::of_integers(Element::i32, {samples}, std::vector<long>{2, steps}));
    auto got = run_layer(model, x), whole = run_layer(layer(op, {}), x);
    std::vector<double> begin(all.begin(), all.begin() + 2 * samples * features);
    auto cut = run_layer(layer(op, {}, "", {2, samples, features}),
                         Array::of_reals(Element::f32, {2, samples, features}, begin));
    for (size_t i = 0; i < hidden; ++i) {
      EXPECT_NEAR(got[1][i], cut[1][i], 1e-5) << op;
      EXPECT_NEAR(got[1][hidden + i], whole[1][hidden + i], 1e-5) << op;
      EXPECT_EQ(got[0][3 * samples * hidden + i], 0) << op;
    }
  }
}

TEST(OnnxRecurrent, ActivationsAreChosen) {
  Array x = random_array({steps, samples, features}, 7);
  auto plain = run_layer(layer("RNN", {}), x);
  using Names = std::vector<std::string>;
  expect_near(run_layer(layer("RNN", {{"activations", Names{"Tanh"}}}), x)[0], plain[0]);
  auto positive = run_layer(layer("RNN", {{"activations", Names{"Relu"}}}), x);
  for (double value : positive[0]) EXPECT_GE(value, 0);
  EXPECT_EQ(layer("RNN", {{"activations", Names{"Invented"}}}).error(),
            "node 'layer' (RNN): the activation 'invented'");
  EXPECT_EQ(layer("GRU", {{"activations", Names{"Tanh"}}}).error(),
            "node 'layer' (GRU): 1 activations are given, but it has 2");
  EXPECT_EQ(layer("RNN", {{"activation_alpha", std::vector<double>{0.5}}}).error(),
            "node 'layer' (RNN): activations with settings of their own");
}

TEST(OnnxRecurrent, WhatDoesNotFit) {
  EXPECT_EQ(layer("LSTM", {}, "", {steps, samples, 5}).error(),
            "node 'layer' (LSTM): inputs 4x2x5 and weights 1x8x3, 1x8x2 do not go together");
  EXPECT_EQ(layer("RNN", {{"direction", std::string("sideways")}}).error(),
            "node 'layer' (RNN): the direction 'sideways' is unknown");
  EXPECT_EQ(layer("LSTM", {{"input_forget", 1L}}).error(), "node 'layer' (LSTM): coupled gates");
  EXPECT_EQ(layer("LSTM", {}, "", {1L << 40, 1, features}).error(),
            "node 'layer' (LSTM): the model's loops unroll to more than 65536 nodes");
}

}  // namespace
}  // namespace lathe::test
