// Inputs that are drawn at random: whole numbers stay in the range that a graph allows, and fill
// it.
#include "program/random_inputs.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/graph.h"
#include "models/model.h"

namespace lathe::test {
namespace {

/// Returns what the whole numbers of a graph's first input are below.
long below(const std::string& lines, const std::string& element = "i64") {
  Graph graph =
      parse_graph("graph g\ninput i: " + element + "[3x2]\nweight t: f32[7x5] = zeros\n" + lines);
  return below_of(graph, graph.inputs[0]);
}

TEST(RandomInputs, IndicesAreBelowWhatTheyIndex) {
  EXPECT_EQ(below("o = gather(t, i): f32[3x2x5]\noutput o\n"), 7);
  EXPECT_EQ(below("o = gather(t, i, axis=1): f32[7x3x2]\noutput o\n"), 5);
  EXPECT_EQ(below("o = gather_elements(t, i): f32[3x2]\noutput o\n"), 7);
  EXPECT_EQ(below("o = gather_nd(t, i): f32[3]\noutput o\n"), 5);
  EXPECT_EQ(below("weight v: f32[2] = zeros\no = one_hot(i, v, depth=4): f32[3x2x4]\noutput o\n"),
            4);
  // The least extent counts, also behind nodes that hand numbers on.
  EXPECT_EQ(below("r = reshape(i, shape=[6]): i64[6]\no = gather(t, r): f32[6x5]\n"
                  "p = gather(t, i, axis=1): f32[7x3x2]\noutput o\noutput p\n"),
            5);
}

TEST(RandomInputs, OtherWholeNumbersAreFew) {
  EXPECT_EQ(below("o = cast(i, to=\"f32\"): f32[3x2]\noutput o\n"), any_whole);
  EXPECT_EQ(below("o = cast(i, to=\"f32\"): f32[3x2]\noutput o\n", "u8"), 256);
}

TEST(RandomInputs, TokensFillTheirVocabulary) {
  Graph bert = load_model("bert_tiny", {.batch = 4, .size = 64});
  std::vector<Array> inputs = random_inputs(bert, 1);
  ASSERT_EQ(inputs.size(), 3u);
  auto [least, most] = [&] {
    std::vector<long> tokens = inputs[0].integers();
    auto found = std::minmax_element(tokens.begin(), tokens.end());
    return std::pair(*found.first, *found.second);
  }();
  EXPECT_GE(least, 0);
  EXPECT_LT(least, 1000);
  EXPECT_LT(most, 30522);
  EXPECT_GT(most, 29000);
  for (size_t i : {1, 2}) {  // which are there, of which sentence
    for (long value : inputs[i].integers()) EXPECT_TRUE(value == 0 || value == 1);
  }
  EXPECT_EQ(random_inputs(bert, 1)[0].integers(), inputs[0].integers());
  EXPECT_NE(random_inputs(bert, 2)[0].integers(), inputs[0].integers());
}

}  // namespace
}  // namespace lathe::test
