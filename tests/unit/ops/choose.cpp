// Operators that read what data choose, or find where elements are: gather, arg_max, top_k, ...
#include "support/run_call.h"

namespace lathe::test {
namespace {

TEST(Gather, TakesSlices) {
  for (long axis : {0, 1, -1}) {
    size_t along = axis < 0 ? 2 : static_cast<size_t>(axis);
    Shape shape{4, 3, 5};
    long extent = shape[along];
    lathe::Array indices = integers({2, 2}, {0, extent - 1, -1, 1 - extent});
    lathe::Array x = random_operand({Element::f64, shape}, 1);
    CallRun run(fmt::format("gather(f64[4x3x5], i64[2x2], axis={})", axis), {x, indices});
    std::vector<double> values = x.reals(), wanted;
    for_each_index(run.outputs[0].shape(), [&](const Shape& at) {
      Shape from;
      for (size_t i = 0; i < along; ++i) from.push_back(at[i]);
      long index = indices.integers()[offset({2, 2}, {at[along], at[along + 1]})];
      from.push_back(index < 0 ? index + extent : index);
      for (size_t i = along + 2; i < at.size(); ++i) from.push_back(at[i]);
      wanted.push_back(values[offset(shape, from)]);
    });
    expect_elements(run.outputs[0], wanted);
  }
}

TEST(Gather, TakesTextAndScalarIndices) {
  lathe::Array x = lathe::Array::of_strings({3}, {"a", "b", "c"});
  CallRun run("gather(string[3], i32[])", {x, integers({}, {-1}, Element::i32)});
  EXPECT_EQ(run.outputs[0], lathe::Array::of_strings({}, {"c"}));
  EXPECT_EQ(CallRun("gather(f32[3x2], i64[0])").outputs[0].shape(), (Shape{0, 2}));
}

TEST(Gather, RefusesWhatMakesNoSense) {
  lathe::Array x = reals({3}, {1, 2, 3});
  expect_call_error("gather(f64[3], i64[1])", "gather: index 3 is outside of 3 elements",
                    {x, integers({1}, {3})});
  expect_call_error("gather(f64[3], i64[1])", "index -4 is outside", {x, integers({1}, {-4})});
  expect_call_error("gather(f64[3], f32[1])", "operand 1 must be of an integral type, not f32");
  expect_call_error("gather(f64[], i64[1])", "axis=0 is no axis of a tensor with 0 dimensions");
}

TEST(GatherElements, TakesOneElementForEachIndex) {
  lathe::Array x = random_operand({Element::f64, {3, 4}}, 1);
  std::vector<double> values = x.reals(), rows, columns;
  lathe::Array of_rows = integers({2, 4}, {0, -1, 2, 1, -3, 0, 0, 2});
  lathe::Array of_columns = integers({3, 2}, {3, 0, -4, 1, -1, 2});
  for_each_index({2, 4}, [&](const Shape& at) {
    long i = of_rows.integers()[offset({2, 4}, at)];
    rows.push_back(values[offset({3, 4}, {i < 0 ? i + 3 : i, at[1]})]);
  });
  for_each_index({3, 2}, [&](const Shape& at) {
    long i = of_columns.integers()[offset({3, 2}, at)];
    columns.push_back(values[offset({3, 4}, {at[0], i < 0 ? i + 4 : i})]);
  });
  expect_elements(CallRun("gather_elements(f64[3x4], i64[2x4])", {x, of_rows}).outputs[0], rows);
  expect_elements(
      CallRun("gather_elements(f64[3x4], i64[3x2], axis=-1)", {x, of_columns}).outputs[0], columns);
  expect_call_error("gather_elements(f64[3x4], i64[2x5])",
                    "gather_elements: indices 2x5 do not fit 3x4 along axis 0");
  expect_call_error("gather_elements(f64[2], i64[1])", "index 2 is outside of 2 elements",
                    {reals({2}, {0, 0}), integers({1}, {2})});
}

TEST(GatherNd, TakesWhatTuplesName) {
  lathe::Array x = integers({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}, Element::i32);
  lathe::Array tuples = integers({2, 2}, {0, 1, -1, 0});
  CallRun slices("gather_nd(i32[2x2x2], i64[2x2])", {x, tuples});
  EXPECT_EQ(slices.outputs[0], integers({2, 2}, {2, 3, 4, 5}, Element::i32));
  CallRun batched("gather_nd(i32[2x2x2], i64[2x1], batch_dims=1)", {x, integers({2, 1}, {1, 0})});
  EXPECT_EQ(batched.outputs[0], integers({2, 2}, {2, 3, 4, 5}, Element::i32));
  CallRun all("gather_nd(i32[2x2x2], i64[1x1x3])", {x, integers({1, 1, 3}, {1, 0, 1})});
  EXPECT_EQ(all.outputs[0], integers({1, 1}, {5}, Element::i32));
  expect_call_error("gather_nd(f32[2x2], i64[3x3])",
                    "gather_nd: indices 3x3 do not fit 2x2 with batch_dims=0");
  expect_call_error("gather_nd(i32[2x2x2], i64[1x1])", "index 2 is outside of 2 elements",
                    {x, integers({1, 1}, {2})});
}

TEST(ScatterElements, ReplacesAndCombines) {
  lathe::Array x = reals({2, 3}, {1, 2, 3, 4, 5, 6}), i = integers({2, 2}, {0, 0, -1, 1});
  lathe::Array updates = reals({2, 2}, {10, 20, -3, 0.5});
  auto scatter = [&](const std::string& reduction) {
    std::string text =
        "scatter_elements(f64[2x3], i64[2x2], f64[2x2], axis=1, reduction=\"" + reduction + "\")";
    return CallRun(text, {x, i, updates}).outputs[0];
  };
  expect_elements(scatter("none"), {20, 2, 3, 4, 0.5, -3});
  expect_elements(scatter("add"), {31, 2, 3, 4, 5.5, 3});
  expect_elements(scatter("mul"), {200, 2, 3, 4, 2.5, -18});
  expect_elements(scatter("max"), {20, 2, 3, 4, 5, 6});
  expect_elements(scatter("min"), {1, 2, 3, 4, 0.5, -3});
  CallRun rows("scatter_elements(f64[2x3], i64[1x2], f64[1x2])",
               {x, integers({1, 2}, {1, 0}), reals({1, 2}, {7, 8})});
  expect_elements(rows.outputs[0], {1, 8, 3, 7, 5, 6});
  expect_call_error("scatter_elements(f32[2x3], i64[2x2], f32[2x3])",
                    "indices 2x2 and updates 2x3 must have one shape");
  expect_call_error("scatter_elements(f32[2], i64[1], f32[1], reduction=\"div\")",
                    "reduction=\"div\" must be one of: none add mul max min");
}

TEST(ScatterNd, ReplacesAndCombinesSlices) {
  lathe::Array x = integers({3, 2}, {1, 2, 3, 4, 5, 6}, Element::i32);
  lathe::Array i = integers({2, 1}, {2, -3}),
               updates = integers({2, 2}, {7, 8, 9, -1}, Element::i32);
  std::string text = "scatter_nd(i32[3x2], i64[2x1], i32[2x2]";
  expect_elements(CallRun(text + ")", {x, i, updates}).outputs[0], {9, -1, 3, 4, 7, 8});
  expect_elements(CallRun(text + ", reduction=\"add\")", {x, i, updates}).outputs[0],
                  {10, 1, 3, 4, 12, 14});
  lathe::Array words = lathe::Array::of_strings({2}, {"a", "b"});
  CallRun replaced("scatter_nd(string[2], i64[1x1], string[1])",
                   {words, integers({1, 1}, {1}), lathe::Array::of_strings({1}, {"c"})});
  EXPECT_EQ(replaced.outputs[0], lathe::Array::of_strings({2}, {"a", "c"}));
  expect_call_error("scatter_nd(f32[3x2], i64[2x1], f32[2])",
                    "scatter_nd: updates 2 must have the shape 2x2");
  expect_call_error("scatter_nd(string[2], i64[1x1], string[1], reduction=\"add\")",
                    "operand 0 is text");
}

TEST(Arg, FindsTheFirstOrLastOfTheBest) {
  lathe::Array x = reals({2, 4}, {1, 3, 3, 0, -2, -5, -1, -5});
  expect_elements(CallRun("arg_max(f64[2x4], axis=1)", {x}).outputs[0], {1, 2});
  expect_elements(CallRun("arg_max(f64[2x4], axis=-1, last=1)", {x}).outputs[0], {2, 2});
  expect_elements(CallRun("arg_min(f64[2x4], axis=1, keep=0)", {x}).outputs[0], {3, 1});
  expect_elements(CallRun("arg_min(f64[2x4], axis=1, last=1)", {x}).outputs[0], {3, 3});
  CallRun columns("arg_max(f64[2x4])", {x});
  EXPECT_EQ(columns.outputs[0].shape(), (Shape{1, 4}));
  expect_elements(columns.outputs[0], {0, 0, 0, 0});
  EXPECT_EQ(CallRun("arg_min(i32[3x4x2], axis=1, keep=0)").outputs[0].shape(), (Shape{3, 2}));
  expect_call_error("arg_max(f32[2x0], axis=1)", "arg_max: 2x0 has no elements along axis 1");
  expect_call_error("arg_min(string[2])", "arg_min: operand 0 is text");
}

TEST(TopK, SortsWithTheFirstOfEqualsFirst) {
  lathe::Array x = integers({2, 5}, {3, 9, 3, 9, 1, 0, 0, 0, -1, 0}, Element::i32);
  CallRun greatest("top_k(i32[2x5], k=3)", {x});
  expect_elements(greatest.outputs[0], {9, 9, 3, 0, 0, 0});
  expect_elements(greatest.outputs[1], {1, 3, 0, 0, 1, 2});
  CallRun least("top_k(i32[2x5], k=2, axis=1, largest=0)", {x});
  expect_elements(least.outputs[0], {1, 3, -1, 0});
  expect_elements(least.outputs[1], {4, 0, 3, 0});
  CallRun columns("top_k(i32[2x5], k=1, axis=0)", {x});
  expect_elements(columns.outputs[0], {3, 9, 3, 9, 1});
  expect_elements(columns.outputs[1], {0, 0, 0, 0, 0});
  EXPECT_EQ(CallRun("top_k(f32[2x5], k=0)").outputs[1].shape(), (Shape{2, 0}));
  expect_call_error("top_k(f32[2x5], k=6)", "top_k: k=6 is more than the 5 elements along axis 1");
}

TEST(OneHot, TurnsOnePlaceOn) {
  lathe::Array values = reals({2}, {2, 5}), i = integers({3}, {1, -1, 7});
  expect_elements(CallRun("one_hot(i64[3], f64[2], depth=3)", {i, values}).outputs[0],
                  {2, 5, 2, 2, 2, 5, 2, 2, 2});
  expect_elements(CallRun("one_hot(i64[3], f64[2], depth=3, axis=0)", {i, values}).outputs[0],
                  {2, 2, 2, 5, 2, 2, 2, 5, 2});
  EXPECT_EQ(CallRun("one_hot(i64[2x3], f64[2], depth=4, axis=-2)").outputs[0].shape(),
            (Shape{2, 4, 3}));
  expect_call_error("one_hot(i64[2], f32[3], depth=4)",
                    "one_hot: the values 3 must be two, off and on");
}

TEST(Hardmax, MarksTheFirstOfTheLargest) {
  lathe::Array x = reals({2, 3}, {3, 3, 1, 0, 1, 2});
  expect_elements(CallRun("hardmax(f64[2x3])", {x}).outputs[0], {1, 0, 0, 0, 0, 1});
  expect_elements(CallRun("hardmax(f64[2x3], axis=0)", {x}).outputs[0], {1, 1, 0, 0, 0, 1});
  expect_call_error("hardmax(i32[2])", "operand 0 must be of a float type, not i32");
}

TEST(ReverseSequence, ReversesTheFirstElements) {
  lathe::Array x = integers({4, 2}, {0, 4, 1, 5, 2, 6, 3, 7}), lengths = integers({2}, {3, 1});
  expect_elements(CallRun("reverse_sequence(i64[4x2], i64[2])", {x, lengths}).outputs[0],
                  {2, 4, 1, 5, 0, 6, 3, 7});
  lathe::Array rows = integers({2, 3}, {0, 1, 2, 3, 4, 5});
  CallRun run("reverse_sequence(i64[2x3], i64[2], batch_axis=0, time_axis=-1)",
              {rows, integers({2}, {0, 3})});
  expect_elements(run.outputs[0], {0, 1, 2, 5, 4, 3});
  expect_call_error("reverse_sequence(i64[4x2], i64[2])",
                    "length 5 is outside of sequences of 4 elements", {x, integers({2}, {5, 1})});
  expect_call_error("reverse_sequence(f32[4x2], i64[4])", "must be 2, one for each sequence");
  expect_call_error("reverse_sequence(f32[4x2], i64[4], batch_axis=0)", "are both 0");
}

TEST(NonZero, ListsIndices) {
  CallRun run("non_zero(f64[2x3])", {reals({2, 3}, {0, 1, 0, -2, 0, 0.5})});
  EXPECT_EQ(run.outputs[0], integers({2, 3}, {0, 1, 1, 1, 0, 2}));
  EXPECT_TRUE(run.types[0].dynamic);
  EXPECT_EQ(CallRun("non_zero(bool[2])", {integers({2}, {0, 0}, Element::boolean)}).outputs[0],
            integers({1, 0}, {}));
}

TEST(Compress, KeepsWhatTheConditionNames) {
  lathe::Array x = integers({2, 3}, {1, 2, 3, 4, 5, 6}, Element::i32);
  auto condition = [](const std::vector<long>& values) {
    return integers({static_cast<long>(values.size())}, values, Element::boolean);
  };
  CallRun elements("compress(i32[2x3], bool[5])", {x, condition({0, 1, 0, 0, 1})});
  EXPECT_EQ(elements.outputs[0], integers({2}, {2, 5}, Element::i32));
  CallRun columns("compress(i32[2x3], bool[3], has_axis=1, axis=-1)", {x, condition({1, 0, 1})});
  EXPECT_EQ(columns.outputs[0], integers({2, 2}, {1, 3, 4, 6}, Element::i32));
  CallRun rows("compress(i32[2x3], bool[1], has_axis=1)", {x, condition({0})});
  EXPECT_EQ(rows.outputs[0].shape(), (Shape{0, 3}));
  expect_call_error("compress(f32[2x3], bool[4], has_axis=1, axis=1)",
                    "compress: the condition bool[4] must be at most 3 truth values");
}

TEST(NonMaxSuppression, LeavesOutWhatOverlaps) {
  std::vector<double> corners = {0, 0,  1, 1,  0, 0.1,  1, 1.1,  0, -0.1, 1, 0.9,
                                 0, 10, 1, 11, 0, 10.1, 1, 11.1, 0, 100,  1, 101};
  lathe::Array boxes = reals({1, 6, 4}, corners);
  lathe::Array scores = reals({1, 1, 6}, {0.9, 0.75, 0.6, 0.95, 0.5, 0.3});
  auto chosen = [&](const std::string& settings) {
    return CallRun("non_max_suppression(f64[1x6x4], f64[1x1x6], " + settings + ")", {boxes, scores})
        .outputs[0];
  };
  EXPECT_EQ(chosen("per_class=3, iou=0.5"), integers({3, 3}, {0, 0, 3, 0, 0, 0, 0, 0, 5}));
  EXPECT_EQ(chosen("per_class=2, iou=0.5"), integers({2, 3}, {0, 0, 3, 0, 0, 0}));
  EXPECT_EQ(chosen("per_class=3, iou=0.5, score=0.4"), integers({2, 3}, {0, 0, 3, 0, 0, 0}));
  EXPECT_EQ(chosen("per_class=9, iou=1.0").shape(), (Shape{6, 3}));
  EXPECT_EQ(chosen("iou=0.5").shape(), (Shape{0, 3}));
  // The same boxes by centre and extents, and with corners exchanged.
  std::vector<double> centres, flipped;
  for (size_t i = 0; i < corners.size(); i += 4) {
    double top = corners[i], left = corners[i + 1], bottom = corners[i + 2], right = corners[i + 3];
    centres.insert(centres.end(),
                   {(left + right) / 2, (top + bottom) / 2, right - left, bottom - top});
    flipped.insert(flipped.end(), {bottom, left, top, right});
  }
  lathe::Array wanted = chosen("per_class=3, iou=0.5");
  boxes = reals({1, 6, 4}, flipped);
  EXPECT_EQ(chosen("per_class=3, iou=0.5"), wanted);
  boxes = reals({1, 6, 4}, centres);
  EXPECT_EQ(chosen("per_class=3, iou=0.5, centre=1"), wanted);
  expect_call_error("non_max_suppression(f32[1x6x4], f32[1x1x5])",
                    "boxes 1x6x4 and scores 1x1x5 do not go together");
}

TEST(NonMaxSuppression, ChoosesForEachBatchAndClass) {
  lathe::Array boxes = reals({2, 1, 4}, {0, 0, 1, 1, 0, 0, 2, 2});
  CallRun run("non_max_suppression(f64[2x1x4], f64[2x2x1], per_class=1)",
              {boxes, reals({2, 2, 1}, {0.1, 0.2, 0.3, 0.4})});
  EXPECT_EQ(run.outputs[0], integers({4, 3}, {0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 0}));
}

TEST(StringNormalizer, ChangesCaseAndLeavesOutWords) {
  lathe::Array words = lathe::Array::of_strings({4}, {"Monday", "tuesday", "Wednesday", "MONDAY"});
  auto normal = [&](const std::string& settings) {
    return CallRun("string_normalizer(string[4]" + settings + ")", {words}).outputs[0].strings();
  };
  using Words = std::vector<std::string>;
  EXPECT_EQ(normal(""), words.strings());
  EXPECT_EQ(normal(", case_change=\"UPPER\", stopwords=[\"monday\"]"),
            (Words{"TUESDAY", "WEDNESDAY"}));
  EXPECT_EQ(normal(", case_change=\"LOWER\", is_case_sensitive=1, stopwords=[\"Monday\"]"),
            (Words{"tuesday", "wednesday", "monday"}));
  EXPECT_EQ(normal(", stopwords=[\"monday\", \"tuesday\", \"wednesday\"]"), (Words{""}));
  lathe::Array row = lathe::Array::of_strings({1, 2}, {"a", "B"});
  CallRun run("string_normalizer(string[1x2], stopwords=[\"b\"])", {row});
  EXPECT_EQ(run.outputs[0], lathe::Array::of_strings({1, 1}, {"a"}));
  expect_call_error("string_normalizer(f32[2])", "operand 0 must be text, not f32");
  expect_call_error("string_normalizer(string[2x2])", "the words 2x2 must be one row");
  expect_call_error("string_normalizer(string[2], case_change=\"up\")",
                    "case_change=\"up\" must be one of: NONE LOWER UPPER");
}

/// Expands along the first row.
double determinant(const std::vector<std::vector<double>>& a) {
  if (a.empty()) return 1;
  double result = 0, sign = 1;
  for (size_t column = 0; column < a.size(); ++column, sign = -sign) {
    std::vector<std::vector<double>> minor(a.begin() + 1, a.end());
    for (auto& row : minor) row.erase(row.begin() + static_cast<long>(column));
    result += sign * a[0][column] * determinant(minor);
  }
  return result;
}

TEST(Det, EqualsTheExpansion) {
  for (long n : {1, 2, 3, 5}) {
    CallRun run(fmt::format("det(f64[2x{}x{}])", n, n));
    std::vector<double> values = run.inputs[0].reals(), wanted;
    for (long batch = 0; batch < 2; ++batch) {
      std::vector<std::vector<double>> rows;
      for (long row = 0; row < n; ++row) {
        auto first = values.begin() + (batch * n + row) * n;
        rows.emplace_back(first, first + n);
      }
      wanted.push_back(determinant(rows));
    }
    expect_elements(run.outputs[0], wanted, 1e-9);
  }
  expect_elements(CallRun("det(f64[2x2])", {reals({2, 2}, {0, 2, 3, 0})}).outputs[0], {-6});
  expect_elements(CallRun("det(f64[2x2])", {reals({2, 2}, {1, 2, 2, 4})}).outputs[0], {0});
  expect_call_error("det(f32[2x3])", "det: 2x3 are no square matrices");
}

}  // namespace
}  // namespace lathe::test
