// What "lathe calibrate" prints: a rule that was fitted to networks, or scores of cells beside
// their accuracies.
#pragma once

#include "jobs/calibrate.h"
#include "jobs/calibrate_cells.h"
#include "report/plot.h"

namespace lathe::cli {

/// Prints a rule, how well it does, and what it says of each network.
void print_calibration(const CalibrateOptions& options, const Calibration& found);
/// The same for machines, as JSON: the rule and how well it does.
void print_calibration_json(const Calibration& found);
/// Draws what was predicted for each network beside what training said.
Plot picture_of(const CalibrateOptions& options, const Calibration& found);

/// Prints how far the order of scores follows that of accuracies.
void print_cells(const CellOptions& options, const CellCalibration& found);
void print_cells_json(const CellCalibration& found);
/// Draws the scores beside the accuracies: of the metric that has bands, or of the only one.
Plot picture_of(const CellCalibration& found);

}  // namespace lathe::cli
