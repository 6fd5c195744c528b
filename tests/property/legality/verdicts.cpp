// Verdicts on random steps: exact in both directions, compared pair by pair of instances.
#include <gtest/gtest.h>

#include "support/brute_force.h"
#include "support/random_recipe.h"

namespace lathe::test {
namespace {

/// Compares the judgement of what a step made with all pairs of its instances.
void expect_right_judgement(const Nest& before, const Nest& after, const Judged& judged) {
  EXPECT_EQ(refute_places(after), "");
  Judgement judgement = judge_order(after);
  bool same_instances = before.meaning == after.meaning;
  PairJudge pairs(same_instances ? before : after, after);
  EXPECT_EQ(judgement.violation.has_value(), pairs.finds_violation());
  EXPECT_EQ(judged.verdict.accepted(), !judgement.violation.has_value());
  if (judgement.violation) {
    EXPECT_EQ(pairs.refute(*judgement.violation), "") << witness(*judgement.violation, after);
    EXPECT_NE(judged.verdict.reason, "");
    EXPECT_NE(judged.verdict.evidence, "");
  } else {
    EXPECT_EQ(!judgement.lane_sums.empty(), pairs.finds_lane_sum());
  }
}

TEST(Verdicts, AreThoseOfAllPairsOfInstances) {
  for_each_case(6000, [](Case& trial) {
    Context ctx;
    random_walk(trial, ctx, random_nest(trial.random), Steps::program, expect_right_judgement);
  });
}

TEST(Verdicts, ExactStepsKeepTheValues) {
  for_each_case(7000, [](Case& trial) {
    Context ctx;
    std::string text = random_nest(trial.random);
    Outputs wanted = outputs(load(ctx, text));
    random_walk(trial, ctx, text, Steps::program,
                [&](const Nest&, const Nest&, const Judged& judged) {
                  if (!judged.verdict.accepted()) return;
                  EXPECT_EQ(outputs(judged.nest), wanted);
                });
  });
}

}  // namespace
}  // namespace lathe::test
