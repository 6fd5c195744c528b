// verb_calibrate.cpp: what "lathe calibrate" prints. Interface: verb_calibrate.h.
#include "cli/verb_calibrate.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "jobs/calibrate_report.h"

namespace lathe::cli {
namespace {

void print_quality(const char* name, const RuleQuality& q) {
  fmt::print("{:<12}{:>6.2f} {:<15}{:>7.2f} {:<17}{:>3} of {:<3}{:>9} of {}\n", name, q.area,
             fmt::format("({:.2f} to {:.2f})", q.area_interval.low, q.area_interval.high),
             q.spearman,
             fmt::format("({:.2f} to {:.2f})", q.spearman_interval.low, q.spearman_interval.high),
             q.kept - q.kept_accepted, q.kept, q.lost_accepted, q.lost);
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
  for (const CellScores& each : found.metrics) {
    if (!each.order.correlation) print_failure(each.order);
  }
  fmt::print("{}\n", to_json(found).dump(2));
}

}  // namespace lathe::cli
