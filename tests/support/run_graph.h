// Graphs before and after a rewrite: the same inputs, the same outputs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "compile/executor.h"
#include "passes/pass.h"
#include "support/run_call.h"

namespace lathe::test {

/// Returns random inputs; integers are 0 or 1, which every table of embeddings has.
inline std::vector<lathe::Array> random_inputs(const Graph& graph) {
  std::vector<lathe::Array> inputs;
  for (ValueId id : graph.inputs) {
    const Type& type = graph.values[id].type;
    lathe::Array input = random_operand(type, static_cast<unsigned>(inputs.size()) + 1);
    if (is_integral(type.element)) {
      std::vector<long> values = input.integers();
      for (long& x : values) x &= 1;
      input = lathe::Array::of_integers(type.element, type.shape, values);
    }
    inputs.push_back(input);
  }
  return inputs;
}

/// Expects that both graphs have the same inputs and outputs by name, and compute the same from the
/// same: within "tolerance" of the largest element. If that is more than the order of sums
/// explains, a number that is rounded to an integer may become its neighbour.
inline void expect_same_outputs(const Graph& before, const Graph& after, double tolerance = 1e-5) {
  auto names = [](const Graph& graph, const std::vector<ValueId>& ids) {
    std::vector<std::string> result;
    for (ValueId id : ids) result.push_back(graph.values[id].name);
    return result;
  };
  EXPECT_EQ(names(after, after.inputs), names(before, before.inputs));
  EXPECT_EQ(names(after, after.outputs), names(before, before.outputs));
  std::vector<lathe::Array> inputs = random_inputs(before);
  std::vector<lathe::Array> wanted = Executor(before, {.target = native_target()}).run(inputs),
                            got = Executor(after, {.target = native_target()}).run(inputs);
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].shape(), wanted[i].shape());
    EXPECT_EQ(got[i].element(), wanted[i].element());
    std::vector<double> a = got[i].reals(), b = wanted[i].reals();
    double largest = 0;
    for (double x : b) largest = std::max(largest, std::abs(x));
    ASSERT_TRUE(std::isfinite(largest));
    double bound = tolerance * largest;
    if (is_integral(got[i].element()) && tolerance > 1e-5) bound = std::max(bound, 1.0);
    for (size_t k = 0; k < b.size(); ++k) {
      ASSERT_NEAR(a[k], b[k], bound) << "output " << i << ", element " << k;
    }
  }
}

/// Returns what a pass makes of a graph in text form, with random weights where it has none;
/// expects that it computes the same, as far as the pass promises.
inline Graph after_pass(const std::string& pass, const std::string& text) {
  Graph before = initialised(parse_graph(text), 1);
  verify_types(before);
  Graph after = find_pass(pass).run(before, {});
  verify_types(after);
  expect_same_outputs(before, after, 1e-5 + find_pass(pass).tolerance);
  return after;
}

/// Prints the nodes of a graph, one in a line.
inline std::string print_nodes(const Graph& graph) {
  std::string text = print(graph), nodes;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at) + 1;
    std::string line = text.substr(at, end - at);
    bool is_given = false;
    for (const char* word : {"graph ", "input ", "weight ", "state ", "constant ", "output "}) {
      is_given = is_given || line.starts_with(word);
    }
    if (!is_given) nodes += line;
    at = end;
  }
  return nodes;
}

}  // namespace lathe::test
