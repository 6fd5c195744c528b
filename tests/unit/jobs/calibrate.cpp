// Calibration as a job: the stored rule found again, tables that are scored first, bad tables.
#include "jobs/calibrate.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "jobs/calibrate_cells.h"
#include "search/journal.h"
#include "support/repository.h"
#include "support/small_scoring.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

/// Returns what is known of resnet34-cifar, with scores.
CalibrateOptions stored_tables() {
  CalibrateOptions options;
  options.score.network.network = "resnet34-cifar";
  options.tables = {repository_file("data/transformed36.json"),
                    repository_file("data/families27.json"), repository_file("data/near7.json"),
                    repository_file("data/mixing14.json")};
  options.tests = {repository_file("data/families10.json"), repository_file("data/heldout16.json")};
  return options;
}

TEST(CalibrateJob, FindsTheStoredRule) {
  size_t told = 0;
  Calibration found = calibrate(stored_tables(), {[&](const JobEvent&) { ++told; }});
  EXPECT_EQ(told, 0u) << "all scores are in the tables";
  // What is said of its quality, too.
  EXPECT_EQ(to_json(found.rule).dump(2), to_json(find_rule("two-sided")).dump(2));
  EXPECT_EQ(found.fitted.networks.size(), 36u + 27u + 7u + 14u);
  EXPECT_EQ(found.fitted.accuracies.size(), 36u + 27u + 7u + 14u);
  ASSERT_EQ(found.fitted.originals.size(), 4u);
  EXPECT_NEAR(found.fitted.accuracies[0] - found.fitted.originals[0],
              found.fitted.networks[0].change, 1e-9);
  EXPECT_GT(found.fitted.by_rule.area, found.fitted.by_paper.area);
  ASSERT_EQ(found.single.size(), metrics_for_rule("").size());
  EXPECT_EQ(found.single[0].metric, "fisher");
  EXPECT_TRUE(found.single[0].correlation);
}

TEST(CalibrateJob, JudgesTheTestTable) {
  Calibration found = calibrate(stored_tables());
  ASSERT_TRUE(found.tested);
  // docs/08_capacity.md shows these.
  const RuleQuality &own = found.tested->by_rule, &paper = found.tested->by_paper;
  EXPECT_EQ(found.tested->networks.size(), 26u);
  EXPECT_EQ(own.kept, 8u);
  EXPECT_EQ(own.lost, 18u);
  EXPECT_EQ(own.kept_accepted, 3u);
  EXPECT_EQ(own.lost_accepted, 0u);
  EXPECT_NEAR(own.area, 0.90, 0.005);
  EXPECT_NEAR(own.spearman, 0.74, 0.005);
  EXPECT_EQ(paper.lost_accepted, 7u);
  EXPECT_NEAR(paper.area, 0.38, 0.005);
  // The test takes no part in the rule.
  CalibrateOptions untested = stored_tables();
  untested.tests.clear();
  Calibration alone = calibrate(untested);
  EXPECT_FALSE(alone.tested);
  EXPECT_EQ(alone.rule.weights, found.rule.weights);
  EXPECT_EQ(alone.rule.source.find("took no part"), std::string::npos);
}

constexpr const char* head = "# dataset: cifar10\nname,top1,recipe\noriginal,90,\n";

/// Returns a table of the small network: the fewer filters read a channel, the more is lost.
std::string small_table() {
  std::string text = head;
  for (int groups : {2, 4, 8}) {
    double lost = 0.1 * groups;
    text += fmt::format("first{0},{1:.2f},first: group({0})\n", groups, 90 - lost);
    text += fmt::format("second{0},{1:.2f},second: group({0})\n", groups, 90.05 - lost);
    text += fmt::format("both{0},{1:.2f},first: group({0}); second: group({0})\n", groups,
                        90 - 2 * lost);
  }
  return text;
}

/// A calibration of the small network, whose networks have no scores yet.
struct SmallCalibration {
  TemporaryDirectory directory;
  CalibrateOptions options;

  SmallCalibration() {
    options.score = small_scoring(directory);
    options.metrics = "macs";
    options.tables = {directory.file("small.csv", small_table())};
  }

  void expect_error(const std::vector<std::string>& tables, std::string_view part) {
    options.tables = tables;
    expect_failure([&] { calibrate(options); }, {part});
  }
};

TEST(CalibrateJob, ScoresNetworksThatHaveNoScores) {
  SmallCalibration small;
  std::vector<WorkDone> told;
  Calibration found = calibrate(small.options, {[&](const JobEvent& event) {
                                  if (const auto* work = std::get_if<WorkDone>(&event))
                                    told.push_back(*work);
                                }});
  ASSERT_EQ(told.size(), 10u);  // nine, and the original
  EXPECT_EQ(told.back().done, 10u);
  EXPECT_EQ(told.back().all, 10u);
  EXPECT_EQ(found.fitted.networks.size(), 9u);
  EXPECT_EQ(found.fitted.originals, std::vector<double>{90});
  EXPECT_EQ(found.fitted.by_rule.kept + found.fitted.by_rule.lost, 9u);
  EXPECT_EQ(found.rule.tables, std::vector<std::string>{"small"});
  EXPECT_EQ(found.rule.origin.dataset, "cifar10");
  EXPECT_EQ(found.fitted.tables[0].scored_on, "4 samples of synthetic, 2 seeds");
  // Fewer MACs go with what is lost here.
  ASSERT_EQ(found.single[1].metric, "macs");
  EXPECT_GT(found.single[1].correlation->spearman, 0.7);
}

