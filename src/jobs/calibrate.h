// Calibration as a job: a rule of the gate, fitted to networks that recipes made of one and that
// were trained; and how well it tells which of them keep their accuracy.
//
//   CalibrateOptions options{.score = {.network = {.network = "resnet34-cifar"}},
//                            .tables = {"data/transformed36.json"},
//                            .tests = {"data/heldout16.json"}};
//   Calibration found = calibrate(options);
//   found.rule, found.fitted.by_rule.area, found.tested->by_paper.area
#pragma once

#include <optional>

#include "capacity/network_table.h"
#include "jobs/event.h"
#include "jobs/scoring.h"

namespace lathe {

struct CalibrateOptions {
  ScoreArguments score;                    ///< how networks are scored that have no scores yet
  std::vector<std::string> tables, tests;  ///< files to fit to, and to test on
  std::string metrics;                     ///< as metrics_for_rule() reads them
  std::string journal;                     ///< a folder that keeps scores, or ""
  double tolerance = 0.5;                  ///< so many points of accuracy may be lost
};

/// How well the order of a metric's scores follows that of accuracies.
struct MetricOrder {
  std::string metric;
  std::optional<Correlation> correlation;
  std::string failure;  ///< why there is no correlation: all scores are equal, or one is no number
};

/// Compares the order of a metric's scores with that of accuracies.
MetricOrder order_of(const std::string& metric, const std::vector<double>& scores,
                     const std::vector<double>& accuracies);

/// The networks of some tables, and what rules say of them.
struct JudgedNetworks {
  std::vector<NetworkTable> tables;
  std::vector<double> originals;   ///< the accuracy of the original in each table, in percent
  std::vector<Trained> networks;   ///< of all tables, without the originals
  std::vector<double> accuracies;  ///< of each, in percent
  RuleQuality by_rule, by_paper;   ///< the rule that was fitted, and the published one
};

/// A rule, and how well it does.
struct Calibration {
  GateRule rule;
  JudgedNetworks fitted;  ///< each was judged by a rule that was fitted to all others
  std::optional<JudgedNetworks> tested;  ///< those of the tests; they took no part
  std::vector<MetricOrder> single;       ///< each metric alone, on what the rule was fitted to
};

/// Fits a rule to the networks of all tables, and tests it. Networks that have no scores are scored
/// first. Fails if it was stopped.
Calibration calibrate(const CalibrateOptions& options, const JobListener& listener = {});

/// Reads the only table, and scores its networks if they have no scores. Fails if it was stopped.
NetworkTable scored_table(const CalibrateOptions& options, const JobListener& listener = {});

}  // namespace lathe
