// frontier.cpp: see frontier.h.
#include "jobs/frontier.h"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "data/file.h"
#include "jobs/work_folder.h"
#include "report/plot.h"

namespace lathe {
namespace {

void write_text(const std::string& path, const std::string& text) {
  write_file(path, {std::as_bytes(std::span(text))});
}

double predicted_of(const SearchResult& result) {
  const auto& verdict = result.winner.verdict;
  if (!verdict) return 0;
  if (verdict->predicted) return *verdict->predicted;
  if (!verdict->prediction) return 0;
  return (verdict->prediction->at(0) + verdict->prediction->at(1)) / 2;
}

nlohmann::json to_json(const FrontierPoint& point) {
  const SearchResult& result = point.result;
  nlohmann::json json{{"tolerance", point.tolerance},
                      {"folder", point.folder},
                      {"found", result.found},
                      {"ms", result.winner.ms},
                      {"original_ms", result.winner.original_ms},
                      {"macs", result.winner.macs},
                      {"weights", result.winner.weights},
                      {"predicted", predicted_of(result)}};
  if (result.accuracy) json["before"] = result.accuracy->before;
  return json;
}

/// Draws latency against what is predicted to be lost.
std::string picture_of(const std::string& network, const std::vector<FrontierPoint>& points) {
  Plot plot{.title = network + ": latency and accuracy",
            .x = {"milliseconds"},
            .y = {"predicted change of accuracy, points"}};
  Series found{"found", {}};
  found.joined = true;
  for (const FrontierPoint& point : points) {
    const ResultWinner& winner = point.result.winner;
    if (!point.result.found) continue;
    found.points.push_back({winner.ms, predicted_of(point.result),
                            fmt::format("{:.2f} times faster", winner.original_ms / winner.ms)});
  }
  if (found.points.empty()) return "";
  plot.series.push_back({"the original", {{points.front().result.winner.original_ms, 0}}});
  plot.series.push_back(std::move(found));
  return print_svg(plot);
}

void write(const FrontierResult& frontier, const std::string& network) {
  nlohmann::json points = nlohmann::json::array();
  for (const FrontierPoint& point : frontier.points) points.push_back(to_json(point));
  write_text(
      frontier.folder + "/frontier.json",
      nlohmann::json{{"lathe_frontier", 1}, {"network", network}, {"points", points}}.dump(1) +
          "\n");
  std::string picture = picture_of(network, frontier.points);
  if (!picture.empty()) write_text(frontier.folder + "/frontier.svg", picture);
}

}  // namespace

std::vector<double> frontier_tolerances(const FrontierOptions& options) {
  std::vector<double> result;
  for (long i = 0; i < options.points; ++i) {
    double share =
        options.points == 1 ? 0 : static_cast<double>(i) / static_cast<double>(options.points - 1);
    result.push_back(options.least * std::pow(options.most / options.least, share));
  }
  return result;
}

FrontierResult find_frontier(const FrontierOptions& options, const JobListener& listener) {
  if (options.points < 1 || !(options.least > 0) || options.most < options.least) {
    fail("a frontier has a point at least, and goes from less accuracy lost to more");
  }
  OptimizeOptions search = options.search;
  const std::string& network = search.score.network.network;
  FrontierResult frontier;
  frontier.folder = search.folder.empty() ? work_folder_of(network) : search.folder;
  try {
    search.judge = judge_for(search.score, search.rule, listener);
  } catch (const JobStopped&) {
    frontier.stopped = true;
    return frontier;
  }
  std::vector<double> tolerances = frontier_tolerances(options);
  for (size_t i = 0; i < tolerances.size(); ++i) {
    search.folder = fmt::format("{}/{}", frontier.folder, i + 1);
    search.rule.tolerance = tolerances[i];
    OptimizeResult found = optimize(search, listener);
    frontier.stopped = found.stopped;
    if (!found.result || found.stopped) break;
    frontier.points.push_back({tolerances[i], search.folder, *found.result});
    write(frontier, network);
    search.known_in = fmt::format("{}/1", frontier.folder);
  }
  return frontier;
}

}  // namespace lathe
