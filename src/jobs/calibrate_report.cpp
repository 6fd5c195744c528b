// calibrate_report.cpp: see calibrate_report.h.
#include "jobs/calibrate_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace lathe {
namespace {

nlohmann::json to_json(const RuleQuality& q) {
  return {{"area", q.area},
          {"area_interval", {q.area_interval.low, q.area_interval.high}},
          {"spearman", q.spearman},
          {"spearman_interval", {q.spearman_interval.low, q.spearman_interval.high}},
          {"false_rejections", q.false_rejections()},
          {"false_acceptances", q.false_acceptances()}};
}

nlohmann::json to_json(const Correlation& c) {
  return {{"metric", c.metric},
          {"networks", c.count},
          {"spearman", c.spearman},
          {"spearman_interval", {c.spearman_interval.low, c.spearman_interval.high}},
          {"kendall", c.kendall},
          {"kendall_interval", {c.kendall_interval.low, c.kendall_interval.high}}};
}

nlohmann::json to_json(const MetricOrder& order) {
  if (order.correlation) return to_json(*order.correlation);
  return {{"metric", order.metric}, {"failure", order.failure}};
}

/// Lists the networks of tables with what the rule says of each.
nlohmann::json networks_of(const JudgedNetworks& judged) {
  nlohmann::json networks = nlohmann::json::array();
  for (size_t i = 0; i < judged.networks.size(); ++i) {
    networks.push_back({{"network", judged.networks[i].name},
                        {"top1", judged.accuracies[i]},
                        {"change", judged.networks[i].change},
                        {"predicted", judged.by_rule.predicted[i]},
                        {"accepted", static_cast<bool>(judged.by_rule.accepted[i])}});
  }
  return networks;
}

}  // namespace

nlohmann::json to_json(const Calibration& found) {
  nlohmann::json json{{"rule", to_json(found.rule)},
                      {"two-sided", to_json(found.fitted.by_rule)},
                      {"paper", to_json(found.fitted.by_paper)},
                      {"networks", networks_of(found.fitted)},
                      {"single", nlohmann::json::array()}};
  for (const MetricOrder& order : found.single) json["single"].push_back(to_json(order));
  if (found.tested) {
    json["test"] = to_json(found.tested->by_rule);
    json["test_networks"] = networks_of(*found.tested);
  }
  return json;
}

nlohmann::json to_json(const CellCalibration& found) {
  nlohmann::json json = nlohmann::json::array();
  for (const CellScores& each : found.metrics) json.push_back(to_json(each.order));
  return json;
}

Plot picture_of(const CalibrateOptions& options, const Calibration& found) {
  const JudgedNetworks& judged = found.fitted;
  Series accepted{"accepted", {}}, refused{"refused", {}};
  for (size_t i = 0; i < judged.networks.size(); ++i) {
    Point point{judged.by_rule.predicted[i], judged.networks[i].change, judged.networks[i].name};
    (judged.by_rule.accepted[i] ? accepted : refused).points.push_back(point);
  }
  Plot plot{.title = "The gate: predicted and real change of accuracy",
            .x = {"predicted, points"},
            .y = {"after training, points"}};
  plot.series = {accepted, refused};
  plot.lines = {{Line::Along::y, -options.tolerance, "tolerance"},
                {Line::Along::x, -options.tolerance}};
  return plot;
}

Plot picture_of(const CellCalibration& found) {
  Plot plot{.title = "Score before training, accuracy after", .x = {""}, .y = {"accuracy, %"}};
  for (const CellScores& each : found.metrics) {
    bool has_bands = each.metric.contributes.use == Contribution::Use::bands;
    bool drawn = has_bands || found.metrics.size() == 1;
    if (!drawn) continue;
    Series series{each.metric.name, {}};
    for (size_t i = 0; i < found.cells.size(); ++i) {
      series.points.push_back({each.scores[i], found.cells[i].accuracy, found.cells[i].cell});
    }
    // Networks whose score is 0 have no place on a logarithmic axis.
    bool positive =
        std::all_of(each.scores.begin(), each.scores.end(), [](double s) { return s > 0; });
    plot.x = {each.metric.name, positive ? Scale::logarithmic : Scale::linear};
    plot.series.push_back(std::move(series));
  }
  return plot;
}

}  // namespace lathe
