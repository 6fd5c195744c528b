// evaluate.cpp: see evaluate.h.
#include "jobs/evaluate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace lathe {
namespace {

constexpr size_t bins_of_certainty = 15;

/// Are these the probabilities of classes, and not scores?
bool are_probabilities(std::span<const double> scores) {
  double sum = std::accumulate(scores.begin(), scores.end(), 0.0);
  return std::abs(sum - 1) < 1e-3 && *std::min_element(scores.begin(), scores.end()) >= 0;
}

std::vector<double> probabilities_of(std::span<const double> scores) {
  std::vector<double> result(scores.begin(), scores.end());
  if (are_probabilities(scores)) return result;
  double largest = *std::max_element(result.begin(), result.end()), sum = 0;
  for (double& p : result) sum += p = std::exp(p - largest);
  for (double& p : result) p /= sum;
  return result;
}

/// Returns how many classes come before this one. Of equal scores, that of the first class does.
long place_of(std::span<const double> scores, size_t label) {
  long before = 0;
  for (size_t c = 0; c < scores.size(); ++c) {
    before += scores[c] > scores[label] || (scores[c] == scores[label] && c < label) ? 1 : 0;
  }
  return before;
}

/// Returns the shape of one sample that a network reads.
Shape sample_of(const Type& type) {
  return {type.shape.begin() + (type.shape.empty() ? 0 : 1), type.shape.end()};
}

/// Returns the samples for a network: generated ones have its shape and its classes.
Dataset fitted_to(const Dataset& data, const Runnable& network) {
  if (network.inputs.empty()) fail("the network has no input");
  const Shape& said = network.outputs.front().type.shape;
  if (said.size() != 2) return data;
  return data.fitted({{InputForm{sample_of(network.inputs.front().type)}}, said[1]});
}

/// Returns how many classes the network tells apart. Fails unless it takes the samples of the
/// dataset, and knows all of their classes.
long check_fits(const Runnable& network, const Dataset& data, const std::string& name) {
  const Type& type = network.inputs.front().type;
  if (network.inputs.size() != 1 || sample_of(type) != data.shape) {
    fail("'{}' has images of the shape {}, but the network's input is {}", name,
         print_shape(data.shape), print_type(type));
  }
  long batch = type.shape[0], scores = count_of(network.outputs.front().type.shape);
  long classes = batch == 0 ? 0 : scores / batch;
  if (data.classes > classes || classes == 0) {
    fail("'{}' has labels from 0 to {}, but the network has {} classes", name, data.classes - 1,
         classes);
  }
  return classes;
}

}  // namespace

std::optional<Split> split_named(const std::string& name) {
  if (name == "test") return Split::test;
  if (name == "train") return Split::train;
  if (name == "validation") return Split::validation;
  return std::nullopt;
}

nlohmann::json to_json(const AnswerCounts& found) {
  return {{"data", found.data},
          {"images", found.samples},
          {"right", found.right},
          {"without_answer", found.unanswered},
          {"top1", found.top1()},
          {"top5", found.top5()},
          {"loss", found.loss},
          {"sure", found.sure},
          {"sure_right", found.sure_right},
          {"sure_wrong", found.sure_wrong},
          {"miscalibration", found.miscalibration},
          {"confusion", found.confusion}};
}

Answers::Answers(long classes) : bins_(bins_of_certainty) {
  auto count = static_cast<size_t>(classes);
  sums_.confusion.assign(count, std::vector<long>(count, 0));
}

void Answers::add(std::span<const double> scores, long label) {
  ++sums_.samples;
  if (std::any_of(scores.begin(), scores.end(), [](double s) { return std::isnan(s); })) {
    ++sums_.unanswered;
    return;
  }
  std::vector<double> p = probabilities_of(scores);
  auto truth = static_cast<size_t>(label);
  auto answer = static_cast<size_t>(std::max_element(p.begin(), p.end()) - p.begin());
  bool is_right = answer == truth;
  sums_.right += is_right ? 1 : 0;
  sums_.among_five += place_of(p, truth) < 5 ? 1 : 0;
  sums_.loss -= std::log(std::max(p[truth], 1e-30));
  sums_.sure += p[answer];
  (is_right ? sums_.sure_right : sums_.sure_wrong) += p[answer];
  ++sums_.confusion[truth][answer];
  auto last = static_cast<double>(bins_of_certainty - 1);
  Bin& bin = bins_[static_cast<size_t>(std::min(last, p[answer] * bins_of_certainty))];
  bin.sure += p[answer];
  ++bin.count;
  bin.right += is_right ? 1 : 0;
}

AnswerCounts Answers::found() const {
  if (sums_.samples == 0) fail("there are no samples to count answers for");
  AnswerCounts found = sums_;
  auto mean = [](double sum, long count) {
    return count == 0 ? 0 : sum / static_cast<double>(count);
  };
  long answered = found.samples - found.unanswered;
  found.loss = mean(found.loss, answered);
  found.sure = mean(found.sure, answered);
  found.sure_right = mean(found.sure_right, found.right);
  found.sure_wrong = mean(found.sure_wrong, answered - found.right);
  double distance = 0;
  for (const Bin& bin : bins_) distance += std::abs(bin.sure - static_cast<double>(bin.right));
  found.miscalibration = mean(distance, answered);
  return found;
}

AnswerCounts answers_of(const Runnable& network, const Dataset& samples, long limit,
                        const JobListener& listener, const std::string& name) {
  Dataset data = fitted_to(samples, network);
  Answers answers(check_fits(network, data, name.empty() ? data.name : name));
  long batch = network.inputs.front().type.shape[0],
       count = limit > 0 ? std::min(limit, data.count) : data.count;
  if (data.count < batch) fail("there are fewer images than the {} of a batch", batch);
  for (long next = 0; next < count;) {
    if (listener.is_stopped()) fail("stopped after {} of {} samples", next, count);
    long first = std::min(next, data.count - batch);  // the last one has samples of that before it
    std::vector<double> scores = network.run({data.images(first, batch)}, nullptr).front().reals();
    std::vector<long> labels = data.labels(first, batch);
    size_t classes = scores.size() / labels.size();
    for (; next < std::min(first + batch, count); ++next) {
      auto i = static_cast<size_t>(next - first);
      answers.add(std::span(scores).subspan(i * classes, classes), labels[i]);
    }
    listener(WorkDone{"samples", static_cast<size_t>(next), static_cast<size_t>(count)});
  }
  AnswerCounts found = answers.found();
  found.data = data.name;
  return found;
}

AnswerCounts evaluate(const EvaluateOptions& options, const JobListener& listener) {
  return answers_of(make_runnable(options.run),
                    load_dataset(options.data, options.split, options.normalize), options.limit,
                    listener, options.data);
}

}  // namespace lathe
