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

/// Returns how precisely layers compute: as the recipes of a network say, all others as the option
/// says.
LayerPrecisions precisions_of(const PrecisionArguments& arguments, const NetworkArguments& network);

/// Names all precisions that layers have: "f16", "f16 and int8".
std::string precisions_in_words(const LayerPrecisions& precisions);

/// Returns a network with these precisions. Says which layers stay f32, and why.
Graph with_precisions(const Graph& graph, const LayerPrecisions& precisions,
                      const CalibrationArguments& calibration, int threads);

/// Says how many test images the network gets right before and after, if there are labelled ones;
/// "what" is what it computes in after.
void print_answers(const Graph& before, const Graph& after, const std::string& what,
                   const CalibrationArguments& calibration, int threads);

}  // namespace lathe::cli
