// call_network.cpp: options that several calls have. Interface: call_network.h.
#include "calls/call_network.h"

namespace lathe {

NetworkArguments network_options(Options& options) {
  constexpr OptionRange size{1, 1 << 20};
  NetworkArguments network;
  network.network = options.required("network");
  options.read("shapes", network.shapes);
  options.read("apply", network.recipes);
  options.read("batch", network.model.batch, size);
  long classes = 0, extent = 0;
  options.read("classes", classes, size);
  options.read("size", extent, size);
  if (classes > 0) network.model.classes = classes;
  if (extent > 0) network.model.size = extent;
  options.read("seed", network.seed, {0, 1e18});
  return network;
}

ScoreArguments data_options(Options& options, ScoreArguments usual) {
  usual.network = network_options(options);
  options.read("data", usual.data);
  options.read("normalize", usual.normalize);
  options.read("samples", usual.samples, {2, 4096});
  options.read("seeds", usual.seeds, {1, 10000});
  options.read("loss", usual.loss);
  if (usual.loss != "labels" && usual.loss != "output") {
    fail("loss is '{}': there are labels and output", usual.loss);
  }
  return usual;
}

ScoreArguments score_options(Options& options, ScoreArguments usual) {
  ScoreArguments score = data_options(options, std::move(usual));
  options.read("hook", score.hook);
  options.read("threads", score.threads, {0, 256});
  options.read("double", score.is_double);
  options.read("memory", score.memory, {1, 1e18});
  options.read("max_error", score.max_error, {0});
  return score;
}

Normalize normalize_option(Options& options) {
  std::string name = "none";
  options.read("normalize", name);
  if (auto normalize = normalize_named(name)) return *normalize;
  fail("normalize is '{}': there are none, imagenet and cifar", name);
}

CalibrationSource calibration_source(Options& options) {
  CalibrationSource result;
  std::string clipping = "mse";
  options.read("calibration", clipping);
  options.read("data", result.data);
  options.read("images", result.images, {1, 1 << 20});
  result.normalize = normalize_option(options);
  auto clipped = clipping_named(clipping);
  if (!clipped) fail("calibration is '{}': there are minmax, percentile and mse", clipping);
  result.clipping = *clipped;
  return result;
}

PrecisionChoice precision_options(Options& options) {
  PrecisionChoice result;
  std::string precision = "f32";
  options.read("precision", precision);
  result.calibration = calibration_source(options);
  auto known = precision_named(precision);
  if (!known) fail("precision is '{}': there are f32, tf32, f16, bf16 and int8", precision);
  result.precision = *known;
  return result;
}

}  // namespace lathe
