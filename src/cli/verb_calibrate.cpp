// verb_calibrate.cpp: rules fitted to networks that recipes made. Interface: verb_calibrate.h.
#include "cli/verb_calibrate.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "cli/verb_listener.h"
#include "data/file.h"
#include "transforms/transform_kinds.h"

namespace lathe {
namespace {

/// What a rule looks at where nobody says: all that one run forward and back tells, and what counts
/// nothing.
constexpr const char* usual_metrics = "macs,jacob_cov,diversity";

void write_text(const std::string& path, const std::string& text) {
  write_file(path, {std::as_bytes(std::span(text))});
}

/// Returns the metrics to look at: Fisher Potential, which the gate has bands for, and others.
std::vector<Metric> metrics_of(const CalibrateArguments& arguments) {
  std::vector<Metric> result{find_metric("fisher")};
  for (const Metric& metric :
       parse_metrics(arguments.metrics.empty() ? usual_metrics : arguments.metrics)) {
    if (metric.name != "fisher") result.push_back(metric);
  }
  return result;
}

/// The networks of some tables, with their scores.
struct Networks {
  std::vector<Trained> trained;
  std::vector<double> accuracies;  ///< of each, in percent
  std::map<std::string, std::vector<Scores>> scores;
  std::string originals;  ///< the accuracy of the original in each table: "90.38"
};

/// Returns the accuracy of the network that is as it was.
double original_in(const std::vector<TrainedNetwork>& table, const std::string& path) {
  for (const TrainedNetwork& line : table) {
    bool is_original = std::all_of(line.kinds.begin(), line.kinds.end(),
                                   [](const std::string& kind) { return kind == "dense"; });
    if (is_original) return line.top1;
  }
  fail("'{}' has no network whose layers are all dense", path);
}

Networks read_networks(const CalibrateArguments& arguments, const std::vector<std::string>& paths,
                       const std::vector<Metric>& metrics) {
  Graph network = load_untrained(arguments.score);
  std::vector<TrainedNetwork> lines;
  std::vector<double> originals;
  Networks result;
  for (const std::string& path : paths) {
    std::vector<TrainedNetwork> table = read_network_table(path);
    double original = original_in(table, path);
    result.originals += fmt::format("{}{}", result.originals.empty() ? "" : " and ", original);
    originals.resize(originals.size() + table.size(), original);
    lines.insert(lines.end(), table.begin(), table.end());
  }
  std::vector<ScoreJob> jobs{{"", [&] { return network; }}};
  for (const TrainedNetwork& line : lines) {
    jobs.push_back({line.name, [&] { return transformed(network, recipe_of(line, network)); }});
  }
  cli::JobBar bar("scoring", cli::JobBar::Elsewhere::tenths);
  result.scores = score_all(arguments.score, arguments.journal, jobs, metrics, bar.listener());
  if (!result.scores.contains("")) fail("the original could not be scored");
  for (size_t i = 0; i < lines.size(); ++i) {
    auto found = result.scores.find(lines[i].name);
    if (found == result.scores.end()) continue;
    result.trained.push_back({lines[i].name, lines[i].top1 - originals[i],
                              compared(result.scores.at(""), found->second)});
    result.accuracies.push_back(lines[i].top1);
  }
  return result;
}

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

/// Draws what was predicted for each network beside what training said.
Plot picture_of(const std::vector<Trained>& networks, const RuleQuality& quality,
                double tolerance) {
  Series accepted{"accepted", {}}, refused{"refused", {}};
  for (size_t i = 0; i < networks.size(); ++i) {
    Point point{quality.predicted[i], networks[i].change, networks[i].name};
    (quality.accepted[i] ? accepted : refused).points.push_back(point);
  }
  Plot plot{.title = "The gate: predicted and real change of accuracy",
            .x = {"predicted, points"},
            .y = {"after training, points"}};
  plot.series = {accepted, refused};
  plot.lines = {{Line::Along::y, -tolerance, "tolerance"}, {Line::Along::x, -tolerance}};
  return plot;
}

void print_networks(const Networks& networks, const RuleQuality& quality) {
  fmt::print("\n{:<28}{:>8}{:>9}{:>11}   {}\n", "network", "top-1", "change", "predicted",
             "verdict");
  std::vector<size_t> order(networks.trained.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return networks.trained[a].change > networks.trained[b].change;
  });
  for (size_t i : order) {
    fmt::print("{:<28}{:>8.2f}{:>+9.2f}{:>+11.2f}   {}\n", networks.trained[i].name,
               networks.accuracies[i], networks.trained[i].change, quality.predicted[i],
               quality.accepted[i] ? "accepted" : "refused");
  }
}

void print_single_scores(const Networks& networks, const std::vector<Metric>& metrics) {
  fmt::print("\nsingle scores, ranked as they are\n");
  for (size_t m = 0; m < metrics.size(); ++m) {
    std::vector<double> values, changes;
    for (const Trained& trained : networks.trained) {
      values.push_back(mean(networks.scores.at(trained.name)[m].totals()));
      changes.push_back(trained.change);
    }
    Correlation c = correlated(metrics[m].name, values, changes);
    fmt::print("{:<12}{:>6.2f} ({:.2f} to {:.2f})\n", c.metric, c.spearman, c.spearman_interval.low,
               c.spearman_interval.high);
  }
}

void print_rule(const GateRule& rule) {
  fmt::print("\nthe rule: {:+.3f} points", rule.intercept);
  for (size_t i = 0; i < rule.features.size(); ++i) {
    if (rule.weights[i] == 0) continue;
    fmt::print("\n{:>17.3f} {}({})", rule.weights[i], name_of(rule.features[i].form),
               rule.features[i].metric);
  }
  fmt::print("\n");
}

void print_head(const char* what, const Networks& networks, const RuleQuality& quality,
                double tolerance) {
  fmt::print("{}: {} networks; {} keep their accuracy within {} points of {}, {} do not\n", what,
             networks.trained.size(), quality.kept, tolerance, networks.originals, quality.lost);
}

}  // namespace

