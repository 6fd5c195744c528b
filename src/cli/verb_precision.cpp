// verb_precision.cpp: see verb_precision.h.
#include "cli/verb_precision.h"

#include <fmt/ranges.h>

#include "cli/verb_listener.h"

namespace lathe::cli {

void add_data_argument(Command& app, CalibrationArguments& arguments) {
  app.add_option("--data", arguments.data,
                 "images: cifar10:FOLDER, npy:X.npy,Y.npy or synthetic:SEED");
}

void add_normalize_argument(Command& app, CalibrationArguments& arguments) {
  app.add_option("--normalize", arguments.normalize, "how to normalise images")
      ->check(one_of({"none", "imagenet", "cifar"}));
}

void add_clipping_arguments(Command& app, CalibrationArguments& arguments) {
  app.add_option("--images", arguments.images,
                 "number of training images that 8-bit integers are made for")
      ->check(range(1, 1L << 20));
  app.add_option("--calibration", arguments.clipping,
                 "what 8-bit integers leave out: nothing, the outermost ten-thousandth of all "
                 "numbers, or so much that the squared error is least")
      ->check(one_of({"minmax", "percentile", "mse"}));
}

CalibrationSource source_of(const CalibrationArguments& arguments) {
  return {arguments.data, *normalize_named(arguments.normalize), arguments.images,
          *clipping_named(arguments.clipping)};
}

void add_precision_arguments(Command& app, PrecisionArguments& arguments) {
  app.add_option("--precision", arguments.precision,
                 "the type of numbers that layers read and write; int8 needs --data")
      ->check(one_of({"f32", "tf32", "f16", "bf16", "int8"}));
  add_clipping_arguments(app, arguments.calibration);
}

LayerPrecisions precisions_of(const PrecisionArguments& arguments,
                              const NetworkArguments& network) {
  return lathe::precisions_of(network, *precision_named(arguments.precision));
}

std::string precisions_in_words(const LayerPrecisions& precisions) {
  std::set<Precision> found;
  for (const auto& [layer, precision] : precisions.of_layer) found.insert(precision);
  if (found.empty()) found.insert(precisions.others);
  std::vector<std::string> names;
  for (Precision each : found) names.emplace_back(name_of(each));
  return fmt::format("{}", fmt::join(names, " and "));
}

Graph with_precisions(const Graph& graph, const LayerPrecisions& precisions,
                      const CalibrationArguments& calibration, int threads) {
  Narrowed found;
  {
    JobBar bar("calibrating");
    found =
        lathe::with_precision(graph, {precisions, source_of(calibration), threads}, bar.listener());
  }
  for (const std::string& layer : found.kept) fmt::print(stderr, "lathe: {}\n", layer);
  return found.network;
}

void print_answers(const Graph& before, const Graph& after, const std::string& what,
                   const CalibrationArguments& calibration, int threads) {
  if (calibration.data.empty()) return;
  std::optional<BothAnswers> both;
  {
    JobBar bar("counting");
    both = answers_of_both(before, after, source_of(calibration), 0, threads, bar.listener());
  }
  if (!both) return;
  fmt::print("top-1 of {} images of {}: f32 {:.2f} %, {} {:.2f} %\n", both->after.samples,
             both->after.data, both->before.top1(), what, both->after.top1());
}

}  // namespace lathe::cli
