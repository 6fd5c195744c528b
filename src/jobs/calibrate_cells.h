// Calibration on cells of NAS-Bench-201 as a job: how far the order of scores before training
// follows that of accuracies after it.
//
//   CellOptions options{.table = "accuracy.csv", .metrics = "macs,naswot", .sample = 100};
//   for (const CellScores& metric : calibrate_cells(options).metrics) metric.order.correlation ...
#pragma once

#include "jobs/calibrate.h"

namespace lathe {

struct CellOptions {
  /// How cells are scored: once each, as other cells say more than other draws of weights.
  ScoreArguments score{.network = {.network = "nasbench201"}, .seeds = 1};
  std::string table;                                    ///< a CSV file with cells and accuracies
  std::string column = "CIFAR10TestAccuracy200Epochs";  ///< that holds the accuracy
  std::string metrics;                                  ///< "macs,naswot"; "" is all
  std::string journal;                                  ///< a folder that keeps scores, or ""
  long sample = 500;                                    ///< so many cells are drawn
};

/// A cell, and its accuracy after training.
struct TrainedCell {
  std::string cell;
  double accuracy = 0;
};

/// What a metric says of each cell.
struct CellScores {
  Metric metric;
  std::vector<double> scores;
  MetricOrder order;
};

struct CellCalibration {
  std::vector<TrainedCell> cells;  ///< that were drawn and could be scored
  std::vector<CellScores> metrics;
};

/// Scores cells, and compares that with their accuracies. Cells that cannot be scored are left out,
/// and the listener is warned. Fails if it was stopped.
CellCalibration calibrate_cells(const CellOptions& options, const JobListener& listener = {});

}  // namespace lathe
