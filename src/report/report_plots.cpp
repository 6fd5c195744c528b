// report_plots.cpp: points of a search. Interface: report_plots.h; bars are in report_bars.cpp.
#include "report/report_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "metrics/metric.h"
#include "report/plot.h"
#include "report/report_colours.h"
#include "report/report_text.h"

namespace lathe {
namespace {

const Look page_look{"var(--muted)", grey, false};

/// Returns the function that draws a plot for a width: narrow ones are higher than they are wide.
std::function<std::string(long)> drawn(Plot plot) {
  plot.look = page_look;
  return [plot](long width) mutable {
    plot.width = width;
    plot.height = width < 400 ? 340 : 380;
    return print_svg(plot);
  };
}

/// Returns the area of a point beside that of the original.
double area(const SearchResult& result, long weights) {
  auto all = static_cast<double>(std::max(1L, result.original.weights));
  return std::clamp(7 * static_cast<double>(weights) / all, 0.8, 14.0);
}

std::string about(const ResultRule& rule, const NetworkTrial& trial) {
  std::string text = fmt::format("network {}: {}", trial.number, name_of(trial.outcome));
  if (trial.ms) text += ", " + print_ms(*trial.ms);
  if (trial.ratio) {
    text += fmt::format(", {} {} times", rule.score_name(), print_digits(*trial.ratio));
  }
  return trial.reason.empty() ? text : text + "; " + trial.reason;
}

/// Says what a rule's score is, as the metric does; nothing if the metric is unknown.
std::string print_metric(const ResultRule& rule) {
  for (const Metric& metric : metrics::all()) {
    if (metric.name == rule.metric) return fmt::format(" ({})", metric.summary);
  }
  return "";
}

/// Returns the recipe of what is drawn as the winner, as the journal has it.
std::string winners_recipe(const SearchResult& result) {
  return result.found ? print(result.winner.recipe) : "";
}

bool is_drawn(const Series& series) { return !series.points.empty(); }

/// Adds the series that have points.
void add(Plot& plot, std::vector<Series> all) {
  for (Series& series : all) {
    if (is_drawn(series)) plot.series.push_back(std::move(series));
  }
}

std::string about(const ResultPoint& point) {
  return fmt::format("{}, accuracy {} points (predicted), {} weights", print_ms(point.ms),
                     print_change(point.predicted.value_or(0)), print_amount(point.weights));
}

/// Returns networks that passed and were measured, but are no part of the front.
Series other_passed(const SearchResult& result, const std::vector<NetworkTrial>& trials) {
  Series series{"passed", {}, Marker::circle, grey};
  for (const NetworkTrial& trial : trials) {
    if (trial.outcome != Trial::Outcome::measured || !trial.ms || !trial.predicted) continue;
    auto same = [&](const ResultPoint& point) { return point.recipe == trial.recipe; };
    if (trial.recipe == winners_recipe(result)) continue;
    if (std::any_of(result.pareto.begin(), result.pareto.end(), same)) continue;
    series.points.push_back(
        {*trial.ms, *trial.predicted, about(result.rule, trial), area(result, trial.weights)});
  }
  return series;
}

Series winner_by_prediction(const SearchResult& result) {
  Series series{"winner", {}, Marker::diamond, warm};
  const ResultWinner& winner = result.winner;
  if (result.found && winner.verdict && winner.verdict->predicted) {
    std::string label = fmt::format("winner: {}, accuracy {} points (predicted)",
                                    print_ms(winner.ms), print_change(*winner.verdict->predicted));
    series.points.push_back({winner.ms, *winner.verdict->predicted, label, 4});
  }
  return series;
}

/// Returns networks whose verdict is this one.
Series judged_as(const SearchResult& result, const std::vector<NetworkTrial>& trials,
                 const Series& like, bool passed) {
  Series series = like;
  for (const NetworkTrial& trial : trials) {
    bool failed = trial.outcome == Trial::Outcome::failed;
    if (failed || trial.passed() != passed || !trial.ms || !trial.ratio) continue;
    if (trial.recipe == winners_recipe(result)) continue;
    if (*trial.ratio <= 0) continue;
    series.points.push_back({*trial.ms, *trial.ratio, about(result.rule, trial)});
  }
  return series;
}

Series over_time(const SearchResult& result, const std::vector<NetworkTrial>& trials,
                 const Series& like, bool passed) {
  Series series = like;
  for (const NetworkTrial& trial : trials) {
    bool failed = trial.outcome == Trial::Outcome::failed;
    if (failed || trial.passed() != passed || !trial.ms) continue;
    series.points.push_back(
        {static_cast<double>(trial.number), *trial.ms, about(result.rule, trial)});
  }
  return series;
}

/// Returns the best so far of networks that passed and were measured, as steps.
Series best_so_far(const SearchResult& result, const std::vector<NetworkTrial>& trials) {
  double best = result.original.ms;
  Series series{"best so far", {{0, best, "the original"}}, Marker::diamond, warm, true};
  double last = 0;
  for (const NetworkTrial& trial : trials) {
    last = static_cast<double>(trial.number);
    if (trial.outcome != Trial::Outcome::measured || !trial.ms || *trial.ms >= best) continue;
    series.points.push_back({last, best});
    best = *trial.ms;
    series.points.push_back({last, best, about(result.rule, trial)});
  }
  series.points.push_back({last, best});
  return series;
}

}  // namespace

std::optional<HtmlFigure> pareto_plot(const SearchResult& result,
                                      const std::vector<NetworkTrial>& trials) {
  Plot plot{.title = "Latency and predicted accuracy",
            .x = {"latency, ms"},
            .y = {"predicted change of accuracy, points"}};
  Series front{"not dominated", {}, Marker::circle, cool};
  for (const ResultPoint& point : result.pareto) {
    if (!point.predicted || point.recipe == winners_recipe(result)) continue;
    front.points.push_back({point.ms, *point.predicted, about(point), area(result, point.weights)});
  }
  Series others = other_passed(result, trials), winner = winner_by_prediction(result);
  if (!is_drawn(front) && !is_drawn(others) && !is_drawn(winner)) return std::nullopt;
  Series original{"original", {}, Marker::square, good};
  original.points.push_back({result.original.ms, 0,
                             fmt::format("original: {}, {} weights", print_ms(result.original.ms),
                                         print_amount(result.original.weights)),
                             area(result, result.original.weights)});
  add(plot, {others, front, original, winner});
  std::string caption =
      "Networks that passed the gate and were measured: to the left is faster, up is better. The "
      "area of a circle or square is the number of weights. The accuracy is predicted, not "
      "measured";
  const auto& verdict = result.winner.verdict;
  if (verdict && verdict->uncertainty) {
    caption += fmt::format(", give or take {:.2f} points", *verdict->uncertainty);
  }
  return HtmlFigure{"pareto", plot.title, caption + ".", drawn(plot)};
}

std::optional<HtmlFigure> gate_plot(const SearchResult& result,
                                    const std::vector<NetworkTrial>& trials) {
  Plot plot{.title = "The gate",
            .x = {"latency, ms"},
            .y = {result.rule.score_name() + ", times the original's", Scale::logarithmic}};
  Series refused = judged_as(result, trials, {"refused", {}, Marker::cross, grey}, false);
  Series accepted = judged_as(result, trials, {"accepted", {}, Marker::circle, cool}, true);
  if (!is_drawn(refused) && !is_drawn(accepted)) return std::nullopt;
  Series winner{"winner", {}, Marker::diamond, warm};
  const auto& verdict = result.winner.verdict;
  if (result.found && verdict && verdict->ratio > 0) {
    std::string label = fmt::format("winner: {}, {} {} times", print_ms(result.winner.ms),
                                    result.rule.score_name(), print_digits(verdict->ratio));
    winner.points.push_back({result.winner.ms, verdict->ratio, label, 4});
  }
  Series original{"original", {{result.original.ms, 1, "original"}}, Marker::square, good};
  original.points[0].size = 3;
  add(plot, {refused, accepted, original, winner});
  std::string rule = "The published rule accepts what is not below 1.";
  if (result.rule.paper) {
    plot.lines.push_back({Line::Along::y, 1, "least"});
  } else {
    double band = result.rule.network_band;
    plot.lines.push_back({Line::Along::y, std::exp(-band), "within the band", std::exp(band)});
    rule = fmt::format(
        "The rule '{}' accepts what stays within {} to {} times, if no layer moves further than "
        "{} times and no more than {} points of accuracy are expected to be lost.",
        result.rule.name, print_digits(std::exp(-band)), print_digits(std::exp(band)),
        print_digits(std::exp(result.rule.layer_band)), result.rule.tolerance);
  }
  return HtmlFigure{
      "gate", plot.title,
      fmt::format("Every network that was tried, by its score at initialisation{}. {}",
                  print_metric(result.rule), rule),
      drawn(plot)};
}

std::optional<HtmlFigure> history_plot(const SearchResult& result,
                                       const std::vector<NetworkTrial>& trials) {
  Plot plot{.title = "Trial by trial", .x = {"networks tried"}, .y = {"latency, ms"}};
  plot.x.low = 0;
  plot.x.high = static_cast<double>(std::max<size_t>(1, trials.size()));
  add(plot, {over_time(result, trials, {"refused", {}, Marker::cross, grey}, false),
             over_time(result, trials, {"accepted", {}, Marker::circle, cool}, true)});
  if (plot.series.empty()) return std::nullopt;
  plot.series.push_back(best_so_far(result, trials));
  std::string caption = fmt::format(
      "{} networks, from {} to {} (UTC); {:.0f} s in all. Latencies of networks that were not "
      "measured are sums over their layers.",
      trials.size(), trials.front().at, trials.back().at, result.seconds);
  return HtmlFigure{"history", plot.title, caption, drawn(plot)};
}

}  // namespace lathe
