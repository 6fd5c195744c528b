// calibrate.cpp: the call "calibrate": compare scores with the accuracy of trained networks.
#include "calls/call.h"
#include "calls/call_network.h"
#include "data/file.h"
#include "jobs/calibrate_report.h"

namespace lathe::calls {
namespace {

void write_text(const std::string& path, const std::string& text) {
  if (!path.empty()) write_file(path, {std::as_bytes(std::span(text))});
}

/// Scores a table, and writes it with its scores.
nlohmann::json write_table(const CalibrateOptions& job, const std::string& path,
                           const JobListener& listener) {
  if (job.tables.size() != 1) fail("write_table writes one table: give one");
  NetworkTable table = scored_table(job, listener);
  write_text(path, print_scored(table));
  return {{"table", path}, {"scored", table.networks.size()}, {"on", table.scored_on}};
}

nlohmann::json run_calibrate(Options& options, const JobListener& listener) {
  CalibrateOptions job;
  std::string rule, table;
  job.score = score_options(options);
  options.read("tables", job.tables);
  options.read("tests", job.tests);
  options.read("metrics", job.metrics);
  options.read("journal", job.journal);
  options.read("tolerance", job.tolerance);
  options.read("write_rule", rule);
  options.read("write_table", table);
  options.check_all_read();
  if (job.tables.empty()) fail("tables is missing: files of networks and their accuracy");
  if (!table.empty()) return write_table(job, table, listener);
  Calibration found = lathe::calibrate(job, listener);
  write_text(rule, to_json(found.rule).dump(2) + "\n");
  return to_json(found);
}

}  // namespace

ForeignCall calibrate() {
  return {"calibrate", "compare scores with the accuracy of trained networks", run_calibrate};
}

}  // namespace lathe::calls
