// Tuning in rounds for a device that is elsewhere, with results that a test makes up.
#include "search/round_tuning.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "graph/text.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

using Json = nlohmann::json;

Graph one_layer() {
  return parse_graph(
      "graph small\n"
      "input x: f32[1x8x8x8]\n"
      "weight w: f32[8x8x3x3] = normal(0.1)\n"
      "a = conv(x, w, pads=[1, 1, 1, 1]): f32[1x8x8x8]\n"
      "output a\n");
}

/// A folder, a store, and a device that takes made-up times.
class Elsewhere {
 public:
  explicit Elsewhere(uint64_t seed = 1) { options_.tune.seed = seed, options_.tune.trials = 12; }

  RoundOutcome call() {
    Graph graph = initialised(one_layer(), 1);
    JobFolder folder({.folder = path(), .host = "x86-64-v3"});
    TunedStore store(store_path());
    return tune_in_rounds(graph, target_named("cuda:sm_90"), folder, store, options_);
  }

  /// Writes a line for each job of the plan but those that are left out.
  void measure(const std::string& left_out = "") {
    std::string lines = "device 132 90 NVIDIA H200\n";
    for (const auto& [job, unit] : jobs()) {
      if (job != left_out) lines += line_of(job, unit);
    }
    directory_.file("jobs/results", lines);
  }

  /// Jobs of the plan, in order; "" is what a network has for a unit.
  std::vector<std::pair<std::string, std::string>> jobs() const {
    Json plan = Json::parse(content_of(path() + "/plan.json"));
    std::vector<std::pair<std::string, std::string>> result;
    for (const Json& entry : plan["units"]) {
      std::string choice = entry.contains("schedule") ? "choice" : "own";
      if (entry["job"] != "") result.emplace_back(entry["job"], choice);
    }
    for (const auto& [name, job] : plan["networks"].items()) result.emplace_back(job, "is " + name);
    return result;
  }

  Json plan() const { return Json::parse(content_of(path() + "/plan.json")); }
  std::string path() const { return directory_.file("jobs"); }
  std::string store_path() const { return directory_.file("tuned.db"); }
  void write_results(const std::string& text) const { directory_.file("jobs/results", text); }
  RoundTuneOptions& options() { return options_; }

  std::string broken, wrong;     ///< jobs that fail, and that compute something else
  double gain_of_network = 0.5;  ///< what tuned networks take of the others' time

 private:
  TemporaryDirectory directory_;
  RoundTuneOptions options_;

  std::string line_of(const std::string& job, const std::string& what) const {
    if (job == broken) return job + " failed it needs more than 30 s\n";
    double time = what == "own" || what == "is own" ? 1
                  : what == "choice"                ? time_of(job)
                                                    : gain_of_network;
    return fmt::format("{} milliseconds {} {} off {} first 1\n", job, time, time,
                       job == wrong              ? "0.3"
                       : what.starts_with("is ") ? "-1"
                                                 : "1e-7");
  }

  static double time_of(const std::string& job) {
    // The last letters say the round.
    return 0.4 + 0.01 * static_cast<double>(hash_bytes(job.substr(0, 17)) % 50);
  }
};

TEST(RoundTuning, EndsAfterFourRoundsAndKeepsWhatIsFaster) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "processes that compile end in the sanitizer: 'dup thread with used id'";
#endif
  Elsewhere device;
  RoundOutcome outcome;
  int calls = 0;
  for (; !outcome.report && calls < 10; ++calls) {
    outcome = device.call();
    if (outcome.report) break;
    EXPECT_TRUE(outcome.is_new);
    EXPECT_GT(outcome.jobs, 0u);
    EXPECT_LE(outcome.round, JobFolderOptions().most_rounds);
    device.measure();
  }
  ASSERT_TRUE(outcome.report);
  EXPECT_LE(calls, JobFolderOptions().most_rounds);
  EXPECT_TRUE(outcome.report->kept);
  EXPECT_DOUBLE_EQ(outcome.report->own, 1e-3);
  EXPECT_DOUBLE_EQ(outcome.report->tuned, 0.5e-3);
  auto silent = [](const std::string&) {};
  Target kind = target_named("cuda:sm_90"), other = target_named("cuda:sm_80");
  Chooser choose = tuned_choices(device.store_path(), kind, 1, silent);
  ASSERT_TRUE(choose) << "who compiles for the kind finds what was tuned on the device";
  std::string key = units_for(initialised(one_layer(), 1), kind).front().unit.key;
  EXPECT_TRUE(choose(key));
  kind.gpu.model = "NVIDIA H200";
  EXPECT_TRUE(tuned_choices(device.store_path(), kind, 1, silent));
  kind.gpu.model = "another";
  EXPECT_FALSE(tuned_choices(device.store_path(), kind, 1, silent));
  EXPECT_FALSE(tuned_choices(device.store_path(), other, 1, silent));
}

