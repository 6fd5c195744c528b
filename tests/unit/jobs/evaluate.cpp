// Counting the answers of networks: jobs/evaluate.h.
#include "jobs/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace lathe {
namespace {

std::vector<double> probabilities(double of_first, double of_second, double of_third) {
  return {of_first, of_second, of_third};
}

TEST(Answers, CountsWhatIsRightAndWhatIsTakenForWhat) {
  Answers answers(3);
  answers.add(probabilities(0.7, 0.2, 0.1), 0);
  answers.add(probabilities(0.5, 0.3, 0.2), 1);
  answers.add(probabilities(0.1, 0.1, 0.8), 2);
  AnswerCounts found = answers.found();
  EXPECT_EQ(found.samples, 3);
  EXPECT_EQ(found.right, 2);
  EXPECT_EQ(found.among_five, 3);
  std::vector<std::vector<long>> expected = {{1, 0, 0}, {1, 0, 0}, {0, 0, 1}};
  EXPECT_EQ(found.confusion, expected);
  EXPECT_NEAR(found.loss, -(std::log(0.7) + std::log(0.3) + std::log(0.8)) / 3, 1e-12);
  EXPECT_NEAR(found.sure, 2.0 / 3, 1e-12);
  EXPECT_NEAR(found.sure_right, 0.75, 1e-12);
  EXPECT_NEAR(found.sure_wrong, 0.5, 1e-12);
}

TEST(Answers, TurnsScoresIntoProbabilities) {
  Answers of_scores(2), of_probabilities(2);
  of_scores.add(std::vector<double>{1000, 1000 + std::log(3.0)}, 1);
  of_probabilities.add(std::vector<double>{0.25, 0.75}, 1);
  EXPECT_NEAR(of_scores.found().loss, of_probabilities.found().loss, 1e-9);
  EXPECT_NEAR(of_scores.found().sure, 0.75, 1e-9);
}

TEST(Answers, TheLabelIsAmongTheBestFive) {
  Answers answers(7);
  std::vector<double> scores = {7, 6, 5, 4, 3, 2, 1};
  answers.add(scores, 4);
  answers.add(scores, 5);
  std::vector<double> equal(7, 1.0);  // of equal scores, the first class comes first
  answers.add(equal, 4);
  answers.add(equal, 5);
  EXPECT_EQ(answers.found().among_five, 2);
  EXPECT_EQ(answers.found().right, 0);
}

TEST(Answers, CertaintyThatIsJustifiedIsNotOff) {
  Answers honest(2), proud(2);
  for (int i = 0; i < 4; ++i) {
    long label = i == 0 ? 1 : 0;  // three of four are right
    honest.add(std::vector<double>{0.75, 0.25}, label);
    proud.add(std::vector<double>{0.95, 0.05}, label);
  }
  EXPECT_NEAR(honest.found().miscalibration, 0, 1e-12);
  EXPECT_NEAR(proud.found().miscalibration, 0.2, 1e-12);
}

TEST(Answers, WhatIsNoNumberIsNoAnswer) {
  Answers answers(2);
  answers.add(std::vector<double>{std::numeric_limits<double>::quiet_NaN(), 1}, 1);
  AnswerCounts found = answers.found();
  EXPECT_EQ(found.samples, 1);
  EXPECT_EQ(found.unanswered, 1);
  EXPECT_EQ(found.right, 0);
  EXPECT_EQ(found.loss, 0);
}

TEST(Answers, NothingIsNoResult) { EXPECT_THROW(Answers(2).found(), UserError); }

TEST(Evaluate, EverySampleCountsOnceWhateverTheBatch) {
  EvaluateOptions options;
  options.run.target = native_target();
  options.run.network.network = "resnet20-cifar";
  options.data = "synthetic:1,10";
  options.limit = 5;
  AnswerCounts one = evaluate(options);
  options.run.network.model.batch = 4;
  AnswerCounts four = evaluate(options);
  EXPECT_EQ(one.samples, 5);
  EXPECT_EQ(four.samples, 5);
  EXPECT_EQ(one.confusion, four.confusion);
  options.run.network.model.batch = 8;
  AnswerCounts eight = evaluate(options);
  EXPECT_EQ(eight.samples, 5);
  EXPECT_EQ(one.confusion, eight.confusion);
  EXPECT_NEAR(one.loss, four.loss, 1e-3 * one.loss);
}

}  // namespace
}  // namespace lathe
