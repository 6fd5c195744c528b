// calibrate.cpp: "lathe calibrate NETWORK --table FILE": how far scores tell what training said,
// for the networks of NAS-Bench-201, or for networks that were made of one by recipes; and the rule
// of the gate that follows.
#include <fmt/ranges.h>
#include <fstream>
#include <numeric>
#include <sstream>

#include "base/error.h"
#include "base/random.h"
#include "cli/verb_journal.h"
#include "data/file.h"
#include "legality/legality_calibration.h"
#include "report/plot.h"
#include "transforms/transform_kinds.h"

namespace lathe::cli {
namespace {

struct Options {
  ScoreArguments score;
  std::string table, metrics, journal, picture, rule;
  std::string column = "CIFAR10TestAccuracy200Epochs";
  std::vector<std::string> features = {"fisher:distance", "macs:log_ratio", "jacob_cov:difference"};
  long sample = 500;
  double tolerance = 0.5;
  bool json = false;
};

void write_text(const std::string& path, const std::string& text) {
  write_file(path, {std::as_bytes(std::span(text))});
}

// NAS-Bench-201.

struct Architecture {
  std::string cell;
  double accuracy;
};

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  return fields;
}

/// Reads the cells and their accuracies.
std::vector<Architecture> read_architectures(const Options& options) {
  std::ifstream file(options.table);
  if (!file) fail("cannot read '{}'", options.table);
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
  std::vector<Architecture> result;
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
  if (result.size() < 3) fail("'{}' has {} architectures; too few", options.table, result.size());
  return result;
}

/// Draws architectures without repetition.
std::vector<Architecture> sample(std::vector<Architecture> all, size_t count, uint64_t seed) {
  Random random(seed);
  count = std::min(count, all.size());
  for (size_t i = 0; i < count; ++i) {
    std::swap(all[i], all[i + random.below(all.size() - i)]);
  }
  all.resize(count);
  return all;
}

int calibrate_cells(const Options& options) {
  std::vector<Architecture> chosen = sample(
      read_architectures(options), static_cast<size_t>(options.sample), options.score.network.seed);
  std::vector<Metric> metrics = parse_metrics(options.metrics.empty() ? "all" : options.metrics);
  std::vector<ScoreJob> jobs;
  for (const Architecture& architecture : chosen) {
    jobs.push_back({architecture.cell, [&options, cell = architecture.cell] {
                      ScoreArguments arguments = options.score;
                      arguments.network.network = "nasbench201:" + cell;
                      return load_untrained(arguments);
                    }});
  }
  auto scored = score_all(options.score, options.journal, jobs, metrics);
  std::vector<Correlation> correlations;
  Plot plot{.title = "Score before training, accuracy after", .x = {""}, .y = {"accuracy, %"}};
  for (size_t m = 0; m < metrics.size(); ++m) {
    std::vector<double> scores, accuracies;
    Series series{metrics[m].name, {}};
    for (const Architecture& architecture : chosen) {
      auto found = scored.find(architecture.cell);
      if (found == scored.end()) continue;
      scores.push_back(mean(found->second[m].totals()));
      accuracies.push_back(architecture.accuracy);
      series.points.push_back({scores.back(), architecture.accuracy, architecture.cell});
    }
    try {
      correlations.push_back(correlated(metrics[m].name, scores, accuracies));
    } catch (const UserError& error) {
      fmt::print(stderr, "{}: {}\n", metrics[m].name, error.what());
    }
    bool positive = std::all_of(scores.begin(), scores.end(), [](double s) { return s > 0; });
    bool drawn = metrics[m].name == "fisher" || metrics.size() == 1;
    if (!drawn) continue;
    // Networks whose score is 0 have no place on a logarithmic axis.
    plot.x = {metrics[m].name, positive ? Scale::logarithmic : Scale::linear};
    plot.series.push_back(std::move(series));
  }
  if (!options.picture.empty()) write_text(options.picture, print_svg(plot));
  if (options.json) {
    nlohmann::json report = nlohmann::json::array();
    for (const Correlation& c : correlations) {
      report.push_back({{"metric", c.metric},
                        {"networks", c.count},
                        {"spearman", c.spearman},
                        {"spearman_interval", {c.spearman_interval.low, c.spearman_interval.high}},
                        {"kendall", c.kendall},
                        {"kendall_interval", {c.kendall_interval.low, c.kendall_interval.high}}});
    }
    fmt::print("{}\n", report.dump(2));
    return 0;
  }
  fmt::print("{} networks of NAS-Bench-201, {}; {}\n", scored.size(), describe(options.score),
             options.column);
  fmt::print("{:<12}{:>10}   {:<16}{:>9}   {}\n", "metric", "Spearman", "95 % interval", "Kendall",
             "95 % interval");
  for (const Correlation& c : correlations) {
    fmt::print("{:<12}{:>10.3f}   {:<16}{:>9.3f}   {:.3f} to {:.3f}\n", c.metric, c.spearman,
               fmt::format("{:.3f} to {:.3f}", c.spearman_interval.low, c.spearman_interval.high),
               c.kendall, c.kendall_interval.low, c.kendall_interval.high);
  }
  return 0;
}

// Networks made by recipes.

Feature parse_feature(const std::string& text) {
  size_t colon = text.find(':');
  for (Feature::Form form : {Feature::Form::distance, Feature::Form::layers_distance,
                             Feature::Form::log_ratio, Feature::Form::difference}) {
    if (colon != std::string::npos && text.substr(colon + 1) == name_of(form)) {
      return {find_metric(text.substr(0, colon)).name, form};
    }
  }
  fail(
      "--feature {}: write METRIC:FORM, where FORM is distance, layers_distance, log_ratio or "
      "difference",
      text);
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
Plot picture_of(const std::vector<Trained>& networks, const FittedRule& fitted, double original) {
  Series accepted{"accepted", {}}, refused{"refused", {}};
  for (size_t i = 0; i < networks.size(); ++i) {
    Point point{fitted.quality.predicted[i], networks[i].accuracy - original, networks[i].name};
    (fitted.quality.accepted[i] ? accepted : refused).points.push_back(point);
  }
  Plot plot{.title = "The gate: predicted and real change of accuracy",
            .x = {"predicted, points"},
            .y = {"after training, points"}};
  plot.series = {accepted, refused};
  plot.lines = {{Line::Along::y, -fitted.rule.tolerance, "tolerance"},
                {Line::Along::x, -fitted.rule.tolerance}};
  return plot;
}

void print_networks(const std::vector<Trained>& networks, const FittedRule& fitted,
                    double original) {
  fmt::print("\n{:<28}{:>8}{:>9}{:>11}   {}\n", "network", "top-1", "change", "predicted",
             "verdict");
  std::vector<size_t> order(networks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return networks[a].accuracy > networks[b].accuracy; });
  for (size_t i : order) {
    fmt::print("{:<28}{:>8.2f}{:>+9.2f}{:>+11.2f}   {}\n", networks[i].name, networks[i].accuracy,
               networks[i].accuracy - original, fitted.quality.predicted[i],
               fitted.quality.accepted[i] ? "accepted" : "refused");
  }
}

int calibrate_recipes(const Options& options) {
  std::vector<TrainedNetwork> table = read_network_table(options.table);
  Graph network = load_untrained(options.score);
  GateRule paper = find_rule("paper");
  std::vector<Feature> features;
  for (const std::string& text : options.features) features.push_back(parse_feature(text));
  GateRule wanted;
  wanted.features = features;
  wanted.features.push_back(paper.features.front());
  std::vector<Metric> metrics = wanted.metrics();
  if (!options.metrics.empty()) {
    for (const Metric& metric : parse_metrics(options.metrics)) {
      bool known = std::any_of(metrics.begin(), metrics.end(),
                               [&](const Metric& m) { return m.name == metric.name; });
      if (!known) metrics.push_back(metric);
    }
  }
  std::vector<ScoreJob> jobs{{"", [&] { return network; }}};
  for (const TrainedNetwork& line : table) {
    jobs.push_back({line.name, [&] { return transformed(network, recipe_of(line, network)); }});
  }
  auto scored = score_all(options.score, options.journal, jobs, metrics);
  if (!scored.contains("")) fail("the original could not be scored");
  std::vector<Trained> networks;
  std::optional<double> original;
  for (const TrainedNetwork& line : table) {
    if (std::all_of(line.kinds.begin(), line.kinds.end(),
                    [](const std::string& kind) { return kind == "dense"; })) {
      original = line.top1;
    }
    if (!scored.contains(line.name)) continue;
    networks.push_back({line.name, line.top1, compared(scored[""], scored[line.name])});
  }
  if (!original) fail("'{}' has no network whose layers are all dense", options.table);
  FittedRule fitted = fit_rule(features, networks, *original, options.tolerance);
  fitted.rule.source = fmt::format(
      "{} networks made of {}, trained; {}; area {:.2f} and rank correlation {:.2f} when each is "
      "left out",
      networks.size(), options.score.network.network, describe(options.score), fitted.quality.area,
      fitted.quality.spearman);
  RuleQuality published = quality_of(paper, networks, *original, options.tolerance);
  if (!options.rule.empty()) write_text(options.rule, to_json(fitted.rule).dump(2) + "\n");
  if (!options.picture.empty()) {
    write_text(options.picture, print_svg(picture_of(networks, fitted, *original)));
  }
  if (options.json) {
    nlohmann::json report{{"rule", to_json(fitted.rule)},
                          {"two-sided", to_json(fitted.quality)},
                          {"paper", to_json(published)}};
    fmt::print("{}\n", report.dump(2));
    return 0;
  }
  fmt::print("{} networks made of {}, {}\n", networks.size(), options.score.network.network,
             describe(options.score));
  fmt::print("{} keep their accuracy within {} points of {}, {} do not\n\n", fitted.quality.kept,
             options.tolerance, *original, fitted.quality.lost);
  fmt::print("{:<12}{:<22}{:<25}{:<15}{}\n", "rule", "area under the curve", "rank correlation",
             "kept, refused", "lost, accepted");
  print_quality("two-sided", fitted.quality);
  print_quality("paper", published);
  fmt::print("\nsingle scores, ranked as they are\n");
  for (size_t m = 0; m < metrics.size(); ++m) {
    std::vector<double> values, accuracies;
    for (const Trained& trained : networks) {
      values.push_back(mean(scored[trained.name][m].totals()));
      accuracies.push_back(trained.accuracy);
    }
    Correlation c = correlated(metrics[m].name, values, accuracies);
    fmt::print("{:<12}{:>6.2f} ({:.2f} to {:.2f})\n", c.metric, c.spearman, c.spearman_interval.low,
               c.spearman_interval.high);
  }
  print_networks(networks, fitted, *original);
  return 0;
}

int run(const Options& options) {
  if (options.score.network.network == "nasbench201") return calibrate_cells(options);
  return calibrate_recipes(options);
}

std::function<int()> prepare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_score_arguments(app, options->score);
  app.add_option("--table", options->table,
                 "CSV file of networks and their accuracy: cells, or what layers became")
      ->required();
  app.add_option("--metric", options->metrics, "which metrics: fisher,naswot or all");
  app.add_option("--sample", options->sample, "draw so many networks of NAS-Bench-201")
      ->check(CLI::Range(3L, 1L << 20));
  app.add_option("--column", options->column, "the accuracy, among the columns of NAS-Bench-201");
  app.add_option("--feature", options->features,
                 "what the rule is fitted to: METRIC:FORM, where FORM is distance, "
                 "layers_distance, log_ratio or difference");
  app.add_option("--tolerance", options->tolerance, "points of accuracy that may be lost");
  app.add_option("--journal", options->journal,
                 "keep scores in this file, and go on with those that are there");
  app.add_option("--svg", options->picture, "draw a picture to this file");
  app.add_option("--write-rule", options->rule, "write the fitted rule to this file");
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run(*options); };
}

}  // namespace

Verb calibrate() {
  return {"calibrate", "compare scores with the accuracy of trained networks", prepare};
}

}  // namespace lathe::cli