TEST(RoundTuning, WhatDoesNotMakeTheNetworkFasterIsNotKept) {
  Elsewhere device;
  device.gain_of_network = 1.1;
  RoundOutcome outcome;
  for (int i = 0; !outcome.report && i < 10; ++i) {
    outcome = device.call();
    device.measure();
  }
  ASSERT_TRUE(outcome.report);
  EXPECT_FALSE(outcome.report->kept);
}

TEST(RoundTuning, WaitsForMissingResults) {
  Elsewhere device;
  RoundOutcome first = device.call();
  std::string file = content_of(device.path() + "/round1.jobs");
  RoundOutcome again = device.call();
  EXPECT_FALSE(again.report);
  EXPECT_FALSE(again.is_new);
  EXPECT_EQ(again.jobs, first.jobs);
  EXPECT_EQ(content_of(device.path() + "/round1.jobs"), file) << "the same jobs wait";
  std::string one = device.jobs().back().first;
  device.measure(one);
  RoundOutcome partly = device.call();
  EXPECT_FALSE(partly.is_new);
  EXPECT_EQ(partly.jobs, 1u);
  EXPECT_EQ(partly.round, 1);
  device.write_results("nonsense\nu1 milliseconds\n\n");
  EXPECT_EQ(device.call().jobs, first.jobs) << "lines that are no results";
  device.measure();
  EXPECT_EQ(device.call().round, 2);
}

TEST(RoundTuning, WhatFailedIsNotTriedAgain) {
  Elsewhere device;
  device.call();
  auto jobs = device.jobs();
  ASSERT_GE(jobs.size(), 3u);
  device.broken = jobs[1].first;
  device.wrong = jobs[2].first;
  device.measure();
  device.call();
  std::string unit = device.plan()["units"][0]["unit"];
  Target target = target_named("cuda:sm_90");
  target.gpu.model = "NVIDIA H200";
  std::set<std::string> failures;
  TunedStore store(device.store_path());
  for (const Measurement& m : store.measurements({unit, tuned_target(target), 1})) {
    if (!m.failure.empty()) failures.insert(m.failure.substr(0, 11));
  }
  EXPECT_EQ(failures, (std::set<std::string>{"it needs mo", "it is wrong"}));
  std::set<std::string> codes;
  Json plan = device.plan();
  for (const Json& entry : plan["units"]) {
    if (!entry.contains("schedule") || entry["round"] == 3) continue;
    std::string code = entry["code"];
    bool failed = entry["job"] == device.broken || entry["job"] == device.wrong;
    EXPECT_FALSE(codes.contains(code)) << code;
    if (failed) codes.insert(code);
  }
  EXPECT_EQ(codes.size(), 2u);
}

TEST(RoundTuning, IsTheSameForTheSameSeed) {
  std::vector<std::string> plans;
  for (uint64_t seed : {7, 7, 8}) {
    Elsewhere device(seed);
    device.call();
    device.measure();
    device.call();
    plans.push_back(device.plan()["units"].dump());
  }
  EXPECT_EQ(plans[0], plans[1]);
  EXPECT_NE(plans[0], plans[2]);
}

TEST(RoundTuning, RefusesTheFolderOfAnotherSearch) {
  Elsewhere device;
  device.call();
  device.options().tune.seed = 9;
  expect_failure([&] { device.call(); }, {"another seed", "--again"});
  device.options().tune.begin = TuneOptions::Begin::again;
  EXPECT_EQ(device.call().round, 1);
}

}  // namespace
}  // namespace lathe::test
