// The gate's rule fitted to networks that recipes made of one, and that were trained: the half of
// "lathe calibrate" that knows of no cells.
#pragma once

#include "capacity/network_table.h"
#include "cli/verb_scores.h"
#include "jobs/score_networks.h"
#include "report/plot.h"

namespace lathe {

/// The options of calibration as they were typed.
struct CalibrateArguments {
  ScoreArguments score;
  std::vector<std::string> tables;
  std::vector<std::string> tests;
  std::string metrics, journal, picture, rule, table;
  double tolerance = 0.5;
  bool json = false;
};

/// Fits a rule to the networks of all tables, tests it, and says how good it is.
int calibrate_recipes(const CalibrateArguments& arguments);

void write_picture(const std::string& path, const Plot& plot);

}  // namespace lathe
