// Picks: elements that data choose.
#include <gtest/gtest.h>

#include "autodiff/gradient.h"
#include "compile/compile.h"
#include "nest/footprint.h"
#include "nest/interpret.h"
#include "nest/text.h"
#include "ops/op_evaluate.h"
#include "ops/op_graph.h"
#include "support/temporary.h"
#include "transforms/transform.h"

namespace lathe::test {
namespace {

Array whole(const Shape& shape, const std::vector<long>& values) {
  return Array::of_integers(Element::i64, shape, values);
}

Array ramp(const Shape& shape) {
  std::vector<double> values(static_cast<size_t>(count_of(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  return Array::of_reals(Element::f32, shape, values);
}

/// Compares an operator's own function with its nest, and both with compiled code.
void expect_same(const std::string& text, const Array& x, const Array& indices) {
  SCOPED_TRACE(text);
  Context context;
  Call call = parse_call(text);
  ASSERT_TRUE(has_nest(call));
  EXPECT_FALSE(reads_are_known(call));
  std::vector<Array> expected = evaluate(context, call, {x, indices});
  std::vector<Array> by_nest = run_nest(nest_of(context, call), {x, indices}, infer(call));
  EXPECT_EQ(by_nest[0].reals(), expected[0].reals());
  GraphBuilder g("g");
  ValueId from = g.input("x", {x.element(), x.shape()});
  ValueId at = g.input("i", {indices.element(), indices.shape()});
  g.output(g.call(call.name(), {from, at}, call.attributes(), "y"));
  std::vector<Array> compiled =
      Runner(compile(g.build(), {.target = native_target()}), 1).run({x, indices});
  EXPECT_EQ(compiled[0].reals(), expected[0].reals());
}

TEST(Picks, AreWhatOperatorsDo) {
  expect_same("gather(f32[5x3], i64[2])", ramp({5, 3}), whole({2}, {4, -5}));
  expect_same("gather(f32[5x16], i64[2x2])", ramp({5, 16}), whole({2, 2}, {4, 0, 1, 4}));
  expect_same("gather(f32[2x4], i64[3], axis=-1)", ramp({2, 4}), whole({3}, {3, -1, 0}));
  expect_same("gather(f32[7], i64[])", ramp({7}), whole({}, {6}));
  expect_same("gather_elements(f32[3x4], i64[2x4])", ramp({3, 4}),
              whole({2, 4}, {0, 1, 2, -1, 2, 1, 0, -3}));
  expect_same("gather_elements(f32[3x4], i64[3x7], axis=1)", ramp({3, 4}),
              whole({3, 7}, {0, 1, 2, 3, 3, 2, 1, 0, 1, 2, 3, 3, 2, 1, 0, 1, 2, 3, 3, 2, -4}));
  expect_same("gather_nd(f32[3x4x2], i64[3x2])", ramp({3, 4, 2}),
              whole({3, 2}, {0, 1, 2, 3, -1, -4}));
  expect_same("gather_nd(f32[2x3x4], i64[2x1], batch_dims=1)", ramp({2, 3, 4}),
              whole({2, 1}, {2, 0}));
}

TEST(Picks, StayInsideTheTensor) {
  GraphBuilder g("g");
  ValueId x = g.input("x", {Element::f32, {5, 3}}), i = g.input("i", {Element::i64, {3}});
  g.output(g.call("gather", {x, i}, {}, "y"));
  Runner runner(compile(g.build(), {.target = native_target()}), 1);
  std::vector<Array> outputs = runner.run({ramp({5, 3}), whole({3}, {99, -99, 1L << 62})});
  EXPECT_EQ(outputs[0].reals(), (std::vector<double>{12, 13, 14, 0, 1, 2, 12, 13, 14}));
}

TEST(Picks, ArePrintedAndRead) {
  Context context;
  Nest nest = nest_of(context, parse_call("gather_nd(f32[3x4x2], i64[5x2])"));
  EXPECT_EQ(print(parse_nest(context, print(nest))), print(nest));
}

TEST(Picks, CountWhatTheyMayTouch) {
  Context context;
  Nest few = nest_of(context, parse_call("gather(f32[100x3], i64[2])"));
  EXPECT_EQ(touched(few, *find_tensor(few, "X")), 6);
  Nest many = nest_of(context, parse_call("gather(f32[5x3], i64[100])"));
  EXPECT_EQ(touched(many, *find_tensor(many, "X")), 15);
}

TEST(Picks, AreChecked) {
  Context context;
  auto nest = [&](const std::string& value) {
    return "nest n\ntensor X: input f32[5, 3]\ntensor I: input i64[4]\n"
           "tensor O: output f32[4, 3]\nstatement s[i < 4, c < 3]:\n  O[i, c] = " +
           value + "\nschedule:\n  for i, c:\n    s\n";
  };
  parse_nest(context, nest("pick(X[0, c], 0, I[i])"));
  auto refused = [&](const std::string& value, const std::string& reason) {
    expect_failure([&] { parse_nest(context, nest(value)); }, {reason});
  };
  refused("pick(X[i, c], 0, I[i])", "its index there is 0");
  refused("pick(X[0, c], 2, I[i])", "X has no dimension 2");
  refused("pick(X[0, c], I[i], 0)", "the number of a dimension");
  refused("pick(2, 0, I[i])", "an element of a tensor");
}

TEST(Picks, CannotBePacked) {
  Context context;
  Nest nest = nest_of(context, parse_call("gather(f32[5x3], i64[2])"));
  expect_failure([&] { apply(nest, Step{"pack", {std::string("X")}}); }, {"picks elements of X"});
}

TEST(Picks, HaveNoGradient) {
  GraphBuilder g("g");
  ValueId w = g.weight("w", {5, 3}, {Initial::Kind::ones});
  ValueId y = g.call("gather", {w, g.input("i", {Element::i64, {2}})}, {}, "y");
  g.output(y);
  Graph graph = g.build();
  expect_failure([&] { with_gradients(graph, graph.outputs[0], {w}); },
                 {"'y'", "data decide what it reads"});
}

}  // namespace
}  // namespace lathe::test
