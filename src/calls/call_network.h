// Options that several calls have: which network, how it is scored, how precisely it computes.
#pragma once

#include "calls/call_options.h"
#include "jobs/compile.h"
#include "jobs/scoring.h"

namespace lathe {

/// Reads which network: network, shapes, apply, batch, classes, size, seed.
NetworkArguments network_options(Options& options);

/// Reads a network and what it is scored on: data, normalize, samples, seeds, loss.
ScoreArguments data_options(Options& options, ScoreArguments usual = {});
/// Reads the same, and how: hook, threads, double, memory, max_error.
ScoreArguments score_options(Options& options, ScoreArguments usual = {});

/// Reads the name of a normalisation. Fails if there is none of this name.
Normalize normalize_option(Options& options);

/// Reads what 8-bit integers are made for: data, normalize, images, calibration.
CalibrationSource calibration_source(Options& options);

/// Reads a precision, and what calibration_source() reads.
struct PrecisionChoice {
  Precision precision = Precision::f32;
  CalibrationSource calibration;
};
PrecisionChoice precision_options(Options& options);

}  // namespace lathe
