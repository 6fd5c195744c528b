// calibrate_cells.cpp: scores of cells beside their accuracies. Interface: calibrate_cells.h.
#include "jobs/calibrate_cells.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "base/random.h"
#include "data/file.h"
#include "jobs/score_networks.h"

namespace lathe {
namespace {

/// So many cells have an order that says anything.
constexpr size_t least_cells = 3;

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  return fields;
}

/// Reads the cells and their accuracies.
std::vector<TrainedCell> read_cells(const CellOptions& options) {
  std::istringstream file(read_file(options.table));
  std::string line;
  std::getline(file, line);
  std::vector<std::string> heads = fields_of(line);
  auto column = [&](const std::string& name) {
    auto found = std::find(heads.begin(), heads.end(), name);
    if (found == heads.end()) {
      fail("'{}' has no column '{}'; it has {}", options.table, name, fmt::join(heads, ", "));
    }
    return static_cast<size_t>(found - heads.begin());
  };
  size_t cell = column("ArchitectureString"), accuracy = column(options.column);
  std::vector<TrainedCell> result;
  for (size_t number = 2; std::getline(file, line); ++number) {
    std::vector<std::string> fields = fields_of(line);
    if (fields.size() <= std::max(cell, accuracy)) {
      fail("'{}', line {}: {} fields are too few", options.table, number, fields.size());
    }
    try {
      result.push_back({fields[cell], std::stod(fields[accuracy])});
    } catch (const std::exception&) {
      fail("'{}', line {}: '{}' is no accuracy", options.table, number, fields[accuracy]);
    }
  }
  if (result.size() < least_cells) {
    fail("'{}' has {} architectures; too few", options.table, result.size());
  }
  return result;
}

/// Draws cells without repetition.
std::vector<TrainedCell> drawn(std::vector<TrainedCell> all, size_t count, uint64_t seed) {
  Random random(seed);
  count = std::min(count, all.size());
  for (size_t i = 0; i < count; ++i) {
    std::swap(all[i], all[i + random.below(all.size() - i)]);
  }
  all.resize(count);
  return all;
}

ScoreJob job_of(const TrainedCell& cell, const ScoreArguments& score) {
  return {cell.cell, [&score, name = "nasbench201:" + cell.cell] {
            ScoreArguments arguments = score;
            arguments.network.network = name;
            return load_untrained(arguments);
          }};
}

}  // namespace

CellCalibration calibrate_cells(const CellOptions& options, const JobListener& listener) {
  CellCalibration result;
  result.cells =
      drawn(read_cells(options), static_cast<size_t>(options.sample), options.score.network.seed);
  std::vector<Metric> metrics = parse_metrics(options.metrics.empty() ? "all" : options.metrics);
  std::vector<ScoreJob> jobs;
  for (const TrainedCell& cell : result.cells) jobs.push_back(job_of(cell, options.score));
  auto scored = score_all(options.score, options.journal, jobs, metrics, listener);
  std::erase_if(result.cells, [&](const TrainedCell& each) { return !scored.contains(each.cell); });
  std::vector<double> accuracies;
  for (const TrainedCell& each : result.cells) accuracies.push_back(each.accuracy);
  for (size_t m = 0; m < metrics.size(); ++m) {
    CellScores each{metrics[m], {}, {}};
    for (const TrainedCell& cell : result.cells) {
      each.scores.push_back(mean(scored.at(cell.cell)[m].totals()));
    }
    each.order = order_of(metrics[m].name, each.scores, accuracies);
    result.metrics.push_back(std::move(each));
  }
  return result;
}

}  // namespace lathe
