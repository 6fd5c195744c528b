// The gate as a job, on a small network.
#include "jobs/gate.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/small_scoring.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

struct GateJob {
  TemporaryDirectory directory;
  GateJobOptions options;

  GateJob() { options.score = small_scoring(directory); }
};

TEST(GateJob, TheOriginalIsAsItWas) {
  GateJob job;
  job.options.rule = find_rule("paper");
  GateVerdict verdict = judge_network(job.options);
  EXPECT_TRUE(verdict.accepted);
  EXPECT_DOUBLE_EQ(verdict.ratio, 1);
}

TEST(GateJob, JudgesARecipeAndTellsHowFarItIs) {
  GateJob job;
  job.options.recipe = parse_network_recipe("first: group(4)");
  std::vector<WorkDone> told;
  GateVerdict verdict = judge_network(job.options, {[&](const JobEvent& event) {
                                        if (const auto* work = std::get_if<WorkDone>(&event))
                                          told.push_back(*work);
                                      }});
  EXPECT_NE(verdict.ratio, 1);
  EXPECT_GT(verdict.ratio, 0);
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back().done, told.back().all);
  EXPECT_EQ(told.back().all, 4u);  // two networks, two seeds
}

TEST(GateJob, JudgesRandomNetworksTheSameWayAgain) {
  GateJob job;
  RandomJudgement first = judge_random(job.options, {12, 3});
  EXPECT_EQ(first.log_ratios.size(), 12u);
  EXPECT_EQ(first.exact_ratios.size(), 3u);
  EXPECT_TRUE(first.agreement);
  EXPECT_LE(first.accepted, 12u);
  RandomJudgement second = judge_random(job.options, {12, 0});
  EXPECT_EQ(first.log_ratios, second.log_ratios);
  EXPECT_FALSE(second.agreement);
}

TEST(GateJob, CanBeStopped) {
  GateJob job;
  EXPECT_THROW(judge_random(job.options, {12, 3}, {nullptr, [] { return true; }}), UserError);
  EXPECT_THROW(judge_network(job.options, {nullptr, [] { return true; }}), UserError);
}

}  // namespace
}  // namespace lathe::test
