// evaluate.cpp: "lathe evaluate NETWORK": how often a network is right on labelled samples, how
// sure it is, and what it takes for what.
#include "jobs/evaluate.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "cli/verb_inputs_outputs.h"
#include "cli/verb_listener.h"
#include "cli/verb_precision.h"
#include "cli/verb_tuned.h"

namespace lathe::cli {
namespace {

struct EvaluateArgs {
  EvaluateOptions job;
  TunedArguments tuned;
  PrecisionArguments precision;
  std::string normalize = "none", split = "test", labels;
  bool confusion = false, json = false;
};

/// A mistake that is made again and again.
struct Mistake {
  size_t label, answer;
  long count;
};

/// Returns the most frequent mistakes first.
std::vector<Mistake> mistakes_of(const AnswerCounts& found) {
  std::vector<Mistake> all;
  for (size_t label = 0; label < found.confusion.size(); ++label) {
    for (size_t answer = 0; answer < found.confusion.size(); ++answer) {
      long count = found.confusion[label][answer];
      if (label != answer && count > 0) all.push_back({label, answer, count});
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Mistake& a, const Mistake& b) { return a.count > b.count; });
  return all;
}

std::string name_of(const std::vector<std::string>& names, size_t c) {
  return c < names.size() ? names[c] : fmt::format("class {}", c);
}

void print_mistakes(const AnswerCounts& found, const std::vector<std::string>& names) {
  std::vector<Mistake> mistakes = mistakes_of(found);
  for (size_t i = 0; i < std::min<size_t>(mistakes.size(), 3); ++i) {
    const Mistake& m = mistakes[i];
    const std::vector<long>& row = found.confusion[m.label];
    fmt::print("{:<8}{} taken for {}: {} of {}\n", i == 0 ? "errors" : "", name_of(names, m.label),
               name_of(names, m.answer), m.count, std::accumulate(row.begin(), row.end(), 0L));
  }
}

/// Prints a line for each label, and in it how often each class was the answer.
void print_confusion(const AnswerCounts& found, const std::vector<std::string>& names) {
  size_t width = 0;
  for (size_t c = 0; c < found.confusion.size(); ++c) {
    width = std::max(width, name_of(names, c).size());
  }
  fmt::print("\nlabel, and how often each class was the answer\n");
  for (size_t label = 0; label < found.confusion.size(); ++label) {
    fmt::print("{:<{}}", name_of(names, label), width);
    for (long count : found.confusion[label]) fmt::print("{:>6}", count);
    fmt::print("\n");
  }
}

void print_found(const AnswerCounts& found, const EvaluateArgs& options,
                 const std::vector<std::string>& names) {
  fmt::print("top-1   {:.2f} %: {} of {} images of {}\n", found.top1(), found.right, found.samples,
             found.data);
  if (found.confusion.size() > 5) fmt::print("top-5   {:.2f} %\n", found.top5());
  if (found.unanswered > 0) {
    fmt::print("        for {} of them the outputs are NaN: they have no answer\n",
               found.unanswered);
  }
  if (found.unanswered == found.samples) return;
  fmt::print("loss    {:.4f}\n", found.loss);
  std::string sure = fmt::format("{:.1f} % on average", 100 * found.sure);
  if (found.right > 0) sure += fmt::format(", {:.1f} % where right", 100 * found.sure_right);
  if (found.right + found.unanswered < found.samples) {
    sure += fmt::format(", {:.1f} % where wrong", 100 * found.sure_wrong);
  }
  fmt::print("sure    {}\n", sure);
  fmt::print("        off by {:.1f} points from how often it is right\n",
             100 * found.miscalibration);
  print_mistakes(found, names);
  if (options.confusion) print_confusion(found, names);
}

int run_evaluate(EvaluateArgs& options) {
  EvaluateOptions& job = options.job;
  job.split = *split_named(options.split);
  job.normalize = *normalize_named(options.normalize);
  int threads = job.run.threads;
  job.run.target = native_target();
  job.run.choose = choices_for(options.tuned, job.run.target, threads);
  job.run.layouts = layouts_for(options.tuned, job.run.target, threads);
  job.run.max_error = options.tuned.max_error;
  LayerPrecisions precisions = precisions_of(options.precision, job.run.network);
  if (!precisions.are_all(Precision::f32)) {
    CalibrationArguments& calibration = options.precision.calibration;
    calibration.data = job.data;
    calibration.normalize = options.normalize;
    job.run.prepare = [&](const Graph& graph) {
      return with_precisions(graph, precisions, calibration, threads);
    };
  }
  std::vector<std::string> names = read_labels(options.labels);
  AnswerCounts found;
  {
    JobBar bar("running");
    found = evaluate(job, bar.listener());
  }
  check_labels(options.labels, names, static_cast<long>(found.confusion.size()));
  if (options.json) {
    fmt::print("{}\n", to_json(found).dump());
  } else {
    print_found(found, options, names);
  }
  return 0;
}

std::function<int()> set_up_evaluate(Command& app) {
  auto options = std::make_shared<EvaluateArgs>();
  RunnableOptions& run = options->job.run;
  add_network_arguments(app, run.network);
  app.option("NETWORK")->description(
      "a built-in network ('lathe list models'), an .onnx file, a .graph file, a bundle, or a "
      "folder that 'lathe compile' wrote");
  app.add_option("--data", options->job.data,
                 "labelled images: cifar10:FOLDER, npy:X.npy,Y.npy or synthetic:SEED")
      ->required();
  app.add_option("--split", options->split,
                 "which part of the data; validation is what a bundle's train.py "
                 "validates with")
      ->check(one_of({"test", "train", "validation"}));
  app.add_option("--normalize", options->normalize, "how to normalise images")
      ->check(one_of({"none", "imagenet", "cifar"}));
  add_precision_arguments(app, options->precision);
  app.add_option("--limit", options->job.limit, "use so many samples of the data; 0 means all")
      ->check(range(0, 1L << 40));
  app.add_option("--labels FILE", options->labels, "read the names of classes, one in each line");
  app.add_flag("--confusion", options->confusion, "print how often each class is taken for each");
  app.add_option("--threads", run.threads, "number of workers; 0 means one per processor")
      ->check(range(0, 256));
  add_tuned_arguments(app, options->tuned);
  add_error_argument(app, options->tuned.max_error);
  app.add_option("--seed", run.network.seed, "seed of the weights, where they are random");
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run_evaluate(*options); };
}

}  // namespace

Verb evaluate() {
  return {"evaluate", "count how often a network is right, and how sure it is", set_up_evaluate,
          "lathe evaluate model.onnx --data cifar10:DIR --normalize imagenet"};
}

}  // namespace lathe::cli
