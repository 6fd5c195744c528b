// How precisely a network computes, as verbs take it: the options of calibration, and --precision.
#pragma once

#include "cli/verb.h"
#include "jobs/precision.h"

namespace lathe::cli {

/// The options that say what 8-bit integers are made for.
struct CalibrationArguments {
  std::string data, normalize = "none", clipping = "mse";
  long images = calibration_images;
};

/// Declares --data and --normalize, for verbs that do not have them; --images and --calibration.
void add_data_argument(Command& app, CalibrationArguments& arguments);
void add_normalize_argument(Command& app, CalibrationArguments& arguments);
void add_clipping_arguments(Command& app, CalibrationArguments& arguments);
/// Returns what they say.
CalibrationSource source_of(const CalibrationArguments& arguments);

/// The precision that was asked for, and what it needs.
struct PrecisionArguments {
  std::string precision = "f32";
  CalibrationArguments calibration;
};

/// Declares --precision, --images and --calibration.
void add_precision_arguments(Command& app, PrecisionArguments& arguments);

/// Returns the network with the precision that was asked for. Says which layers stay f32, and why.
Graph with_precision(const Graph& graph, const PrecisionArguments& arguments, int threads);

/// Says how many test images the network gets right before and after, if there are labelled ones.
void print_answers(const Graph& before, const Graph& after, const PrecisionArguments& arguments,
                   int threads);

}  // namespace lathe::cli
