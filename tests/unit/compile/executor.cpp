// Any graph on arrays: what is compiled together, what runs alone, what is refused.
#include "compile/executor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

#include "support/interpreted.h"
#include "support/run_graph.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

/// Expects that a graph in text form runs as the interpreter does, twice.
void expect_right(const std::string& text, std::vector<lathe::Array> inputs = {}) {
  SCOPED_TRACE(text);
  Graph graph = initialised(parse_graph(text), 1);
  verify_types(graph);
  if (inputs.empty()) inputs = random_inputs(graph);
  std::vector<lathe::Array> wanted = interpreted(graph, inputs);
  for (int threads : {1, 2}) {
    Executor executor(graph, {.target = native_target(), .threads = threads});
    for (int again = 0; again < 2; ++again) {
      std::vector<lathe::Array> got = executor.run(inputs);
      ASSERT_EQ(got.size(), wanted.size());
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i].shape(), wanted[i].shape());
        ASSERT_EQ(got[i].element(), wanted[i].element());
        expect_elements(got[i], wanted[i].reals(), 1e-5);
      }
    }
  }
}

TEST(Executor, RunsWhatIsCompiled) {
  expect_right(
      "graph g\ninput x: f32[2x5]\nweight w: f32[3x5] = normal(1)\n"
      "y = fully_connected(x, w): f32[2x3]\nz = relu(y): f32[2x3]\noutput z\n");
}

TEST(Executor, AnInputCanBeAnOutput) {
  expect_right("graph g\ninput x: f32[3]\noutput x\n");
  expect_right("graph g\ninput x: f32[3]\ny = relu(x): f32[3]\noutput y\noutput x\noutput y\n");
}

TEST(Executor, AWeightCanBeAnOutput) {
  expect_right(
      "graph g\ninput x: f32[3]\nweight w: f32[3] = normal(1)\ny = add(x, w): f32[3]\n"
      "output w\noutput y\n");
}

TEST(Executor, OtherElements) {
  for (const char* element : {"f64", "i64", "i32", "u8", "i8", "f16", "bf16"}) {
    expect_right(
        fmt::format("graph g\ninput x: {0}[2x7]\ninput y: {0}[2x7]\nz = maximum(x, y): {0}[2x7]\n"
                    "s = reduce_max(z, axes=[1]): {0}[2x1]\noutput s\noutput z\n",
                    element));
  }
}

TEST(Executor, RealsBecomeIntegers) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  constexpr double beyond = std::numeric_limits<double>::infinity();
  std::vector<double> numbers{0.5,         -0.5,       2.5,   -2.5,   127,     -128.75,
                              254.5,       255,        none,  beyond, -beyond, 1e30,
                              -1e30,       65535,      -3e9,  3e9,    -1,      2147483520,
                              -2147483648, 2147483648, 1e-40, 33,     1e9,     -1e9};
  for (int i = 0; i < 40; ++i) numbers.push_back(i - 20.25);
  auto count = static_cast<long>(numbers.size());
  for (const char* element : {"f32", "f64"}) {
    lathe::Array x = lathe::Array::of_reals(element_named(element).value(), {count}, numbers);
    expect_right(fmt::format("graph g\ninput x: {0}[{1}]\ny = cast(x, to=\"i64\"): i64[{1}]\n"
                             "output y\n",
                             element, count),
                 {x});
    for (const char* to : {"u8", "i8", "i16"}) {
      expect_right(fmt::format("graph g\ninput x: {0}[{1}]\nconstant s: {0}[] = [0.5]\n"
                               "y = quantize(x, s, to=\"{2}\"): {2}[{1}]\noutput y\n",
                               element, count, to),
                   {x});
      if (element == std::string("f32")) {
        expect_right(
            fmt::format("graph g\ninput x: f32[{0}]\ny = quantize(x, to=\"{1}\"): {1}[{0}]\n"
                        "output y\n",
                        count, to),
            {x});
      }
    }
  }
}

TEST(Executor, QuotientsByOneNumberAreThoseOfDivision) {
  constexpr float none = std::numeric_limits<float>::quiet_NaN();
  constexpr float beyond = std::numeric_limits<float>::infinity();
  Random random(20211);
  std::vector<float> numbers{0.0F, 1, -1, none, beyond, -beyond, 1.9999999F, 16777215, 0.1F};
  while (numbers.size() < 20000) {
    auto fraction = static_cast<float>(1 + random.uniform());
    numbers.push_back(std::ldexp(fraction, static_cast<int>(random.below(120)) - 60));
  }
  auto count = static_cast<long>(numbers.size());
  Executor executor(parse_graph(fmt::format("graph g\ninput x: f32[{0}]\ninput s: f32[]\n"
                                            "y = div(x, s): f32[{0}]\noutput y\n",
                                            count)),
                    {.target = native_target()});
  lathe::Array x = lathe::Array::of<float>({count}, numbers);
  for (float divisor : {0.1F, 3.0F, -7.0F, 1e-3F, 1.9999999F, 0.0009765625F, 7e20F, 0.0F, beyond}) {
    lathe::Array y = executor.run({x, lathe::Array::of<float>({}, {divisor})}).front();
    for (size_t i = 0; i < numbers.size(); ++i) {
      float is = y.as<float>()[i], must = numbers[i] / divisor;
      ASSERT_TRUE(is == must || (std::isnan(is) && std::isnan(must)))
          << numbers[i] << " / " << divisor << " is " << must << ", not " << is;
    }
  }
}

TEST(Executor, PartsThatDependOnDataRunBetween) {
  expect_right(
      "graph g\ninput x: f32[5x3]\ninput i: i64[4]\n"
      "a = relu(x): f32[5x3]\nb = gather(a, i): f32[4x3]\nc = neg(b): f32[4x3]\noutput c\n"
      "output a\n");
}

TEST(Executor, RefusesWrongInputs) {
  Executor executor(parse_graph("graph g\ninput x: f32[3]\ny = relu(x): f32[3]\noutput y\n"),
                    {.target = native_target()});
  expect_failure([&] { executor.run({}); }, {"graph 'g' has 1 inputs, but 0 were given"});
  expect_failure(
      [&] {
        executor.run({reals({3}, {1, 2, 3})});
      },
      {"input 'x' is f32[3], but was given f64[3]"});
}

TEST(Executor, RefusesWeightsWithoutData) {
  Graph graph =
      parse_graph("graph g\ninput x: f32[3]\nweight w: f32[3]\ny = add(x, w): f32[3]\noutput y\n");
  expect_failure([&] { Executor executor(graph, {.target = native_target()}); },
                 {"weight 'w' has no data"});
}

TEST(Executor, TellsItsProgress) {
  Executor executor(parse_graph("graph g\ninput x: f32[3]\ny = relu(x): f32[3]\noutput y\n"),
                    {.target = native_target()});
  std::vector<std::pair<size_t, size_t>> told;
  lathe::Array x = lathe::Array::of<float>({3}, {-1, 0, 1});
  executor.run({x}, [&](size_t done, size_t of) { told.emplace_back(done, of); });
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back().first, told.back().second);
}

}  // namespace
}  // namespace lathe::test
