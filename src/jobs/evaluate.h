// How good a network is on labelled samples, as a job.
//
//   EvaluateOptions options{.run = {.network = {.network = "model.onnx"},
//                                   .target = native_target()},
//                           .data = "cifar10:/data/cifar10", .normalize = Normalize::imagenet};
//   AnswerCounts found = evaluate(options);
//   found.top1();                                                   91.73
//
// A score is turned into a probability by softmax, unless the network's outputs are probabilities.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "data/dataset.h"
#include "jobs/event.h"
#include "jobs/runnable.h"

namespace lathe {

struct EvaluateOptions {
  RunnableOptions run;
  std::string data;  ///< as load_dataset() reads it
  Split split = Split::test;
  Normalize normalize = Normalize::none;
  long limit = 0;  ///< the first so many samples; 0: all
};

/// Returns a part of data by name: test, train or validation; nothing if there is none of it.
std::optional<Split> split_named(const std::string& name);

/// What a network says of labelled samples.
struct AnswerCounts {
  std::string data;                          ///< the name of the dataset
  long samples = 0, right = 0;               ///< right: the best class is the label
  long among_five = 0;                       ///< the label is one of the best five classes
  long unanswered = 0;                       ///< samples whose scores are no numbers
  double loss = 0;                           ///< the mean of -log(probability of the label)
  double sure = 0;                           ///< the mean probability of the answers, from 0 to 1
  double sure_right = 0, sure_wrong = 0;     ///< the same of right and of wrong answers
  double miscalibration = 0;                 ///< mean distance of probability and truth, 0 to 1
  std::vector<std::vector<long>> confusion;  ///< how often the samples of [label] got [answer]

  /// Return percentages of the samples.
  double top1() const { return percent(right); }
  double top5() const { return percent(among_five); }

 private:
  double percent(long part) const {
    return samples == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(samples);
  }
};

/// Converts what was counted to JSON.
nlohmann::json to_json(const AnswerCounts& found);

/// Counts the answers of a network, sample by sample.
class Answers {
 public:
  explicit Answers(long classes);

  /// Adds a sample with its label and the scores of all classes.
  void add(std::span<const double> scores, long label);
  /// Returns what was found. Fails if nothing was added.
  AnswerCounts found() const;

 private:
  /// Answers that are about equally sure.
  struct Bin {
    double sure = 0;
    long count = 0, right = 0;
  };

  AnswerCounts sums_;  ///< with sums where it will have means
  std::vector<Bin> bins_;
};

/// Runs a network that is ready on the samples; the first "limit" of them unless that is 0. Errors
/// call the data by "name", unless that is empty.
AnswerCounts answers_of(const Runnable& network, const Dataset& data, long limit = 0,
                        const JobListener& listener = {}, const std::string& name = "");

/// Runs the network on the samples. Fails if they do not fit it, or if it was stopped.
AnswerCounts evaluate(const EvaluateOptions& options, const JobListener& listener = {});

}  // namespace lathe
