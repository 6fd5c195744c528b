// Networks between two networks as a job, on a small network.
#include "jobs/interpolate.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/small_network.h"
#include "support/temporary.h"

namespace lathe::test {
namespace {

struct InterpolateJob {
  TemporaryDirectory directory;
  InterpolateOptions options;

  InterpolateJob() {
    options.score.network.network = directory.file("small.graph", small_network);
    options.score.samples = 4;
    options.first = parse_recipe("group(2)");
    options.second = parse_recipe("group(4)");
    options.between.points = 1;
    options.seconds = 0.05;
  }
};

TEST(InterpolateJob, MeasuresTheEndsAndWhatIsBetween) {
  InterpolateJob job;
  std::vector<WorkDone> told;
  auto networks = interpolate(job.options, {[&](const JobEvent& event) {
                                if (const auto* work = std::get_if<WorkDone>(&event))
                                  told.push_back(*work);
                              }});
  ASSERT_EQ(networks.size(), 3u);  // two ends, and one between
  EXPECT_GT(networks[0].macs, networks[1].macs);
  EXPECT_GT(networks[0].weights, networks[1].weights);
  size_t best = 0;
  for (const InterpolatedNetwork& network : networks) {
    EXPECT_EQ(network.times.failure, "");
    EXPECT_GT(network.speed_up(), 0);
    best += network.is_best ? 1 : 0;
    if (network.between.way == Between::Way::end) continue;
    EXPECT_LT(network.macs, networks[0].macs);
    EXPECT_GT(network.macs, networks[1].macs);
  }
  EXPECT_GT(best, 0u);
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back().all, 3u);
  EXPECT_EQ(told.back().done, 3u);
}

TEST(InterpolateJob, EndsWithWhatItHasWhenItIsStopped) {
  InterpolateJob job;
  size_t told = 0;
  auto networks =
      interpolate(job.options, {[&](const JobEvent&) { ++told; }, [&] { return told > 1; }});
  EXPECT_EQ(networks.size(), 1u);
}

TEST(InterpolateJob, SaysThatNoLayerFits) {
  InterpolateJob job;
  job.options.between.layers = "none.*";
  EXPECT_THROW(interpolate(job.options), UserError);
}

}  // namespace
}  // namespace lathe::test
