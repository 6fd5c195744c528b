// What travels between a search and its workers comes back as it was, bit for bit.
#include "search/task_forms.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace lathe::test {
namespace {

/// Sends JSON as workers do: as text.
nlohmann::json sent(const nlohmann::json& json) { return nlohmann::json::parse(json.dump()); }

TEST(TaskForms, NumbersComeBackBitForBit) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  LayerChange change{{0.1, 1.0 / 3, 5e-324, infinity, -infinity}, 1e300};
  LayerChange back = change_from_json(sent(to_json(change)));
  EXPECT_EQ(back.scores, change.scores);
  EXPECT_EQ(back.gain, change.gain);
}

TEST(TaskForms, QuestionsComeBack) {
  LayerQuestion question{"layer1.0.conv1", parse_recipe("split(ci, 8) -> group(8)"),
                         LayerWidth{32, 16, 2}, 7};
  LayerQuestion back = question_from_json(sent(to_json(question)));
  EXPECT_EQ(back.layer, question.layer);
  EXPECT_EQ(print(back.recipe), print(question.recipe));
  ASSERT_TRUE(back.width);
  EXPECT_EQ(back.width->filters, 32);
  EXPECT_EQ(back.width->groups, 2);
  EXPECT_EQ(back.kind, 7);
  EXPECT_TRUE(question_from_json(sent(to_json(LayerQuestion{"conv", {}, {}}))).recipe.empty());
}

TEST(TaskForms, TimesComeBack) {
  NetworkTimes times;
  times.own = 0.1;
  times.time = 1.0 / 3;
  times.nodes = {{"conv1", 1e-6}};
  times.checks.units = 3;
  NetworkTimes back = times_from_json(sent(to_json(times)));
  EXPECT_EQ(back.own, times.own);
  EXPECT_EQ(back.time, times.time);
  ASSERT_EQ(back.nodes.size(), 1U);
  EXPECT_EQ(back.nodes[0].seconds, 1e-6);
  EXPECT_EQ(back.checks, times.checks);
  times.failure = "it crashed";
  EXPECT_EQ(times_from_json(sent(to_json(times))).failure, "it crashed");
}

TEST(TaskForms, ComparisonsComeBack) {
  std::vector<Comparison> all{{"fisher", {0.25, 1.0 / 3}, {1e-9}, {{"conv1", -0.1}}}};
  std::vector<Comparison> back = comparisons_from_json(sent(to_json(all)));
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(back[0].log_ratios, all[0].log_ratios);
  EXPECT_EQ(back[0].differences, all[0].differences);
  EXPECT_EQ(back[0].layers[0].log_ratio, -0.1);
}

}  // namespace
}  // namespace lathe::test
