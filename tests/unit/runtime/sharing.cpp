// The runtime of compiled networks: how workers share steps, where tensors are, faces of a library.
#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <ctime>

#include "runtime/api.h"
#include "support/runtime_network.h"

namespace lathe::test {
namespace {

TEST(Runtime, EveryIterationOnce) {
  for (int threads : {1, 2, 3, 4, 7, 16}) {
    for (int64_t count : {0, 1, 2, 3, 4, 5, 6, 7, 8, 13, 15, 16, 17, 31, 100, 1999}) {
      Calls calls;
      Network network;
      network.inputs = {face("calls", sizeof calls)};
      network.add(record, {input(0)}, count);
      Model model = create(network.finish(), threads);
      const void* inputs[] = {&calls};
      ASSERT_EQ(lathe_model_run(model.get(), inputs, nullptr), 0);
      for (int64_t i = 0; i < 2000; ++i) ASSERT_EQ(calls.seen[size_t(i)], i < count);
      EXPECT_EQ(calls.calls, std::min<int64_t>(count, threads));
      EXPECT_EQ(calls.empty, 0);
      if (count) {
        EXPECT_LE(calls.most - calls.least, 1) << count << " over " << threads;
      }
    }
  }
}

TEST(Runtime, StepsFollowEachOther) {
  Chain chain;
  for (int threads : {1, 2, 3, 4, 9}) {
    Model model = create(&chain.network, threads);
    EXPECT_EQ(lathe_model_threads(model.get()), threads);
    std::vector<int64_t> buffers(2 * 64);
    int runs = threads <= 2 ? 500 : 50;
    for (int i = 0; i < runs; ++i)
      ASSERT_EQ(run_once(model.get(), numbers(i)), Chain::expected(numbers(i), buffers));
  }
}

TEST(Runtime, RunsAfterPauses) {
  Chain chain;
  Model model = create(&chain.network, 3);
  std::vector<int64_t> buffers(2 * 64);
  for (int i = 0; i < 60; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(i * 20));
    ASSERT_EQ(run_once(model.get(), numbers(i)), Chain::expected(numbers(i), buffers));
  }
}

/// tensors[3][i] = 1000 tensors[0][i] + 100 tensors[1][i] + tensors[2][i]
void combine(void* const* tensors, void*, int64_t from, int64_t to) {
  auto at = [&](int t) { return static_cast<int64_t*>(tensors[t]); };
  for (int64_t i = from; i < to; ++i) at(3)[i] = 1000 * at(0)[i] + 100 * at(1)[i] + at(2)[i];
}

TEST(Runtime, PlacesOfTensors) {
  alignas(64) const int64_t constants[] = {0, 0, 7, 8};
  Network network;
  network.network.arena_bytes = 100;
  network.inputs = {face("a", 32), face("b", 32)};
  network.outputs = {face("c", 32), face("d", 16)};
  network.add(combine, {input(0), input(1, 8), weights(16), output(0, 16)}, 2);
  network.add(combine, {input(1), arena(80), weights(16), output(1)}, 2);
  Model model = create(network.finish(constants), 2);
  for (int64_t run = 0; run < 3; ++run) {
    std::vector<int64_t> a{1 + run, 2, 3, 4}, b{0, 5 + run, 6, 7}, c(4), d(2);
    const void* inputs[] = {a.data(), b.data()};
    void* outputs[] = {c.data(), d.data()};
    ASSERT_EQ(lathe_model_run(model.get(), inputs, outputs), 0);
    EXPECT_EQ(c, (std::vector<int64_t>{0, 0, 1000 * (1 + run) + 100 * (5 + run) + 7, 2608}));
    EXPECT_EQ(d, (std::vector<int64_t>{7, 1000 * (5 + run) + 8})) << "the arena starts as zeros";
  }
}

/// tensors[0][i] = address of the scratch; fills the scratch, waits, checks that nobody else did.
void use_scratch(void* const* tensors, void* scratch, int64_t from, int64_t to) {
  auto* bytes = static_cast<unsigned char*>(scratch);
  for (int64_t i = from; i < to; ++i) {
    for (int k = 0; k < 100; ++k) bytes[k] = static_cast<unsigned char>(i);
    sched_yield();
    bool same = true;
    for (int k = 0; k < 100; ++k) same = same && bytes[k] == static_cast<unsigned char>(i);
    static_cast<int64_t*>(tensors[0])[i] = same ? reinterpret_cast<intptr_t>(scratch) : 0;
  }
}

TEST(Runtime, ScratchOfEachWorker) {
  Network network;
  network.network.scratch_bytes = 100;
  network.outputs = {face("addresses", 64 * 8)};
  network.add(use_scratch, {output(0)}, 64);
  Model model = create(network.finish(), 4);
  std::vector<int64_t> addresses(64);
  void* outputs[] = {addresses.data()};
  ASSERT_EQ(lathe_model_run(model.get(), nullptr, outputs), 0);
  for (size_t i = 0; i < 64; ++i) {
    ASSERT_NE(addresses[i], 0);
    EXPECT_EQ(addresses[i] % 64, 0);
    EXPECT_EQ(addresses[i], addresses[i / 16 * 16]) << "one worker does a part";
    for (size_t k = 0; k < i; ++k) {
      int64_t apart = std::abs(addresses[k] - addresses[i]);
      EXPECT_TRUE(apart == 0 || apart >= 128) << apart;
    }
  }
}

void note_thread(void* const* tensors, void*, int64_t, int64_t) {
  static_cast<Calls*>(tensors[0])->last = std::this_thread::get_id();
}

TEST(Runtime, OneIterationRunsInTheCaller) {
  Calls calls;
  Network network;
  network.inputs = {face("calls", sizeof calls)};
  network.add(note_thread, {input(0)}, 1);
  Model model = create(network.finish(), 4);
  const void* inputs[] = {&calls};
  for (int i = 0; i < 100; ++i) {
    calls.last = {};
    ASSERT_EQ(lathe_model_run(model.get(), inputs, nullptr), 0);
    EXPECT_EQ(calls.last, std::this_thread::get_id());
  }
}

TEST(Runtime, ManyCallersOfOneModel) {
  Chain chain;
  // With whole steps, what the chain computes does not depend on earlier runs.
  for (lathe_step& step : chain.steps) step.count = 64;
  Model model = create(&chain.network, 2);
  std::vector<std::vector<int64_t>> expected;
  for (int i = 0; i < 4; ++i) expected.push_back(run_once(model.get(), numbers(i)));
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (size_t caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&, caller] {
      for (int i = 0; i < 50; ++i)
        if (run_once(model.get(), numbers(int64_t(caller))) != expected[caller]) ++wrong;
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Runtime, ManyModels) {
  Chain chain;
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&, caller] {
      Model model = create(&chain.network, caller + 1);
      std::vector<int64_t> buffers(2 * 64);
      for (int i = 0; i < 50; ++i)
        if (run_once(model.get(), numbers(i)) != Chain::expected(numbers(i), buffers)) ++wrong;
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Runtime, MadeAndDestroyedOften) {
  Chain chain;
  std::vector<int64_t> zeros(2 * 64), expected = Chain::expected(numbers(3), zeros);
  for (int i = 0; i < 1000; ++i) {
    Model model = create(&chain.network, 1 + i % 4);
    if (i % 10 == 0) {
      ASSERT_EQ(run_once(model.get(), numbers(3)), expected);
    }
  }
}

TEST(Runtime, MoreThreadsThanProcessors) {
  Chain chain;
  Model model = create(&chain.network, 4 * int(std::thread::hardware_concurrency()) + 1);
  std::vector<int64_t> buffers(2 * 64);
  for (int i = 0; i < 20; ++i)
    ASSERT_EQ(run_once(model.get(), numbers(i)), Chain::expected(numbers(i), buffers));
}

TEST(Runtime, ThreadsByDefault) {
  Chain chain;
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  Model model = create(&chain.network, 0);
  EXPECT_EQ(lathe_model_threads(model.get()), std::min(CPU_COUNT(&set), 256));
}

TEST(Runtime, IdleWorkersSleep) {
  Chain chain;
  Model model = create(&chain.network, 4);
  run_once(model.get(), numbers(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::clock_t start = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_LT(seconds, 0.05);
}

TEST(Runtime, StepsAlone) {
  Chain chain;
  Model model = create(&chain.network, 2);
  EXPECT_EQ(lathe_model_run_step(model.get(), 0), -1);
  EXPECT_EQ(lathe_last_error(), std::string("step 0: no run has set the inputs and outputs yet"));
  std::vector<int64_t> x = numbers(1), y(64);
  const void* inputs[] = {x.data()};
  void* outputs[] = {y.data()};
  ASSERT_EQ(lathe_model_run(model.get(), inputs, outputs), 0);
  std::vector<int64_t> expected = y;
  y.assign(64, 0);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(lathe_model_run_step(model.get(), Chain::length - 1), 0);
  EXPECT_EQ(y, expected);
  EXPECT_EQ(lathe_model_run_step(model.get(), Chain::length), -1);
  EXPECT_EQ(lathe_last_error(), std::string("step 50: the network has 50"));
  EXPECT_EQ(lathe_model_run_step(model.get(), -1), -1);
}

TEST(Runtime, NothingToDo) {
  Network network;
  Model model = create(network.finish(), 2);
  EXPECT_EQ(lathe_model_run(model.get(), nullptr, nullptr), 0);
  lathe_model_destroy(nullptr);
}

TEST(Runtime, FacesOfALibrary) {
  Chain chain;
  const lathe_network* network = &chain.network;
  EXPECT_EQ(lathe_api_input_count(network), 1);
  EXPECT_EQ(lathe_api_input_name(network, 0), std::string("x"));
  EXPECT_EQ(lathe_api_input_element(network, 0), std::string("i64"));
  EXPECT_EQ(lathe_api_input_rank(network, 0), 1);
  EXPECT_EQ(lathe_api_input_shape(network, 0)[0], 64);
  EXPECT_EQ(lathe_api_input_bytes(network, 0), 512);
  EXPECT_EQ(lathe_api_output_count(network), 1);
  EXPECT_EQ(lathe_api_output_name(network, 0), std::string("y"));
  EXPECT_EQ(lathe_api_output_bytes(network, 1), -1);
  EXPECT_EQ(lathe_api_error(network), std::string("output 1: the network has 1"));
  EXPECT_EQ(lathe_api_input_shape(network, -1), nullptr);
  lathe_model* model = lathe_api_create(network, 2);
  EXPECT_EQ(lathe_api_threads(network, model), 2);
  std::vector<int64_t> x = numbers(1), y(64), zeros(2 * 64);
  const void* inputs[] = {x.data()};
  void* outputs[] = {y.data()};
  EXPECT_EQ(lathe_api_run(network, model, inputs, outputs), 0);
  EXPECT_EQ(y, Chain::expected(x, zeros));
  lathe_api_destroy(network, model);
}

}  // namespace
}  // namespace lathe::test
