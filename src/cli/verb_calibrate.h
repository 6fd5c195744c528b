// What "lathe calibrate" prints: a rule that was fitted to networks, or scores of cells beside
// their accuracies.
#pragma once

#include "jobs/calibrate.h"
#include "jobs/calibrate_cells.h"

namespace lathe::cli {

/// Prints a rule, how well it does, and what it says of each network.
void print_calibration(const CalibrateOptions& options, const Calibration& found);

/// Prints how far the order of scores follows that of accuracies.
void print_cells(const CellOptions& options, const CellCalibration& found);
/// The same for machines, as JSON.
void print_cells_json(const CellCalibration& found);

}  // namespace lathe::cli
