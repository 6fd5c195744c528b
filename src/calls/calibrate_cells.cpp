// calibrate_cells.cpp: the call "calibrate_cells": compare scores with the accuracy of the cells of
// NAS-Bench-201.
#include "calls/call.h"
#include "calls/call_network.h"
#include "jobs/calibrate_report.h"

namespace lathe::calls {
namespace {

nlohmann::json run_calibrate_cells(Options& options, const JobListener& listener) {
  CellOptions job;
  job.score = score_options(options, job.score);
  job.table = options.required("table");
  options.read("column", job.column);
  options.read("metrics", job.metrics);
  options.read("journal", job.journal);
  options.read("sample", job.sample, {3, 1 << 20});
  options.check_all_read();
  CellCalibration found = lathe::calibrate_cells(job, listener);
  return {{"cells", found.cells.size()}, {"metrics", to_json(found)}};
}

}  // namespace

ForeignCall calibrate_cells() {
  return {"calibrate_cells", "compare scores with the accuracy of the cells of NAS-Bench-201",
          run_calibrate_cells};
}

}  // namespace lathe::calls
