// calibrate.cpp: "lathe calibrate NETWORK --table FILE": how far scores tell what training said,
// for the networks of NAS-Bench-201; or for networks that were made of one by recipes, with the
// rule of the gate that follows.
#include "jobs/calibrate.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/verb.h"
#include "cli/verb_calibrate.h"
#include "cli/verb_listener.h"
#include "cli/verb_scores.h"
#include "data/file.h"
#include "jobs/calibrate_report.h"

namespace lathe::cli {
namespace {

struct CalibrateArgs {
  CalibrateOptions job;
  CellOptions cells;
  std::string picture, rule, table;
  bool json = false;
};

void write_text(const std::string& path, const std::string& text) {
  write_file(path, {std::as_bytes(std::span(text))});
}

/// Runs a job that scores networks, and shows how far it is.
template <class Job>
auto shown(const Job& job) {
  JobBar bar("scoring", JobBar::Elsewhere::tenths);
  return job(bar.listener());
}

/// Scores a table, and writes it with its scores.
int write_table(const CalibrateArgs& options) {
  if (options.job.tables.size() != 1) fail("--write-table writes one table: give one with --table");
  NetworkTable table =
      shown([&](const JobListener& listener) { return scored_table(options.job, listener); });
  write_text(options.table, print_scored(table));
  fmt::print("wrote {}: {} networks and their original; {}\n", options.table,
             table.networks.size() - 1, table.scored_on);
  return 0;
}

int run_recipes(const CalibrateArgs& options) {
  if (!options.table.empty()) return write_table(options);
  Calibration found =
      shown([&](const JobListener& listener) { return lathe::calibrate(options.job, listener); });
  if (!options.rule.empty()) write_text(options.rule, to_json(found.rule).dump(2) + "\n");
  if (!options.picture.empty()) {
    write_text(options.picture, print_svg(picture_of(options.job, found)));
  }
  if (options.json) {
    fmt::print("{}\n", to_json(found).dump(2));
  } else {
    print_calibration(options.job, found);
  }
  return 0;
}

int run_cells(const CalibrateArgs& options) {
  CellOptions cells = options.cells;
  cells.score = options.job.score;
  cells.table = options.job.tables.front();
  cells.metrics = options.job.metrics;
  cells.journal = options.job.journal;
  CellCalibration found =
      shown([&](const JobListener& listener) { return calibrate_cells(cells, listener); });
  if (!options.picture.empty()) write_text(options.picture, print_svg(picture_of(found)));
  if (options.json) {
    print_cells_json(found);
  } else {
    print_cells(cells, found);
  }
  return 0;
}

std::function<int()> set_up_calibrate(Command& app) {
  auto options = std::make_shared<CalibrateArgs>();
  add_score_arguments(app, options->job.score);
  app.add_option(
         "--table FILE", options->job.tables,
         "file of networks and their accuracy: cells of NAS-Bench-201, or what was made of NETWORK "
         "(docs/08); several, to fit a rule to all")
      ->required();
  app.add_option("--test FILE", options->job.tests,
                 "such a file of networks made of NETWORK, to test the rule on");
  app.add_option("--metric NAMES", options->job.metrics,
                 "which metrics, like macs,naswot or all; a rule always reads the one with bands");
  app.add_option("--sample", options->cells.sample, "draw so many cells of NAS-Bench-201")
      ->check(range(3L, 1L << 20));
  app.add_option("--column", options->cells.column,
                 "the column of NAS-Bench-201 that holds the accuracy");
  app.add_option("--tolerance", options->job.tolerance, "how many points of accuracy may be lost");
  app.add_option("--journal FOLDER", options->job.journal,
                 "keep scores in this folder, and go on with those that are there");
  app.add_option("--svg FILE", options->picture, "draw a picture to this file")->writes();
  app.add_option("--write-table FILE", options->table,
                 "write the table with its scores to this file, as JSON, and fit nothing")
      ->writes();
  app.add_option("--write-rule FILE", options->rule, "write the fitted rule to this file")
      ->writes();
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options, seeds = app.option("--seeds")] {
    bool is_cells = options->job.score.network.network == "nasbench201";
    if (!is_cells) return run_recipes(*options);
    if (seeds->given == 0) options->job.score.seeds = options->cells.score.seeds;
    return run_cells(*options);
  };
}

}  // namespace

Verb calibrate() {
  return {"calibrate", "compare scores with the accuracy of trained networks", set_up_calibrate,
          "lathe calibrate resnet34-cifar --table networks.csv --data cifar10:FOLDER --write-rule "
          "rule.json"};
}

}  // namespace lathe::cli
