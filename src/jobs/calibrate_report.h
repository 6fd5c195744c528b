// What calibrations found, for programs and as pictures.
//
//   Calibration found = calibrate(options);
//   to_json(found).at("two-sided").at("area")
//   print_svg(picture_of(options, found))
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "jobs/calibrate.h"
#include "jobs/calibrate_cells.h"
#include "report/plot.h"

namespace lathe {

/// Convert what was found to JSON.
nlohmann::json to_json(const Calibration& found);
nlohmann::json to_json(const CellCalibration& found);

/// Draws what was predicted for each network beside what training said.
Plot picture_of(const CalibrateOptions& options, const Calibration& found);

/// Draws the scores beside the accuracies: of the metric that has bands, or of the only one.
Plot picture_of(const CellCalibration& found);

}  // namespace lathe
