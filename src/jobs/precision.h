// A network that computes less precisely, as a job: halves, or 8-bit integers.
//
//   PrecisionOptions options{.precisions = {.others = Precision::f16}};
//   Narrowed found = with_precision(network, options);
//   found.network, found.kept                  layers that stay f32, and why
#pragma once

#include "capacity/precision.h"
#include "jobs/quantize.h"

namespace lathe {

struct PrecisionOptions {
  LayerPrecisions precisions;
  /// What 8-bit integers are made for. Halves need no data; with some, numbers that are too large
  /// for them are found before.
  CalibrationSource calibration;
  int threads = 0;  ///< 0: one for each processor
};

/// Returns the network with these precisions. Inputs and outputs keep their types. Its weights have
/// data.
Narrowed with_precision(const Graph& network, const PrecisionOptions& options,
                        const JobListener& listener = {});

/// Returns what the recipes of a job say of the layers of its network, and what all others get.
LayerPrecisions precisions_of(const NetworkArguments& arguments, Precision others);

/// Fails if layers cannot be measured on a GPU in this precision: what they compute is compared as
/// real numbers, and all layers have one precision.
void check_precision_on_gpu(const std::string& precision);

}  // namespace lathe
