// What small built-in networks compute, operator by operator: texts and tokens that must not
// matter do not, those that must do; a network of cells without paths gives zeros.
#include <gtest/gtest.h>

#include <map>

#include "models/model.h"
#include "ops/op.h"
#include "poly/isl.h"

namespace lathe::test {
namespace {

/// Runs an untrained network; returns its outputs' elements.
std::vector<std::vector<double>> run(const Graph& untrained, const std::vector<Array>& inputs) {
  Graph graph = initialised(untrained, 1);
  Context context;
  std::map<ValueId, Array> arrays;
  for (size_t i = 0; i < inputs.size(); ++i) arrays[graph.inputs[i]] = inputs[i];
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    if (graph.values[id].data) arrays[id] = *graph.values[id].data;
  }
  for (const Node& node : graph.nodes) {
    std::vector<Array> operands;
    for (ValueId id : node.inputs) operands.push_back(arrays.at(id));
    arrays[node.outputs[0]] = evaluate(context, call_of(graph, node), operands).at(0);
  }
  std::vector<std::vector<double>> results;
  for (ValueId id : graph.outputs) results.push_back(arrays.at(id).reals());
  return results;
}

/// Returns the last hidden states of texts, each with its tokens and a mask.
std::vector<double> read_texts(const std::vector<long>& ids, const std::vector<long>& mask,
                               long texts = 1) {
  long tokens = static_cast<long>(ids.size()) / texts;
  Graph graph = load_model("bert_tiny", {.batch = texts, .size = tokens});
  Shape shape = {texts, tokens};
  return run(graph, {Array::of_integers(Element::i64, shape, ids),
                     Array::of_integers(Element::i64, shape, mask), Array(Element::i64, shape)})[0];
}

/// Returns a part of a text's hidden states: those of "count" tokens.
std::vector<double> tokens_of(const std::vector<double>& states, long first, long count) {
  const long hidden = 128;
  return {states.begin() + first * hidden, states.begin() + (first + count) * hidden};
}

TEST(ModelRun, MaskedTokensDoNotMatter) {
  std::vector<double> one = read_texts({5, 6, 7}, {1, 1, 0});
  std::vector<double> other = read_texts({5, 6, 99}, {1, 1, 0});
  EXPECT_EQ(tokens_of(one, 0, 2), tokens_of(other, 0, 2));
  EXPECT_NE(tokens_of(one, 2, 1), tokens_of(other, 2, 1));
}

TEST(ModelRun, OtherTokensMatter) {
  std::vector<double> one = read_texts({5, 6, 7}, {1, 1, 1});
  std::vector<double> other = read_texts({5, 6, 99}, {1, 1, 1});
  EXPECT_NE(tokens_of(one, 0, 1), tokens_of(other, 0, 1));
}

TEST(ModelRun, TextsOfABatchDoNotMeet) {
  std::vector<double> both = read_texts({5, 6, 7, 8}, {1, 1, 1, 1}, 2);
  EXPECT_EQ(tokens_of(both, 0, 2), read_texts({5, 6}, {1, 1}));
  EXPECT_EQ(tokens_of(both, 2, 2), read_texts({7, 8}, {1, 1}));
}

TEST(ModelRun, HiddenStatesAreNormalised) {
  std::vector<double> states = read_texts({5, 6}, {1, 1});
  double sum = 0, squares = 0;
  for (double x : states) sum += x, squares += x * x;
  EXPECT_NEAR(sum, 0, 1e-3);
  EXPECT_NEAR(squares / static_cast<double>(states.size()), 1, 1e-3);
}

TEST(ModelRun, CellsWithoutPathsGiveZeros) {
  for (const char* op : {"none", "skip_connect", "avg_pool_3x3", "nor_conv_1x1"}) {
    std::string name = fmt::format("nasbench201:|none~0|+|none~0|none~1|+|none~0|none~1|{}~2|", op);
    Array image = Array::of_reals(Element::f32, {1, 3, 4, 4}, std::vector<double>(48, 1));
    std::vector<double> output = run(load_model(name, {.size = 4}), {image})[0];
    EXPECT_EQ(output, std::vector<double>(10, 0)) << op;
  }
}

}  // namespace
}  // namespace lathe::test
