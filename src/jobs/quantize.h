// A network on 8-bit integers, as a job: calibrated on samples, and judged by others.
//
//   QuantizeOptions options{.network = {.network = "model.onnx"}, .data = "cifar10:/data/cifar10"};
//   QuantizeResult found = quantize_network(options);
//   found.before->top1(), found.after->top1()                          91.73, 91.65
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "capacity/quantised.h"
#include "jobs/evaluate.h"

namespace lathe {

/// Samples of the training part that are looked at, unless the user says otherwise.
inline constexpr long calibration_images = 256;

/// What is looked at, and how.
struct CalibrationSource {
  std::string data;  ///< as load_dataset() reads it
  Normalize normalize = Normalize::none;
  long images = calibration_images;
  Clipping clipping = QuantiseOptions().clipping;
};

struct QuantizeOptions {
  NetworkArguments network;
  CalibrationSource calibration;
  long limit = 0;   ///< the first so many test images; 0: all
  int threads = 0;  ///< 0: one for each processor
};

struct QuantizeResult {
  Quantised found;
  std::optional<AnswerCounts> before, after;  ///< on test images, if they have labels
};

/// Returns minibatches of the training part in the form that a network reads. Fails if there are
/// no data.
std::vector<Array> calibration_minibatches(const Graph& network, const CalibrationSource& source);

/// Returns how networks are run to be calibrated.
QuantiseOptions calibration_options(const CalibrationSource& source, int threads,
                                    const JobListener& listener = {});

/// Quantises a graph, whose weights have data.
Quantised quantize_graph(const Graph& network, const CalibrationSource& source, int threads,
                         const JobListener& listener = {});

/// Counts the answers of two networks for the first test images; of all, if that is 0. None if the
/// images have no labels.
struct BothAnswers {
  AnswerCounts before, after;
};
std::optional<BothAnswers> answers_of_both(const Graph& before, const Graph& after,
                                           const CalibrationSource& source, long limit, int threads,
                                           const JobListener& listener = {});

/// Quantises, and counts the answers before and after. Fails unless the network is trained.
QuantizeResult quantize_network(const QuantizeOptions& options, const JobListener& listener = {});

/// Converts what was found to JSON, without the network.
nlohmann::json to_json(const QuantizeResult& found);

}  // namespace lathe
