// Pages about searches: every part is there, all text is escaped, nothing is loaded from elsewhere.
#include "report/report_page.h"

#include <gtest/gtest.h>

#include <cmath>

#include "capacity/rule.h"
#include "models/model.h"
#include "report/report_html.h"
#include "report/report_text.h"
#include "report/report_trials.h"
#include "support/search_result.h"

namespace lathe::test {
namespace {

RecordedTrial network_trial(long number, const std::string& recipe, Trial::Outcome outcome,
                            double log_ratio) {
  Trial trial{"network", recipe, outcome};
  if (outcome == Trial::Outcome::refused) trial.reason = "fisher <moved> too far";
  trial.details = {{"first_order",
                    {{"accepted", outcome != Trial::Outcome::refused},
                     {"time", 0.003},
                     {"log_ratio", log_ratio},
                     {"predicted", -0.3}}},
                   {"macs", 1000},
                   {"weights", 100000}};
  if (outcome == Trial::Outcome::measured) {
    trial.time = 0.0025, trial.own = 0.0046;
    trial.details["verdict"] = {{"ratio", 0.93}, {"predicted", -0.21}};
  }
  return {number, "2026-11-16 02:03:04", trial};
}

JournalRecord sample_journal() {
  JournalRecord journal;
  journal.trials.push_back({1, "2026-11-16 02:03:00", Trial{"conv 3x3 16->16", "group(2)"}});
  journal.trials.push_back(network_trial(2, "", Trial::Outcome::measured, 0));
  journal.trials.push_back(
      network_trial(3, "layer1.0.conv1: group(2)\n", Trial::Outcome::measured, -0.07));
  journal.trials.push_back(network_trial(
      4, "layer1.0.conv1: group(4)\nlayer1.0.conv2: interchange(co, ci) -> bottleneck(2)\n",
      Trial::Outcome::measured, 0.1));
  journal.trials.push_back(
      network_trial(5, "layer1.0.conv1: group(8)\n", Trial::Outcome::refused, -3));
  journal.trials.push_back(
      network_trial(6, "layer1.0.conv2: group(2)\n", Trial::Outcome::judged, 0.1));
  return journal;
}

bool has(const std::string& page, const std::string& part) {
  return page.find(part) != std::string::npos;
}

size_t count_of(const std::string& page, const std::string& part) {
  size_t count = 0;
  for (size_t at = 0; (at = page.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

/// Is every element closed, and nothing loaded or run?
void expect_sound(const std::string& page) {
  for (std::string tag : {"div", "section", "table", "tbody", "tr", "td", "figure", "svg",
                          "details", "summary", "pre", "p", "h2", "h3", "main", "header", "nav"}) {
    size_t open = count_of(page, "<" + tag + ">") + count_of(page, "<" + tag + " ");
    EXPECT_EQ(open, count_of(page, "</" + tag + ">")) << tag;
  }
  EXPECT_FALSE(has(page, "<script"));
  EXPECT_EQ(count_of(page, "://"), count_of(page, "xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_FALSE(has(page, "nan\""));
  EXPECT_FALSE(has(page, "inf\""));
}

TEST(Page, HasEveryPart) {
  SearchResult result = sample_result();
  std::string page = print_report({result, sample_journal(), "runs/r20"});
  expect_sound(page);
  EXPECT_TRUE(has(page, "<h1>resnet20-cifar: 1.84 times faster</h1>"));
  EXPECT_TRUE(has(page,
                  "2.50 ms instead of 4.60 ms; capacity kept (accepted: 84 % sure); 132k "
                  "weights instead of 272k."));
  EXPECT_TRUE(has(page, "is a prediction, give or take 0.97"));
  EXPECT_TRUE(has(page, "must be trained before the network is used"));
  for (const char* id : {"waterfall", "pareto", "gate", "sequences", "kinds", "kind0", "history"}) {
    EXPECT_TRUE(has(page, fmt::format("<figure id=\"{}\"", id))) << id;
  }
  for (const char* id : {"layers", "networks", "steps", "search", "others", "again"}) {
    EXPECT_TRUE(has(page, fmt::format("<section id=\"{}\"", id))) << id;
    EXPECT_TRUE(has(page, fmt::format("href=\"#{}\"", id))) << id;
  }
  EXPECT_TRUE(has(page, "ONNX Runtime 1.20"));
  EXPECT_TRUE(has(page, "compiler alone"));
  EXPECT_TRUE(has(page, "list of blocks (sampled)"));
  EXPECT_TRUE(has(page, "none of 1000 passed"));
  EXPECT_TRUE(has(page, "list of blocks (assigned)"));
  EXPECT_TRUE(has(page, "up to 24 blocks a layer, which make 10^44.2 networks"));
  EXPECT_TRUE(has(page, "lathe replay runs/r20/bundle/winner.recipe -o out/"));
  EXPECT_TRUE(has(page, "aarch64 Neoverse"));
  EXPECT_TRUE(has(page, "[interchange → bottleneck]"));
  EXPECT_TRUE(has(page, "depthwise failed: it ran too long"));
  EXPECT_TRUE(has(page, "Loops are not shown: the network was not loaded."));
  EXPECT_EQ(page, print_report({result, sample_journal(), "runs/r20"}));
}

TEST(Page, PicturesHaveTitles) {
  SearchResult result = sample_result();
  std::string page = print_report({result, sample_journal(), "runs/r20"});
  size_t pictures = count_of(page, "<svg ");
  EXPECT_GT(pictures, 10u);
  EXPECT_EQ(count_of(page, "role=\"img\""), pictures);
  for (size_t at = 0; (at = page.find("<svg ", at)) != std::string::npos; ++at) {
    size_t end = page.find(">\n", at);
    EXPECT_EQ(page.compare(end + 2, 7, "<title>"), 0) << page.substr(at, 300);
  }
}

TEST(Page, ShowsLoops) {
  SearchResult result = sample_result();
  Graph graph = load_model("resnet20-cifar");
  std::string page = print_report({result, sample_journal(), "runs/r20", &graph});
  expect_sound(page);
  EXPECT_TRUE(has(page, "for co &lt; 16:\n"));
  EXPECT_TRUE(has(page, "after group(2)"));
  EXPECT_EQ(count_of(page, "class=\"more\""), result.layers.size());
  // A layer or recipe that does not fit has a remark in place of its loops.
  result.layers[0].layer = "layer9";
  result.layers[1].recipe = "group(7)";
  page = print_report({result, sample_journal(), "runs/r20", &graph});
  expect_sound(page);
  EXPECT_TRUE(has(page, "The network has no layer of this name."));
  EXPECT_TRUE(has(page, "group(7)"));
}

TEST(Page, EverythingIsEscaped) {
  SearchResult result = sample_result();
  const std::string bad = "<script>alert('&\"')</script>";
  result.network = result.command = result.strategy = result.lathe = result.rule.name = bad;
  result.identity[bad] = bad;
  result.reasons[bad] = 3;
  result.peers[0].name = bad;
  for (ResultLayer& layer : result.layers) layer.layer = layer.kind = layer.meaning = bad;
  result.layers[0].recipe = bad;
  result.kinds[0].kind = bad;
  for (ResultVariant& variant : result.kinds[0].variants) {
    variant.recipe = variant.meaning = bad;
  }
  result.kinds[0].variants[1].failure = bad;
  result.kinds[0].sites = {bad};
  JournalRecord journal = sample_journal();
  for (RecordedTrial& each : journal.trials) each.trial.reason = bad;
  std::string page = print_report({result, journal, bad, nullptr, bad});
  expect_sound(page);
  EXPECT_TRUE(has(page, "&lt;script&gt;alert(&apos;&amp;&quot;&apos;)&lt;/script&gt;"));
}

TEST(Page, NothingFound) {
  SearchResult result = result_of_nothing();
  std::string page = print_report({result, sample_journal(), "runs/r20"});
  expect_sound(page);
  EXPECT_TRUE(has(page, "<h1>resnet20-cifar: nothing faster was found</h1>"));
  EXPECT_TRUE(has(page, "Of 40 networks that were tried, 34 were refused and 1 failed"));
  EXPECT_TRUE(has(page, "fisher moved too far"));
  EXPECT_TRUE(has(page, "Where the time goes"));
  EXPECT_FALSE(has(page, "class=\"tiles\""));
  EXPECT_FALSE(has(page, "id=\"others\""));
}

TEST(Page, NothingTried) {
  SearchResult result = result_of_nothing();
  result.reasons.clear();
  result.layers.clear();
  result.kinds.clear();
  result.tried = result.refused = result.failed = 0;
  result.stopped = true;
  std::string page = print_report({result, {}, "runs/r20"});
  expect_sound(page);
  EXPECT_TRUE(has(page, "The journal holds no network."));
  EXPECT_TRUE(has(page, "there is no front to show"));
  EXPECT_TRUE(has(page, "The search was interrupted"));
}

TEST(Page, WithoutPredictions) {
  SearchResult result = sample_result();
  result.rule = {"paper", 0, 0, 0, true};
  result.winner.verdict->predicted.reset();
  for (ResultPoint& point : result.pareto) point.predicted.reset();
  JournalRecord journal = sample_journal();
  for (RecordedTrial& each : journal.trials) {
    if (each.trial.details.contains("verdict")) each.trial.details["verdict"].erase("predicted");
  }
  std::string page = print_report({result, journal, "runs/r20"});
  expect_sound(page);
  EXPECT_FALSE(has(page, "id=\"pareto\""));
  EXPECT_TRUE(has(page, "nobody has trained this network"));
  EXPECT_TRUE(has(page, "The published rule accepts"));
}

/// Returns a result whose rule judged a network that it may not be for.
SearchResult judged_by(const GateRule& rule) {
  SearchResult result = sample_result();
  ResultVerdict& verdict = *result.winner.verdict;
  if (rule.caveat.empty()) return result;
  verdict.caveat = rule.caveat;
  verdict.predicted.reset();
  verdict.uncertainty.reset();
  verdict.sure.reset();
  return result;
}

TEST(Page, SaysWhereTheRuleIsNotCalibrated) {
  GateRule rule = find_rule("two-sided");
  auto page_for = [&](const char* network, const char* dataset) {
    std::string page = print_report(
        {judged_by(suited(rule, load_model(network), dataset)), sample_journal(), "runs/r20"});
    expect_sound(page);
    return page;
  };
  std::string own = page_for("resnet34-cifar", "cifar10");
  EXPECT_FALSE(has(own, "not calibrated"));
  EXPECT_TRUE(has(own, "points of accuracy, predicted"));
  const std::string fitted = "the rule was fitted to resnet34-cifar on cifar10";
  for (auto [network, dataset, what] :
       {std::tuple{"resnet20-cifar", "cifar10", "for this network: "},
        std::tuple{"resnet34-cifar", "synthetic", "for these data: "},
        std::tuple{"resnet20-cifar", "synthetic", "for this network and these data: "}}) {
    std::string page = page_for(network, dataset);
    EXPECT_TRUE(has(page, "Prediction not calibrated " + std::string(what) + fitted)) << what;
    EXPECT_EQ(count_of(page, "not calibrated"), 2u) << "in words and beside the number";
    EXPECT_TRUE(has(page, "−2.11 to +1.69")) << "only an interval is said";
    EXPECT_FALSE(has(page, "points of accuracy, predicted")) << what;
  }
}

TEST(Page, ManyLayersStayReadable) {
  SearchResult result = sample_result();
  ResultLayer layer = result.layers[0];
  for (int i = 0; i < 200; ++i) {
    layer.layer = "block" + std::to_string(i);
    result.layers.push_back(layer);
  }
  std::string page = print_report({result, sample_journal(), "runs/r20"});
  EXPECT_TRUE(has(page, "169 layers more"));
}

TEST(Page, Trials) {
  std::vector<NetworkTrial> trials = network_trials(sample_journal());
  ASSERT_EQ(trials.size(), 4u);
  EXPECT_EQ(trials[0].ms, 2.5);
  EXPECT_EQ(trials[0].ratio, 0.93);
  EXPECT_FALSE(trials[2].passed());
  EXPECT_NEAR(*trials[2].ratio, std::exp(-3), 1e-12);
  EXPECT_EQ(trials[3].ms, 3);
  // What was written by another version may tell less.
  JournalRecord journal;
  journal.trials.push_back({1, "", Trial{"network", "a: group(2)\n"}});
  EXPECT_FALSE(network_trials(journal)[0].ms);
  EXPECT_FALSE(network_trials(journal)[0].ratio);
}

TEST(Page, Sequences) {
  std::vector<SequenceCount> counts = sequence_counts(
      parse_network_recipe("layer1.0.conv1: group(2)\n"), network_trials(sample_journal()));
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts[0].sequence, "group");
  EXPECT_EQ(counts[0].winner, 1);
  EXPECT_EQ(counts[0].passed, 1);
  EXPECT_EQ(counts[1].sequence, "interchange → bottleneck");
  EXPECT_EQ(counts[1].passed, 0.5);
}

TEST(Page, Numbers) {
  EXPECT_EQ(print_ms(26.43), "26.4 ms");
  EXPECT_EQ(print_ms(1000.4), "1000 ms");
  EXPECT_EQ(print_ms(0.02643), "0.0264 ms");
  EXPECT_EQ(print_digits(0), "0");
  EXPECT_EQ(print_amount(512), "512");
  EXPECT_EQ(print_amount(272474), "272k");
  EXPECT_EQ(print_amount(2912345), "2.9M");
  EXPECT_EQ(print_amount(1159000000), "1.16G");
  EXPECT_EQ(print_change(-0.4), "−0.40");
  EXPECT_EQ(print_change(-0.001), "0.00");
  EXPECT_EQ(print_change(1.25, 1), "+1.2");
  EXPECT_EQ(print_arrows("split(co, 16) -> group(2)"), "split(co, 16) → group(2)");
}

TEST(Page, ReasonsAlike) {
  auto reasons = reasons_alike({{"fisher of layer 'a.b' is outside of 0.3 to 3.1 times", 2},
                                {"fisher of layer 'c' is outside of 0.3 to 3.1 times", 3},
                                {"it took 4 s", 1}});
  ASSERT_EQ(reasons.size(), 2u);
  EXPECT_EQ(reasons[0].first, "fisher of layer … is outside of … to … times");
  EXPECT_EQ(reasons[0].second, 5);
  EXPECT_EQ(reasons[1].first, "it took 4 s");
}

}  // namespace
}  // namespace lathe::test
