// quantize.cpp: see quantize.h.
#include "jobs/quantize.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/parallel.h"
#include "jobs/fit.h"

namespace lathe {

std::vector<Array> calibration_minibatches(const Graph& network, const CalibrationSource& source) {
  if (source.data.empty()) {
    fail("8-bit integers need --data: images whose numbers they are made for");
  }
  if (network.inputs.size() != 1) {
    fail("'{}' has {} inputs; images are for one", network.name, network.inputs.size());
  }
  Dataset data = load_dataset(source.data, Split::train, source.normalize);
  std::vector<Array> minibatches = minibatches_of(data, network, source.images);
  const Shape& shape = network.values[network.inputs[0]].type.shape;
  Shape sample(shape.begin() + 1, shape.end()), given = minibatches.at(0).shape();
  given.erase(given.begin());
  if (given != sample) {
    fail("'{}' has images of the shape {}, but the network's input is {}", source.data,
         print_shape(given), print_shape(shape));
  }
  return minibatches;
}

QuantiseOptions calibration_options(const CalibrationSource& source, int threads,
                                    const JobListener& listener) {
  QuantiseOptions how;
  how.clipping = source.clipping;
  how.watch.target = native_target();
  how.watch.threads = threads > 0 ? threads : processors();
  how.watch.progress = [listener](size_t done, size_t all) {
    if (listener.is_stopped()) fail("stopped after {} of {} minibatches", done, all);
    listener(WorkDone{"minibatches calibrated", done, all});
  };
  return how;
}

Quantised quantize_graph(const Graph& network, const CalibrationSource& source, int threads,
                         const JobListener& listener) {
  return quantised(network, calibration_minibatches(network, source),
                   calibration_options(source, threads, listener));
}

std::optional<BothAnswers> answers_of_both(const Graph& before, const Graph& after,
                                           const CalibrationSource& source, long limit, int threads,
                                           const JobListener& listener) {
  Dataset test = load_dataset(source.data, Split::test, source.normalize);
  if (test.classes == 0) return std::nullopt;
  int workers = threads > 0 ? threads : processors();
  return BothAnswers{validated(before, test, limit, workers, listener),
                     validated(after, test, limit, workers, listener)};
}

QuantizeResult quantize_network(const QuantizeOptions& options, const JobListener& listener) {
  Graph original = load_network(options.network);
  if (!is_trained(original)) {
    fail("'{}' has weights without data: train it first", options.network.network);
  }
  QuantizeResult result{
      quantize_graph(original, options.calibration, options.threads, listener), {}, {}};
  auto both = answers_of_both(original, result.found.network, options.calibration, options.limit,
                              options.threads, listener);
  if (both) {
    result.before = both->before;
    result.after = both->after;
  }
  return result;
}

nlohmann::json to_json(const QuantizeResult& found) {
  nlohmann::json layers = nlohmann::json::array();
  for (const QuantisedLayer& layer : found.found.layers) {
    nlohmann::json each{{"layer", layer.layer}, {"op", layer.op}};
    each["least"] = layer.least;
    each["greatest"] = layer.greatest;
    if (layer.kept.empty()) {
      each["scale"] = layer.data.scale;
      each["zero"] = layer.data.zero;
    } else {
      each["f32_because"] = layer.kept;
    }
    if (layer.error) each["error"] = *layer.error;
    layers.push_back(each);
  }
  nlohmann::json result{{"layers", layers}};
  if (found.before) {
    auto of = [](const AnswerCounts& counts) {
      return nlohmann::json{{"top1", counts.top1()}, {"loss", counts.loss}};
    };
    result["f32"] = of(*found.before);
    result["int8"] = of(*found.after);
    result["images"] = found.after->samples;
  }
  return result;
}

}  // namespace lathe
