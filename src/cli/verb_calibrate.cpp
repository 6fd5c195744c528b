// verb_calibrate.cpp: rules fitted to networks that recipes made. Interface: verb_calibrate.h.
#include "cli/verb_calibrate.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "cli/verb_listener.h"
#include "data/file.h"

namespace lathe {
namespace {

void write_text(const std::string& path, const std::string& text) {
  write_file(path, {std::as_bytes(std::span(text))});
}

/// The networks of some tables, with their scores. The originals are left out.
struct Networks {
  std::vector<NetworkTable> tables;
  std::vector<Trained> trained;
  std::vector<double> accuracies;  ///< of each, in percent
  std::string originals;           ///< the accuracy of the original in each table: "90.38"
};

bool is_scored(const NetworkTable& table, const std::vector<Metric>& metrics) {
  const std::vector<Scores>& scores = table.original().scores;
  return std::all_of(metrics.begin(), metrics.end(), [&](const Metric& metric) {
    return std::any_of(scores.begin(), scores.end(),
                       [&](const Scores& each) { return each.metric == metric.name; });
  });
}

/// Scores the networks of a table; those that cannot be scored are left out.
void score(NetworkTable& table, const CalibrateArguments& arguments, const Graph& network,
           const std::vector<Metric>& metrics) {
  std::vector<ScoreJob> jobs;
  for (const TrainedNetwork& each : table.networks) {
    // The original has the empty name in journals: each table may name it in its own way.
    std::string name = each.recipe.empty() ? "" : each.name;
    jobs.push_back({name, [&] { return transformed(network, each.recipe); }});
  }
  cli::JobBar bar("scoring", cli::JobBar::Elsewhere::tenths);
  auto scores = score_all(arguments.score, arguments.journal, jobs, metrics, bar.listener());
  if (!scores.contains("")) fail("the original could not be scored");
  for (TrainedNetwork& each : table.networks) {
    auto found = scores.find(each.recipe.empty() ? "" : each.name);
    if (found != scores.end()) each.scores = found->second;
  }
  std::erase_if(table.networks, [](const TrainedNetwork& each) { return each.scores.empty(); });
  table.scored_on = describe(arguments.score);
  if (table.origin.dataset.empty()) table.origin.dataset = dataset_of(arguments.score);
}

Networks read_networks(const CalibrateArguments& arguments, const std::vector<std::string>& paths,
                       const std::vector<Metric>& metrics) {
  Graph network = load_untrained(arguments.score);
  Networks result;
  for (const std::string& path : paths) {
    NetworkTable table = read_network_table(path, arguments.score.network.network, network);
    if (!is_scored(table, metrics)) score(table, arguments, network, metrics);
    double original = table.original().accuracy();
    result.originals += fmt::format("{}{:.2f}", result.originals.empty() ? "" : " and ", original);
    for (const Trained& trained : trained_in(table, metrics)) {
      result.trained.push_back(trained);
      result.accuracies.push_back(original + trained.change);
    }
    result.tables.push_back(std::move(table));
  }
  return result;
}

std::string names_of(const std::vector<NetworkTable>& tables) {
  std::string names;
  for (const NetworkTable& table : tables) names += (names.empty() ? "" : ", ") + table.name;
  return names;
}

std::string print_brief(const RuleQuality& q) {
  return fmt::format(
      "area {:.2f} ({:.2f} to {:.2f}) and rank correlation {:.2f} ({:.2f} to {:.2f})", q.area,
      q.area_interval.low, q.area_interval.high, q.spearman, q.spearman_interval.low,
      q.spearman_interval.high);
}

/// Says where a rule is from, and how well it does.
void set_source(GateRule& rule, const Networks& networks, const RuleQuality& left_out,
                const Networks& others, const RuleQuality& tested) {
  rule.origin = networks.tables.front().origin;
  for (const NetworkTable& table : networks.tables) {
    rule.tables.push_back(table.name);
    if (table.origin == rule.origin) continue;
    fail("'{}' is of {}, but '{}' of {}: one rule is for one way of training", table.name,
         print(table.origin), networks.tables.front().name, print(rule.origin));
  }
  rule.source = fmt::format("{} networks of {}, {}; {} when each is left out",
                            networks.trained.size(), names_of(networks.tables),
                            networks.tables.front().scored_on, print_brief(left_out));
  if (others.trained.empty()) return;
  rule.source += fmt::format("; {} on {} networks of {} that took no part", print_brief(tested),
                             others.trained.size(), names_of(others.tables));
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
  for (const Metric& metric : metrics) {
    std::vector<double> values, changes;
    for (const Trained& trained : networks.trained) {
      values.push_back(values_of({{metric.name, Form::difference}}, trained.comparisons).front());
      changes.push_back(trained.change);
    }
    Correlation c = correlated(metric.name, values, changes);
    fmt::print("{:<12}{:>6.2f} ({:.2f} to {:.2f})\n", c.metric, c.spearman, c.spearman_interval.low,
               c.spearman_interval.high);
  }
}

void print_rule(const GateRule& rule) {
  fmt::print("\nthe rule: points are the sum of");
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

/// Scores a table, and writes it with its scores.
int write_table(const CalibrateArguments& arguments, const std::vector<Metric>& metrics) {
  if (arguments.tables.size() != 1) fail("--write-table writes one table: give one with --table");
  NetworkTable table = read_networks(arguments, arguments.tables, metrics).tables.front();
  write_text(arguments.table, print_scored(table));
  fmt::print("wrote {}: {} networks and their original; {}\n", arguments.table,
             table.networks.size() - 1, table.scored_on);
  return 0;
}

}  // namespace

void write_picture(const std::string& path, const Plot& plot) { write_text(path, print_svg(plot)); }

int calibrate_recipes(const CalibrateArguments& arguments) {
  std::vector<Metric> metrics = metrics_for_rule(arguments.metrics);
  if (!arguments.table.empty()) return write_table(arguments, metrics);
  double tolerance = arguments.tolerance;
  std::vector<Feature> features = features_of(metrics);
  Networks networks = read_networks(arguments, arguments.tables, metrics), others;
  FittedRule fitted = fit_rule(features, networks.trained, tolerance);
  RuleQuality published = quality_of(find_rule("paper"), networks.trained, tolerance), tested;
  if (!arguments.tests.empty()) {
    others = read_networks(arguments, arguments.tests, metrics);
    tested = quality_of(fitted.rule, others.trained, tolerance);
  }
  set_source(fitted.rule, networks, fitted.quality, others, tested);
  if (!arguments.rule.empty()) write_text(arguments.rule, to_json(fitted.rule).dump(2) + "\n");
  if (!arguments.picture.empty()) {
    write_picture(arguments.picture, picture_of(networks.trained, fitted.quality, tolerance));
  }
  if (arguments.json) {
    nlohmann::json report{{"rule", to_json(fitted.rule)},
                          {"two-sided", to_json(fitted.quality)},
                          {"paper", to_json(published)}};
    if (!arguments.tests.empty()) report["test"] = to_json(tested);
    fmt::print("{}\n", report.dump(2));
    return 0;
  }
  fmt::print("made of {}; {}\n", print(fitted.rule.origin), networks.tables.front().scored_on);
  print_head("fitted to", networks, fitted.quality, tolerance);
  if (!arguments.tests.empty()) print_head("tested on", others, tested, tolerance);
  fmt::print("\n{:<12}{:<22}{:<25}{:<15}{}\n", "rule", "area under the curve", "rank correlation",
             "kept, refused", "lost, accepted");
  print_quality("two-sided", fitted.quality);
  print_quality("paper", published);
  if (!arguments.tests.empty()) {
    print_quality("in the test", tested);
    print_quality("paper there", quality_of(find_rule("paper"), others.trained, tolerance));
  }
  print_rule(fitted.rule);
  print_single_scores(networks, metrics);
  print_networks(networks, fitted.quality);
  if (!arguments.tests.empty()) print_networks(others, tested);
  return 0;
}

}  // namespace lathe
