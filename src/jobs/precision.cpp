// precision.cpp: see precision.h.
#include "jobs/precision.h"

#include <algorithm>

namespace lathe {

Narrowed with_precision(const Graph& network, const PrecisionOptions& options,
                        const JobListener& listener) {
  const LayerPrecisions& precisions = options.precisions;
  if (precisions.are_all(Precision::f32)) return {network, {}};
  bool has_integers = precisions.others == Precision::int8 ||
                      std::any_of(precisions.of_layer.begin(), precisions.of_layer.end(),
                                  [](const auto& l) { return l.second == Precision::int8; });
  std::vector<Array> minibatches;
  if (has_integers || !options.calibration.data.empty()) {
    minibatches = calibration_minibatches(network, options.calibration);
  }
  return narrowed(network, precisions, minibatches,
                  calibration_options(options.calibration, options.threads, listener));
}

LayerPrecisions precisions_of(const NetworkArguments& arguments, Precision others) {
  NetworkRecipe all;
  for (const std::string& text : arguments.recipes) {
    NetworkRecipe recipe = load_network_recipe("--apply", text);
    all.insert(all.end(), recipe.begin(), recipe.end());
  }
  if (without_precisions(all) == all) return {{}, others};
  NetworkArguments plain = arguments;
  plain.recipes.clear();
  return precisions_in(load_network(plain), all, others);
}

void check_precision_on_gpu(const std::string& precision) {
  auto known = precision_named(precision);
  if (known && *known != Precision::int8) return;
  fail("--precision {}: layers are measured on GPUs in f32, tf32, f16 or bf16", precision);
}

}  // namespace lathe
