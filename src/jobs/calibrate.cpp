// calibrate.cpp: rules fitted to networks that recipes made. Interface: calibrate.h.
#include "jobs/calibrate.h"

#include <algorithm>

#include "base/error.h"
#include "jobs/score_networks.h"

namespace lathe {
namespace {

/// Returns the metrics by which a table has no scores yet.
std::vector<Metric> missing_in(const NetworkTable& table, const std::vector<Metric>& metrics) {
  const std::vector<Scores>& scores = table.original().scores;
  std::vector<Metric> result;
  for (const Metric& metric : metrics) {
    bool has = std::any_of(scores.begin(), scores.end(),
                           [&](const Scores& each) { return each.metric == metric.name; });
    if (!has) result.push_back(metric);
  }
  return result;
}

/// The original has the empty name in journals: each table may name it in its own way.
std::string journal_name(const TrainedNetwork& network) {
  return network.recipe.empty() ? "" : network.name;
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

/// Returns where the networks of all tables are from, which must be the same.
TrainingOrigin common_origin(const std::vector<NetworkTable>& tables) {
  const NetworkTable& first = tables.front();
  for (const NetworkTable& table : tables) {
    if (table.origin == first.origin) continue;
    fail("'{}' is of {}, but '{}' of {}: one rule is for one way of training", table.name,
         print(table.origin), first.name, print(first.origin));
  }
  return first.origin;
}

/// Says where the rule is from, and how well it does.
void set_source(Calibration& found) {
  GateRule& rule = found.rule;
  const JudgedNetworks& fitted = found.fitted;
  rule.origin = common_origin(fitted.tables);
  for (const NetworkTable& table : fitted.tables) rule.tables.push_back(table.name);
  rule.source = fmt::format("{} networks of {}, {}; {} when each is left out",
                            fitted.networks.size(), names_of(fitted.tables),
                            fitted.tables.front().scored_on, print_brief(fitted.by_rule));
  if (!found.tested) return;
  rule.source +=
      fmt::format("; {} on {} networks of {} that took no part", print_brief(found.tested->by_rule),
                  found.tested->networks.size(), names_of(found.tested->tables));
}

/// Reads tables, and scores what they hold.
class TableReader {
 public:
  TableReader(const CalibrateOptions& options, const JobListener& listener)
      : options_(options),
        listener_(listener),
        metrics_(metrics_for_rule(options.metrics)),
        network_(load_untrained(options.score)) {}

  const std::vector<Metric>& metrics() const { return metrics_; }

  /// Reads a table whose networks are to have scores; those that cannot be scored are left out.
  NetworkTable read(const std::string& path) const {
    NetworkTable table = read_network_table(path, options_.score.network.network, network_);
    std::vector<Metric> missing = missing_in(table, metrics_);
    if (!missing.empty()) score(table, missing);
    return table;
  }

  /// Reads tables; what rules say of their networks is left open.
  JudgedNetworks read_all(const std::vector<std::string>& paths) const {
    JudgedNetworks result;
    for (const std::string& path : paths) {
      NetworkTable table = read(path);
      double original = table.original().accuracy();
      result.originals.push_back(original);
      for (const Trained& trained : trained_in(table, metrics_)) {
        result.networks.push_back(trained);
        result.accuracies.push_back(original + trained.change);
      }
      result.tables.push_back(std::move(table));
    }
    return result;
  }

 private:
  const CalibrateOptions& options_;
  const JobListener& listener_;
  std::vector<Metric> metrics_;
  Graph network_;

  /// Adds scores by some metrics. A table that has scores keeps them.
  void score(NetworkTable& table, const std::vector<Metric>& metrics) const {
    check_seeds(table);
    std::vector<ScoreJob> jobs;
    for (const TrainedNetwork& each : table.networks) {
      jobs.push_back({journal_name(each), [&] { return transformed(network_, each.recipe); }});
    }
    auto scores = score_all(options_.score, options_.journal, jobs, metrics, listener_);
    if (!scores.contains("")) fail("the original could not be scored");
    std::erase_if(table.networks, [&](const TrainedNetwork& each) {
      return !scores.contains(journal_name(each));
    });
    for (TrainedNetwork& each : table.networks) {
      const std::vector<Scores>& found = scores.at(journal_name(each));
      each.scores.insert(each.scores.end(), found.begin(), found.end());
    }
    if (table.scored_on.empty()) table.scored_on = describe(options_.score);
    if (table.origin.dataset.empty()) table.origin.dataset = dataset_of(options_.score);
  }

  /// Scores of one network have the same seeds.
  void check_seeds(const NetworkTable& table) const {
    const std::vector<Scores>& known = table.original().scores;
    if (known.empty() || known.front().of_seeds.size() == static_cast<size_t>(options_.score.seeds)) {
      return;
    }
    fail("'{}' has scores of {} seeds; say --seeds {} to add what it lacks", table.name,
         known.front().of_seeds.size(), known.front().of_seeds.size());
  }
};

/// Compares the scores by one metric with what training said.
MetricOrder single_order(const Metric& metric, const std::vector<Trained>& networks) {
  std::vector<double> values, changes;
  for (const Trained& trained : networks) {
    values.push_back(values_of({{metric.name, Form::difference}}, trained.comparisons).front());
    changes.push_back(trained.change);
  }
  return order_of(metric.name, values, changes);
}

}  // namespace

MetricOrder order_of(const std::string& metric, const std::vector<double>& scores,
                     const std::vector<double>& accuracies) {
  try {
    return {metric, correlated(metric, scores, accuracies), ""};
  } catch (const UserError& error) {
    return {metric, std::nullopt, error.what()};
  }
}

Calibration calibrate(const CalibrateOptions& options, const JobListener& listener) {
  if (options.tables.empty()) fail("there is no table to fit a rule to");
  TableReader reader(options, listener);
  const GateRule paper = find_rule("paper");
  Calibration found;
  found.fitted = reader.read_all(options.tables);
  common_origin(found.fitted.tables);  // fails if they do not go together, before the long work
  FittedRule fitted =
      fit_rule(features_of(reader.metrics()), found.fitted.networks, options.tolerance);
  found.rule = fitted.rule;
  found.fitted.by_rule = fitted.quality;
  found.fitted.by_paper = quality_of(paper, found.fitted.networks, options.tolerance);
  if (!options.tests.empty()) {
    found.tested = reader.read_all(options.tests);
    found.tested->by_rule = quality_of(found.rule, found.tested->networks, options.tolerance);
    found.tested->by_paper = quality_of(paper, found.tested->networks, options.tolerance);
  }
  set_source(found);
  for (const Metric& metric : reader.metrics()) {
    found.single.push_back(single_order(metric, found.fitted.networks));
  }
  return found;
}

NetworkTable scored_table(const CalibrateOptions& options, const JobListener& listener) {
  if (options.tables.size() != 1) {
    fail("one table is scored at a time; there are {}", options.tables.size());
  }
  return TableReader(options, listener).read(options.tables.front());
}

}  // namespace lathe
