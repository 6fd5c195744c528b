// verb_calibrate.cpp: what "lathe calibrate" prints. Interface: verb_calibrate.h.
#include "cli/verb_calibrate.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

namespace lathe::cli {
namespace {

void print_quality(const char* name, const RuleQuality& q) {
  fmt::print("{:<12}{:>6.2f} {:<15}{:>7.2f} {:<17}{:>3} of {:<3}{:>9} of {}\n", name, q.area,
             fmt::format("({:.2f} to {:.2f})", q.area_interval.low, q.area_interval.high),
             q.spearman,
             fmt::format("({:.2f} to {:.2f})", q.spearman_interval.low, q.spearman_interval.high),
             q.kept - q.kept_accepted, q.kept, q.lost_accepted, q.lost);
}

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

void print_head(const char* what, const JudgedNetworks& judged, double tolerance) {
  std::string originals;
  for (double accuracy : judged.originals) {
    originals += fmt::format("{}{:.2f}", originals.empty() ? "" : " and ", accuracy);
  }
  fmt::print("{}: {} networks; {} keep their accuracy within {} points of {}, {} do not\n", what,
             judged.networks.size(), judged.by_rule.kept, tolerance, originals,
             judged.by_rule.lost);
}

void print_networks(const JudgedNetworks& judged) {
  fmt::print("\n{:<28}{:>8}{:>9}{:>11}   {}\n", "network", "top-1", "change", "predicted",
             "verdict");
  std::vector<size_t> order(judged.networks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return judged.networks[a].change > judged.networks[b].change;
  });
  for (size_t i : order) {
    fmt::print("{:<28}{:>8.2f}{:>+9.2f}{:>+11.2f}   {}\n", judged.networks[i].name,
               judged.accuracies[i], judged.networks[i].change, judged.by_rule.predicted[i],
               judged.by_rule.accepted[i] ? "accepted" : "refused");
  }
}

/// Says why the scores of a metric have no order to compare.
void print_failure(const MetricOrder& order) {
  fmt::print(stderr, "{}: {}\n", order.metric, order.failure);
}

void print_single_scores(const std::vector<MetricOrder>& orders) {
  fmt::print("\nsingle scores, ranked as they are\n");
  for (const MetricOrder& order : orders) {
    if (!order.correlation) {
      print_failure(order);
      continue;
    }
    const Correlation& c = *order.correlation;
    fmt::print("{:<12}{:>6.2f} ({:.2f} to {:.2f})\n", c.metric, c.spearman, c.spearman_interval.low,
               c.spearman_interval.high);
  }
}

void print_weights(const GateRule& rule) {
  fmt::print("\nthe rule: points are the sum of");
  for (size_t i = 0; i < rule.features.size(); ++i) {
    if (rule.weights[i] == 0) continue;
    fmt::print("\n{:>17.3f} {}({})", rule.weights[i], name_of(rule.features[i].form),
               rule.features[i].metric);
  }
  fmt::print("\n");
}

}  // namespace

void print_calibration(const CalibrateOptions& options, const Calibration& found) {
  fmt::print("made of {}; {}\n", print(found.rule.origin), found.fitted.tables.front().scored_on);
  print_head("fitted to", found.fitted, options.tolerance);
  if (found.tested) print_head("tested on", *found.tested, options.tolerance);
  fmt::print("\n{:<12}{:<22}{:<25}{:<15}{}\n", "rule", "area under the curve", "rank correlation",
             "kept, refused", "lost, accepted");
  print_quality("two-sided", found.fitted.by_rule);
  print_quality("paper", found.fitted.by_paper);
  if (found.tested) {
    print_quality("in the test", found.tested->by_rule);
    print_quality("paper there", found.tested->by_paper);
  }
  print_weights(found.rule);
  print_single_scores(found.single);
  print_networks(found.fitted);
  if (found.tested) print_networks(*found.tested);
}

void print_calibration_json(const Calibration& found) {
  nlohmann::json report{{"rule", lathe::to_json(found.rule)},
                        {"two-sided", to_json(found.fitted.by_rule)},
                        {"paper", to_json(found.fitted.by_paper)}};
  if (found.tested) report["test"] = to_json(found.tested->by_rule);
  fmt::print("{}\n", report.dump(2));
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

void print_cells(const CellOptions& options, const CellCalibration& found) {
  for (const CellScores& each : found.metrics) {
    if (!each.order.correlation) print_failure(each.order);
  }
  fmt::print("{} networks of NAS-Bench-201, {}; {}\n", found.cells.size(), describe(options.score),
             options.column);
  fmt::print("{:<12}{:>10}   {:<16}{:>9}   {}\n", "metric", "Spearman", "95 % interval", "Kendall",
             "95 % interval");
  for (const CellScores& each : found.metrics) {
    if (!each.order.correlation) continue;
    const Correlation& c = *each.order.correlation;
    fmt::print("{:<12}{:>10.3f}   {:<16}{:>9.3f}   {:.3f} to {:.3f}\n", c.metric, c.spearman,
               fmt::format("{:.3f} to {:.3f}", c.spearman_interval.low, c.spearman_interval.high),
               c.kendall, c.kendall_interval.low, c.kendall_interval.high);
  }
}

void print_cells_json(const CellCalibration& found) {
  nlohmann::json report = nlohmann::json::array();
  for (const CellScores& each : found.metrics) {
    if (each.order.correlation) {
      report.push_back(to_json(*each.order.correlation));
    } else {
      print_failure(each.order);
    }
  }
  fmt::print("{}\n", report.dump(2));
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

}  // namespace lathe::cli
