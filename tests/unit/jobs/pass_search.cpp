// The passes that a network needs, found by trying.
#include "jobs/pass_search.h"

#include <gtest/gtest.h>

#include "compile/ready.h"
#include "search/journal.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

Graph small_network() {
  return initialised(parse_graph("graph g\n"
                                 "input x: f32[1x4x8x8]\n"
                                 "weight w: f32[4x4x3x3] = normal(0.3)\n"
                                 "weight s: f32[1x4x1x1] = normal(1.0)\n"
                                 "c = conv(x, w, pads=[1, 1, 1, 1]): f32[1x4x8x8]\n"
                                 "m = mul(c, s): f32[1x4x8x8]\n"
                                 "y = relu(m): f32[1x4x8x8]\n"
                                 "output y\n"),
                     1);
}

PassSearchOptions options_in(const TemporaryDirectory& folder) {
  PassSearchOptions options;
  options.network.network = "small";
  options.folder = folder.file("run");
  options.seconds = 4;
  return options;
}

TEST(PassSearch, FindsASequenceThatComputesTheSame) {
  TemporaryDirectory folder;
  Graph graph = small_network();
  PassSearchOptions options = options_in(folder);
  options.objective = PassObjective::memory;
  std::vector<PassRelevance> relevance = relevance_of(graph, {});
  PassSearchResult found = search_passes(graph, relevance, options);
  EXPECT_FALSE(found.stopped);
  EXPECT_GE(found.gain(found.best, options.objective), 1);
  EXPECT_EQ(found.usual.passes, usual_passes());
  EXPECT_GT(found.usual.measures.pass_seconds, 0);
  EXPECT_GT(found.usual.measures.kernel_seconds, 0);
  EXPECT_GE(found.sequences, found.candidates.size());
  EXPECT_LT(found.lean.passes.size(), found.usual.passes.size());
  EXPECT_EQ(written_hash(ready_to_compile(graph, {.workers = 1}, found.lean.passes)),
            found.usual.hash);
  std::set<uint64_t> hashes;
  for (const PassCandidate& each : found.candidates) {
    EXPECT_EQ(each.failure, "") << print_passes(each.passes);
    EXPECT_TRUE(hashes.insert(each.hash).second) << "two candidates are one graph";
    EXPECT_EQ(written_hash(ready_to_compile(graph, {.workers = 1}, each.passes)), each.hash);
  }
}

TEST(PassSearch, GoesOnWhereItWasStopped) {
  TemporaryDirectory folder;
  Graph graph = small_network();
  std::vector<PassRelevance> relevance = relevance_of(graph, {});
  PassSearchOptions options = options_in(folder);
  long told = 0;
  JobListener listener{[&](const JobEvent&) { ++told; }, [&] { return told >= 2; }};
  PassSearchResult stopped = search_passes(graph, relevance, options, listener);
  EXPECT_TRUE(stopped.stopped);
  PassSearchResult found = search_passes(graph, relevance, options);
  ASSERT_GE(found.candidates.size(), stopped.candidates.size());
  for (size_t i = 0; i < stopped.candidates.size(); ++i) {
    EXPECT_EQ(found.candidates[i].hash, stopped.candidates[i].hash);
    EXPECT_EQ(found.candidates[i].measures.seconds, stopped.candidates[i].measures.seconds);
  }
  options.objective = PassObjective::memory;
  expect_failure([&] { search_passes(graph, relevance, options); }, {"objective"});
}

TEST(PassSearch, RefusesWhatIsNotShown) {
  if (PowerMeter().shows_power()) GTEST_SKIP() << "this machine shows its power";
  TemporaryDirectory folder;
  Graph graph = small_network();
  PassSearchOptions options = options_in(folder);
  options.objective = PassObjective::power;
  expect_failure([&] { search_passes(graph, relevance_of(graph, {}), options); },
                 {"does not show its power"});
  expect_failure([] { objective_named("speed"); }, {"there are latency, throughput"});
}

}  // namespace
}  // namespace lathe::test
