// calibrate.cpp: "lathe calibrate NETWORK --table FILE": how far scores tell what training said,
// for the networks of NAS-Bench-201; or for networks that were made of one by recipes, with the
// rule of the gate that follows (verb_calibrate.h).
#include <fmt/ranges.h>
#include <sstream>

#include "base/error.h"
#include "base/random.h"
#include "cli/verb.h"
#include "cli/verb_calibrate.h"
#include "cli/verb_listener.h"
#include "data/file.h"

namespace lathe::cli {
namespace {

struct Options : CalibrateArguments {
  std::string column = "CIFAR10TestAccuracy200Epochs";
  long sample = 500;
};

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
  std::istringstream file(read_file(options.tables.front()));
  std::string line;
  std::getline(file, line);
  std::vector<std::string> heads = fields_of(line);
  auto column = [&](const std::string& name) {
    auto found = std::find(heads.begin(), heads.end(), name);
    if (found == heads.end()) {
      fail("'{}' has no column '{}'; it has {}", options.tables.front(), name,
           fmt::join(heads, ", "));
    }
    return static_cast<size_t>(found - heads.begin());
  };
  size_t cell = column("ArchitectureString"), accuracy = column(options.column);
  std::vector<Architecture> result;
  for (size_t number = 2; std::getline(file, line); ++number) {
    std::vector<std::string> fields = fields_of(line);
    if (fields.size() <= std::max(cell, accuracy)) {
      fail("'{}', line {}: {} fields are too few", options.tables.front(), number, fields.size());
    }
    try {
      result.push_back({fields[cell], std::stod(fields[accuracy])});
    } catch (const std::exception&) {
      fail("'{}', line {}: '{}' is no accuracy", options.tables.front(), number, fields[accuracy]);
    }
  }
  if (result.size() < 3)
    fail("'{}' has {} architectures; too few", options.tables.front(), result.size());
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
  std::map<std::string, std::vector<Scores>> scored;
  {
    JobBar bar("scoring", JobBar::Elsewhere::tenths);
    scored = score_all(options.score, options.journal, jobs, metrics, bar.listener());
  }
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
    bool has_bands = metrics[m].contributes.use == Contribution::Use::bands;
    bool drawn = has_bands || metrics.size() == 1;
    if (!drawn) continue;
    // Networks whose score is 0 have no place on a logarithmic axis.
    plot.x = {metrics[m].name, positive ? Scale::logarithmic : Scale::linear};
    plot.series.push_back(std::move(series));
  }
  if (!options.picture.empty()) write_picture(options.picture, plot);
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

/// How often each cell is scored where nobody says: cells are many, and other cells say more than
/// other draws of weights.
constexpr long seeds_of_cells = 1;

int run(const Options& options) {
  if (options.score.network.network == "nasbench201") return calibrate_cells(options);
  return calibrate_recipes(options);
}

std::function<int()> set_up(Command& app) {
  auto options = std::make_shared<Options>();
  add_score_arguments(app, options->score);
  app.add_option(
         "--table FILE", options->tables,
         "file of networks and their accuracy: cells of NAS-Bench-201, or what was made of NETWORK "
         "(docs/08); several, to fit a rule to all")
      ->required();
  app.add_option("--test FILE", options->tests,
                 "such a file of networks made of NETWORK, to test the rule on");
  app.add_option("--metric NAMES", options->metrics,
                 "which metrics, like macs,naswot or all; a rule always reads the one with bands");
  app.add_option("--sample", options->sample, "draw so many cells of NAS-Bench-201")
      ->check(range(3L, 1L << 20));
  app.add_option("--column", options->column,
                 "the column of NAS-Bench-201 that holds the accuracy");
  app.add_option("--tolerance", options->tolerance, "how many points of accuracy may be lost");
  app.add_option("--journal FOLDER", options->journal,
                 "keep scores in this folder, and go on with those that are there");
  app.add_option("--svg FILE", options->picture, "draw a picture to this file")->writes();
  app.add_option("--write-table FILE", options->table,
                 "write the table with its scores to this file, as JSON, and fit nothing")
      ->writes();
  app.add_option("--write-rule FILE", options->rule, "write the fitted rule to this file")
      ->writes();
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options, seeds = app.option("--seeds")] {
    bool is_cells = options->score.network.network == "nasbench201";
    if (is_cells && seeds->given == 0) options->score.seeds = seeds_of_cells;
    return run(*options);
  };
}

}  // namespace

Verb calibrate() {
  return {"calibrate", "compare scores with the accuracy of trained networks", set_up,
          "lathe calibrate resnet34-cifar --table networks.csv --data cifar10:FOLDER --write-rule "
          "rule.json"};
}

}  // namespace lathe::cli
