// The search with a bench that measures nothing: what it finds, what it keeps, what it never does
// twice, and that it can be killed at any time.
#include "search/tune.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "graph/text.h"
#include "models/model.h"
#include "support/fake_bench.h"
#include "support/random_case.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

Graph small_graph() {
  return parse_graph(
      "graph small\n"
      "input x: f32[1x16x6x6]\n"
      "weight w: f32[16x16x3x3] = normal(0.1)\n"
      "weight v: f32[16x16x1x1] = normal(0.1)\n"
      "a = conv(x, w, pads=[1, 1, 1, 1]): f32[1x16x6x6]\n"
      "b = conv(a, v): f32[1x16x6x6]\n"
      "output b\n");
}

FakeBench bench_for(const Graph& graph) {
  FakeBench bench;
  for (const NodeUnit& node : units_of(graph)) bench.nodes[node.node] = node.unit.key;
  return bench;
}

TuneReport tuned(FakeBench& bench, const std::string& path, TuneOptions options) {
  Graph graph = small_graph();
  TunedStore store(path);
  return tune(graph, native_target(), bench, store, options);
}

TEST(Tune, FindsTheBestAndKeepsIt) {
  TemporaryDirectory directory;
  FakeBench bench = bench_for(small_graph());
  TuneReport report = tuned(bench, directory.file("tuned.db"), {.trials = 300});
  EXPECT_TRUE(report.kept);
  EXPECT_LT(report.tuned, 0.75 * report.own);
  EXPECT_GT(report.failed, 0);
  EXPECT_TRUE(bench.twice.empty()) << bench.twice.front();
  ASSERT_FALSE(report.units.empty());
  for (const TunedUnit& unit : report.units) {
    ASSERT_TRUE(unit.found) << unit.nodes.front();
    EXPECT_EQ(unit.found->choice.settings.at("a"), 7);
    EXPECT_EQ(unit.found->choice.settings.at("b"), 2);
    EXPECT_TRUE(unit.kept);
  }
}

TEST(Tune, IsTheSameEachTime) {
  std::vector<std::string> measured;
  for (int i = 0; i < 2; ++i) {
    TemporaryDirectory directory;
    FakeBench bench = bench_for(small_graph());
    tuned(bench, directory.file("tuned.db"), {.trials = 40, .seed = 5});
    std::string all;
    for (const std::string& code : bench.measured) all += code + "\n";
    measured.push_back(all);
  }
  EXPECT_EQ(measured[0], measured[1]);
}

TEST(Tune, WhatDoesNotMakeTheNetworkFasterIsNotKept) {
  TemporaryDirectory directory;
  std::string path = directory.file("tuned.db");
  FakeBench bench = bench_for(small_graph());
  bench.deceptive = true;
  TuneReport report = tuned(bench, path, {.trials = 60});
  EXPECT_FALSE(report.kept);
  EXPECT_FALSE(tuned_choices(path, native_target(), 1, nullptr));
}

TEST(Tune, GoesOnWhereItWas) {
  TemporaryDirectory directory;
  std::string path = directory.file("tuned.db");
  FakeBench first = bench_for(small_graph()), second = bench_for(small_graph());
  tuned(first, path, {.trials = 30});
  second.measured = first.measured;
  TuneReport report = tuned(second, path, {.trials = 30, .seed = 2});
  EXPECT_TRUE(second.twice.empty()) << second.twice.front();
  EXPECT_TRUE(report.units.front().found);
  FakeBench third = bench_for(small_graph());
  tuned(third, path, {.trials = 30, .begin = TuneOptions::Begin::again});
  EXPECT_EQ(third.measured, first.measured) << "it begins again";
}

TEST(Tune, KeepsToItsBudgetAndStopsWhenTold) {
  TemporaryDirectory directory;
  FakeBench bench = bench_for(small_graph());
  EXPECT_EQ(tuned(bench, directory.file("a.db"), {.trials = 7}).trials, 7);
  FakeBench timed = bench_for(small_graph());
  EXPECT_LE(tuned(timed, directory.file("b.db"), {.seconds = 50}).trials, 50);
  FakeBench stopped = bench_for(small_graph());
  long trials = 0;
  TuneReport report = tuned(stopped, directory.file("c.db"),
                            {.stop = [&] { return trials >= 5; },
                             .progress = [&](const TuneState& state) { trials = state.trials; }});
  EXPECT_EQ(report.trials, 5);
  EXPECT_TRUE(report.stopped);
}

TEST(Tune, OnlyLayersOfTheName) {
  TemporaryDirectory directory;
  FakeBench bench = bench_for(small_graph());
  TuneReport report = tuned(bench, directory.file("tuned.db"), {.trials = 5, .layers = "a"});
  ASSERT_EQ(report.units.size(), 1u);
  EXPECT_EQ(report.units.front().nodes, std::vector<std::string>{"a"});
  expect_failure([&] { tuned(bench, directory.file("b.db"), {.trials = 5, .layers = "none"}); },
                 {"no layer", "'none'"});
}

/// Tunes in a process that says after each measurement that it has finished; returns its id.
pid_t start_tuning(const std::string& path, const std::string& log, uint64_t seed) {
  pid_t child = fork();
  if (child != 0) return child;
  int file = open(log.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
  FakeBench bench = bench_for(small_graph());
  auto note = [&](const TuneState& state) {
    if (state.tried.seen) return;
    std::string line = FakeBench::code_of(state.choice) + "\n";
    if (write(file, line.data(), line.size()) < 0) _exit(2);
  };
  try {
    while (true) tuned(bench, path, {.trials = 5, .seed = seed++, .progress = note});
  } catch (const std::exception&) {
    _exit(1);
  }
}

TEST(Tune, KillsLoseNoFinishedMeasurement) {
  TemporaryDirectory directory;
  std::string path = directory.file("tuned.db"), log = directory.file("log");
  Random random(3, 0);
  for (int kills = 0; kills < 20; ++kills) {
    pid_t child = start_tuning(path, log, static_cast<uint64_t>(100 * kills));
    ASSERT_GT(child, 0);
    usleep(static_cast<useconds_t>(random.between(1000, 60000)));
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself: " << status;
    TunedStore store(path);
    std::set<std::string> kept;
    for (const NodeUnit& node : units_of(small_graph())) {
      for (const Measurement& m :
           store.measurements({node.unit.key, tuned_target(native_target()), 1})) {
        kept.insert(m.code);
      }
    }
    std::ifstream lines(log);
    for (std::string code; std::getline(lines, code);) {
      ASSERT_TRUE(kept.contains(code)) << code << " was lost";
    }
  }
  EXPECT_GT(content_of(log).size(), 0u);
}

}  // namespace
}  // namespace lathe::test