void write_picture(const std::string& path, const Plot& plot) { write_text(path, print_svg(plot)); }

int calibrate_recipes(const CalibrateArguments& arguments) {
  std::vector<Metric> metrics = metrics_of(arguments);
  double tolerance = arguments.tolerance;
  std::vector<Feature> features = features_of(metrics);
  Networks networks = read_networks(arguments, arguments.tables, metrics), others;
  FittedRule fitted = fit_rule(features, networks.trained, tolerance);
  std::string network = arguments.score.network.network;
  fitted.rule.source = fmt::format(
      "{} networks made of {}, trained; {}; area {:.2f} and rank correlation {:.2f} when each is "
      "left out",
      networks.trained.size(), network, describe(arguments.score), fitted.quality.area,
      fitted.quality.spearman);
  RuleQuality published = quality_of(find_rule("paper"), networks.trained, tolerance), tested;
  if (!arguments.test.empty()) {
    others = read_networks(arguments, {arguments.test}, metrics);
    tested = quality_of(fitted.rule, others.trained, tolerance);
  }
  if (!arguments.rule.empty()) write_text(arguments.rule, to_json(fitted.rule).dump(2) + "\n");
  if (!arguments.picture.empty()) {
    write_picture(arguments.picture, picture_of(networks.trained, fitted.quality, tolerance));
  }
  if (arguments.json) {
    nlohmann::json report{{"rule", to_json(fitted.rule)},
                          {"two-sided", to_json(fitted.quality)},
                          {"paper", to_json(published)}};
    if (!arguments.test.empty()) report["test"] = to_json(tested);
    fmt::print("{}\n", report.dump(2));
    return 0;
  }
  fmt::print("made of {}, {}\n", network, describe(arguments.score));
  print_head("fitted to", networks, fitted.quality, tolerance);
  if (!arguments.test.empty()) print_head("tested on", others, tested, tolerance);
  fmt::print("\n{:<12}{:<22}{:<25}{:<15}{}\n", "rule", "area under the curve", "rank correlation",
             "kept, refused", "lost, accepted");
  print_quality("two-sided", fitted.quality);
  print_quality("paper", published);
  if (!arguments.test.empty()) {
    print_quality("in the test", tested);
    print_quality("paper there", quality_of(find_rule("paper"), others.trained, tolerance));
  }
  print_rule(fitted.rule);
  print_single_scores(networks, metrics);
  print_networks(networks, fitted.quality);
  if (!arguments.test.empty()) print_networks(others, tested);
  return 0;
}

}  // namespace lathe