TEST(CalibrateJob, ATableKeepsItsScores) {
  SmallCalibration small;
  NetworkTable table = scored_table(small.options);
  EXPECT_EQ(table.networks.size(), 10u);
  small.options.tables = {small.directory.file("small.json", print_scored(table))};
  size_t told = 0;
  Calibration found = calibrate(small.options, {[&](const JobEvent&) { ++told; }});
  EXPECT_EQ(told, 0u);
  EXPECT_EQ(found.fitted.networks.size(), 9u);
  small.options.tables.push_back(small.options.tables[0]);
  expect_failure([&] { scored_table(small.options); }, {"there are 2"});
}

TEST(CalibrateJob, GoesOnWhereItWasStopped) {
  SmallCalibration small;
  small.options.journal = small.directory.file("scores");
  small.options.score.threads = 1;
  size_t told = 0;
  JobListener stopping{[&](const JobEvent&) { ++told; }, [&] { return told == 3; }};
  expect_failure([&] { calibrate(small.options, stopping); }, {"stopped"});
  EXPECT_EQ(told, 3u);
  auto scored = [&] { return read_journal(small.options.journal).trials.size(); };
  EXPECT_EQ(scored(), 3u * 2);  // by two metrics
  EXPECT_EQ(calibrate(small.options).fitted.networks.size(), 9u);
  EXPECT_EQ(scored(), 10u * 2);
}

TEST(CalibrateJob, SaysWhatIsWrongWithATable) {
  SmallCalibration small;
  auto file = [&](const char* name, const std::string& text) {
    return small.directory.file(name, text);
  };
  small.expect_error({}, "there is no table");
  small.expect_error({small.directory.file("none.csv")}, "cannot read");
  small.expect_error({repository_file("data/transformed36.json")},
                     "its networks are made of resnet34-cifar, not of ");
  small.expect_error({file("few.csv", head + std::string("one,89,first: group(2)\n"))},
                     "1 networks are too few to fit a rule to");
  small.expect_error({file("kind.csv", head + std::string("one,many,first: group(2)\n"))},
                     "line 4: top1 is 'many'");
}

TEST(CalibrateJob, OneRuleIsForOneWayOfTraining) {
  TemporaryDirectory directory;
  CalibrateOptions options = stored_tables();
  nlohmann::json other = nlohmann::json::parse(content_of(options.tables[0]));
  other["origin"]["epochs"] = 200;
  options.tables.push_back(directory.file("other.json", other.dump()));
  expect_failure([&] { calibrate(options); },
                 {"'other' is of resnet34-cifar on cifar10, 200 epochs",
                  "'transformed36' of resnet34-cifar on cifar10, 12 epochs",
                  "one rule is for one way of training"});
}

TEST(CalibrateJob, SaysWhyScoresHaveNoOrder) {
  MetricOrder order = order_of("macs", {7, 7, 7}, {1, 2, 3});
  EXPECT_FALSE(order.correlation);
  EXPECT_NE(order.failure.find("equal to 7"), std::string::npos) << order.failure;
  EXPECT_DOUBLE_EQ(order_of("macs", {4, 7, 9}, {1, 2, 3}).correlation->spearman, 1);
}

/// Three cells; the more is computed, the higher the accuracy.
constexpr const char* cells =
    "ArchitectureString,Accuracy\n"
    "|none~0|+|none~0|none~1|+|nor_conv_1x1~0|none~1|none~2|,60\n"
    "|none~0|+|none~0|none~1|+|nor_conv_3x3~0|none~1|none~2|,70\n"
    "|nor_conv_3x3~0|+|none~0|nor_conv_3x3~1|+|nor_conv_3x3~0|none~1|nor_conv_3x3~2|,80\n";

TEST(CalibrateJob, ComparesCellsWithTheirAccuracy) {
  TemporaryDirectory directory;
  CellOptions options{
      .table = directory.file("cells.csv", cells), .column = "Accuracy", .metrics = "macs,params"};
  options.score.samples = 2;
  CellCalibration found = calibrate_cells(options);
  ASSERT_EQ(found.cells.size(), 3u);
  ASSERT_EQ(found.metrics.size(), 2u);
  for (const CellScores& each : found.metrics) {
    EXPECT_EQ(each.scores.size(), 3u) << each.metric.name;
    ASSERT_TRUE(each.order.correlation) << each.order.failure;
    EXPECT_DOUBLE_EQ(each.order.correlation->spearman, 1) << each.metric.name;
  }
  EXPECT_THROW(calibrate_cells(options, {nullptr, [] { return true; }}), UserError);
  options.column = "Acuracy";
  expect_failure([&] { calibrate_cells(options); },
                 {"no column 'Acuracy'; it has ArchitectureString, Accuracy"});
  options.column = "Accuracy";
  options.table = directory.file("few.csv", std::string(cells).substr(0, 200));
  EXPECT_THROW(calibrate_cells(options), UserError);
}

}  // namespace
}  // namespace lathe::test
