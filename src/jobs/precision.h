// A network that computes less precisely, as a job: halves, or 8-bit integers.
//
//   PrecisionOptions options{.precision = Precision::f16};
//   Narrowed found = with_precision(network, options);
//   found.network, found.kept                  layers that stay f32, and why
#pragma once

#include "jobs/quantize.h"

namespace lathe {

/// What layers read and write.
enum class Precision { f32, f16, bf16, int8 };

/// Names a precision, and finds one by its name.
const char* name_of(Precision precision);
std::optional<Precision> precision_named(std::string_view name);

struct PrecisionOptions {
  Precision precision = Precision::f32;
  /// What 8-bit integers are made for. Halves need no data; with some, numbers that are too large
  /// for them are found before.
  CalibrationSource calibration;
  int threads = 0;  ///< 0: one for each processor
};

struct Narrowed {
  Graph network;
  std::vector<std::string> kept;  ///< of each layer that stays f32: "'conv1' stays f32: 'x' is ..."
};

/// Returns the network with this precision. Inputs and outputs keep their types. Its weights have
/// data.
Narrowed with_precision(const Graph& network, const PrecisionOptions& options,
                        const JobListener& listener = {});

}  // namespace lathe
