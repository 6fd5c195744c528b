// Planned memory: buffers in use at the same time never share a byte, and little is lost.
#include "compile/memory.h"

#include <gtest/gtest.h>

#include "compile/compile.h"
#include "models/model.h"
#include "support/random_case.h"

namespace lathe::test {
namespace {

/// Says what is wrong with a plan; empty if nothing is.
std::string refute(const std::vector<Lifetime>& buffers, const MemoryPlan& plan) {
  if (plan.offsets.size() != buffers.size()) return "a buffer has no place";
  for (size_t i = 0; i < buffers.size(); ++i) {
    long end = plan.offsets[i] + buffers[i].bytes;
    if (plan.offsets[i] < 0 || end > plan.bytes) return fmt::format("{} is outside", i);
    if (plan.offsets[i] % 64 != 0) return fmt::format("{} is not aligned", i);
    for (size_t j = 0; j < i; ++j) {
      bool together = buffers[i].first <= buffers[j].last && buffers[j].first <= buffers[i].last;
      bool apart = end <= plan.offsets[j] || plan.offsets[j] + buffers[j].bytes <= plan.offsets[i];
      if (together && !apart) return fmt::format("{} and {} overlap", i, j);
    }
  }
  return plan.bytes < plan.live ? "it is smaller than what is alive" : "";
}

TEST(Memory, OfNothing) {
  MemoryPlan plan = plan_memory({});
  EXPECT_EQ(plan.bytes, 0);
  EXPECT_EQ(plan.live, 0);
}

TEST(Memory, OneAfterTheOtherShareAPlace) {
  MemoryPlan plan = plan_memory({{1000, 0, 1}, {1000, 2, 3}, {1000, 4, 4}});
  EXPECT_EQ(plan.offsets, (std::vector<long>{0, 0, 0}));
  EXPECT_EQ(plan.bytes, 1024);
  EXPECT_EQ(plan.live, 1024);
}

TEST(Memory, ALastStepIsStillInUse) {
  MemoryPlan plan = plan_memory({{64, 0, 1}, {64, 1, 2}});
  EXPECT_EQ(plan.bytes, 128);
}

TEST(Memory, PingPongNeedsTwoPlaces) {
  std::vector<Lifetime> chain;
  for (size_t i = 0; i < 20; ++i) chain.push_back({640, i, i + 1});
  MemoryPlan plan = plan_memory(chain);
  EXPECT_EQ(refute(chain, plan), "");
  EXPECT_EQ(plan.bytes, 1280);
}

TEST(Memory, RandomBuffersNeverOverlap) {
  for_each_case(500, [](Case& trial) {
    std::vector<Lifetime> buffers;
    for (long n = trial.random.between(0, 40); n > 0; --n) {
      auto first = static_cast<size_t>(trial.random.between(0, 30));
      auto last = first + static_cast<size_t>(trial.random.between(0, 6));
      buffers.push_back({trial.random.between(0, 5000), first, last});
    }
    EXPECT_EQ(refute(buffers, plan_memory(buffers)), "");
  });
}

TEST(Memory, NetworksLoseLittle) {
  for (const char* name : {"resnet18-cifar", "densenet121-cifar", "mobilenet_v2-cifar",
                           "vgg16-cifar", "resnext29_2x64d", "wrn40_2", "nasbench201:6111"}) {
    Compiled compiled = compile(initialised(load_model(name), 1), {.target = native_target()});
    EXPECT_GE(compiled.arena_bytes, compiled.live_bytes) << name;
    EXPECT_LE(static_cast<double>(compiled.arena_bytes),
              1.1 * static_cast<double>(compiled.live_bytes))
        << name;
  }
}

}  // namespace
}  // namespace lathe::test
