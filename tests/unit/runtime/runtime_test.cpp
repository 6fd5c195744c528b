// The runtime of compiled networks: how workers share steps, where tensors are, what is refused.
#include "runtime/runtime.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "runtime/api.h"

namespace {

/// A network that a test puts together; models point into it.
struct Network {
  lathe_network network{};
  std::vector<lathe_step> steps;
  std::vector<lathe_place> places;
  std::vector<lathe_face> inputs, outputs;

  void add(lathe_kernel kernel, const std::vector<lathe_place>& tensors, int64_t count) {
    steps.push_back({kernel, int32_t(places.size()), int32_t(tensors.size()), count});
    places.insert(places.end(), tensors.begin(), tensors.end());
  }

  const lathe_network* finish(const void* weights = nullptr) {
    network.version = LATHE_RUNTIME_VERSION;
    network.name = "test";
    if (!network.target) network.target = "native";
    network.steps = int32_t(steps.size());
    network.places = int32_t(places.size());
    network.inputs = int32_t(inputs.size());
    network.outputs = int32_t(outputs.size());
    network.step = steps.data();
    network.place = places.data();
    network.input = inputs.data();
    network.output = outputs.data();
    network.weights = weights;
    return &network;
  }
};

using Model = std::unique_ptr<lathe_model, void (*)(lathe_model*)>;

Model create(const lathe_network* network, int threads) {
  Model model(lathe_model_create(network, threads), lathe_model_destroy);
  EXPECT_TRUE(model) << lathe_last_error();
  return model;
}

std::string refusal(const lathe_network* network, int threads) {
  Model model(lathe_model_create(network, threads), lathe_model_destroy);
  EXPECT_FALSE(model);
  return lathe_last_error();
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

lathe_place arena(int64_t offset) { return {LATHE_ARENA, 0, offset}; }
lathe_place weights(int64_t offset) { return {LATHE_WEIGHTS, 0, offset}; }
lathe_place input(int32_t index, int64_t offset = 0) { return {LATHE_INPUT, index, offset}; }
lathe_place output(int32_t index, int64_t offset = 0) { return {LATHE_OUTPUT, index, offset}; }

const int64_t vector_shape[] = {64};
lathe_face face(const char* name, int64_t bytes) { return {name, "i64", 1, vector_shape, bytes}; }

/// What the kernel below was called with.
struct Calls {
  std::atomic<int> calls{0};
  std::atomic<int> empty{0};
  std::atomic<int64_t> least{std::numeric_limits<int64_t>::max()}, most{0};
  std::vector<std::atomic<int>> seen = std::vector<std::atomic<int>>(2000);
  std::thread::id last;
};

/// tensors[0] is a Calls.
void record(void* const* tensors, void*, int64_t from, int64_t to) {
  auto& calls = *static_cast<Calls*>(tensors[0]);
  ++calls.calls;
  if (from >= to) ++calls.empty;
  int64_t size = to - from, old = calls.least;
  while (size < old && !calls.least.compare_exchange_weak(old, size)) {
  }
  old = calls.most;
  while (size > old && !calls.most.compare_exchange_weak(old, size)) {
  }
  for (int64_t i = from; i < to; ++i) ++calls.seen[size_t(i)];
}

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

/// tensors[1][i] = sum of tensors[0], plus i: needs all of what the step before wrote.
void sum_all(void* const* tensors, void*, int64_t from, int64_t to) {
  auto* x = static_cast<const int64_t*>(tensors[0]);
  auto* y = static_cast<int64_t*>(tensors[1]);
  int64_t sum = 0;
  for (int i = 0; i < 64; ++i) sum += x[i];
  for (int64_t i = from; i < to; ++i) y[i] = sum % 1000003 + i;
}

/// 50 steps of 1 to 64 iterations, from the input through two buffers to the output.
struct Chain : Network {
  static constexpr int length = 50;
  Chain() {
    network.arena_bytes = 2 * 64 * 8;
    inputs = {face("x", 64 * 8)};
    outputs = {face("y", 64 * 8)};
    for (int i = 0; i < length; ++i) {
      lathe_place from = i == 0 ? input(0) : arena(i % 2 * 64 * 8);
      lathe_place to = i + 1 == length ? output(0) : arena((i + 1) % 2 * 64 * 8);
      add(sum_all, {from, to}, count(i));
    }
    finish();
  }
  static int64_t count(int step) {
    return step + 1 == length ? 64 : std::vector<int64_t>{64, 1, 2, 3, 64, 5, 1, 1}[step % 8];
  }
  /// The same in one thread; "buffers" is the arena.
  static std::vector<int64_t> expected(std::vector<int64_t> x, std::vector<int64_t>& buffers) {
    std::vector<int64_t> y(64);
    for (int i = 0; i < length; ++i) {
      void* tensors[] = {i == 0 ? x.data() : &buffers[size_t(i % 2 * 64)],
                         i + 1 == length ? y.data() : &buffers[size_t((i + 1) % 2 * 64)]};
      sum_all(tensors, nullptr, 0, count(i));
    }
    return y;
  }
};

std::vector<int64_t> numbers(int64_t seed) {
  std::vector<int64_t> x(64);
  for (size_t i = 0; i < x.size(); ++i) x[i] = seed * 64 + int64_t(i);
  return x;
}

std::vector<int64_t> run_once(lathe_model* model, const std::vector<int64_t>& x) {
  std::vector<int64_t> y(64);
  const void* inputs[] = {x.data()};
  void* outputs[] = {y.data()};
  EXPECT_EQ(lathe_model_run(model, inputs, outputs), 0) << lathe_last_error();
  return y;
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

/// Keeps all processors busy while it lives.
class OtherPrograms {
 public:
  OtherPrograms() {
    for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i)
      threads_.emplace_back([this] {
        while (!over_) {
        }
      });
  }
  ~OtherPrograms() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  OtherPrograms(const OtherPrograms&) = delete;
  OtherPrograms& operator=(const OtherPrograms&) = delete;

 private:
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
};

TEST(Runtime, BusyProcessors) {
  OtherPrograms others;
  Chain chain;
  for (int threads : {2, 3, 8}) {
    Model model = create(&chain.network, threads);
    std::vector<int64_t> buffers(2 * 64);
    for (int i = 0; i < 50; ++i)
      ASSERT_EQ(run_once(model.get(), numbers(i)), Chain::expected(numbers(i), buffers));
  }
}

TEST(Runtime, EveryIterationOnceOnBusyProcessors) {
  OtherPrograms others;
  for (int threads : {2, 8}) {
    Calls calls;
    Network network;
    network.inputs = {face("calls", sizeof calls)};
    for (int i = 0; i < 50; ++i) network.add(record, {input(0)}, 40);
    Model model = create(network.finish(), threads);
    const void* inputs[] = {&calls};
    for (int run = 0; run < 100; ++run) ASSERT_EQ(lathe_model_run(model.get(), inputs, nullptr), 0);
    EXPECT_EQ(calls.calls, 100 * 50 * threads);
    for (size_t i = 0; i < 40; ++i) ASSERT_EQ(calls.seen[i], 100 * 50);
  }
}

TEST(Runtime, ManyModelsOnBusyProcessors) {
  OtherPrograms others;
  Chain chain;
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&] {
      Model model = create(&chain.network, 2);
      std::vector<int64_t> buffers(2 * 64);
      for (int i = 0; i < 20; ++i)
        if (run_once(model.get(), numbers(i)) != Chain::expected(numbers(i), buffers)) ++wrong;
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

/// tensors[0] is the pthread_t of the thread that did the second of two parts. The first takes a
/// while, so that a worker has time to begin.
void note_worker(void* const* tensors, void*, int64_t from, int64_t) {
  if (from == 1)
    *static_cast<pthread_t*>(tensors[0]) = pthread_self();
  else
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

std::atomic<bool> held{false}, released{false};

void hold(int) {
  held = true;
  while (!released) {
    timespec pause{0, 1000000};
    nanosleep(&pause, nullptr);
  }
}

TEST(Runtime, NobodyWaitsForAWorkerThatHasNotBegun) {
  held = released = false;
  struct sigaction action = {}, before = {};
  action.sa_handler = hold;
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  Network network;
  network.outputs = {face("thread", sizeof(pthread_t))};
  network.add(note_worker, {output(0)}, 2);
  Model model = create(network.finish(), 2);
  pthread_t last = pthread_self(), worker = last;
  void* outputs[] = {&last};
  // The worker may be late even now, but not every time.
  while (pthread_equal(worker, pthread_self())) {
    ASSERT_EQ(lathe_model_run(model.get(), nullptr, outputs), 0);
    worker = last;
  }
  ASSERT_EQ(pthread_kill(worker, SIGUSR1), 0);
  while (!held) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (int i = 0; i < 100; ++i) {
    last = worker;
    ASSERT_EQ(lathe_model_run(model.get(), nullptr, outputs), 0);
    EXPECT_TRUE(pthread_equal(last, pthread_self()));
  }
  released = true;
  // The worker goes on where it was.
  for (last = pthread_self(); !pthread_equal(last, worker);)
    ASSERT_EQ(lathe_model_run(model.get(), nullptr, outputs), 0);
  ASSERT_EQ(sigaction(SIGUSR1, &before, nullptr), 0);
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

TEST(Runtime, Refusals) {
  Chain chain;
  EXPECT_TRUE(contains(refusal(&chain.network, -1), "-1 threads: must be 0 to 256"));
  EXPECT_TRUE(contains(refusal(&chain.network, 257), "257 threads"));
  EXPECT_EQ(refusal(nullptr, 1), "no network");

  Chain older;
  older.network.version = 77;
  std::string text = refusal(&older.network, 1);
  EXPECT_TRUE(contains(text, "version 77"));
  EXPECT_TRUE(contains(text, "version " + std::to_string(LATHE_RUNTIME_VERSION)));

  Chain damaged;
  damaged.places[3].index = -1;
  EXPECT_EQ(refusal(&damaged.network, 1), "damaged network: place 3");
  damaged.places[3].index = 0;
  damaged.steps[2].first = 99;
  EXPECT_EQ(refusal(&damaged.network, 1), "damaged network: step 2");

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  Chain large;
  large.network.arena_bytes = std::numeric_limits<int64_t>::max() / 2;
  EXPECT_TRUE(contains(refusal(&large.network, 1), "no memory for an arena"));
  large.network.arena_bytes = 1024;
  large.network.scratch_bytes = std::numeric_limits<int64_t>::max() / 2;
  EXPECT_TRUE(contains(refusal(&large.network, 2), "bytes of scratch"));
#endif
}

TEST(Runtime, Targets) {
  Chain chain;
#if defined(__aarch64__)
  const char *own = "aarch64", *other = "x86-64-v3";
#else
  const char *own = "x86-64", *other = "aarch64";
#endif
  for (const char* target : {"", "native", own}) {
    chain.network.target = target;
    create(&chain.network, 1);
  }
  chain.network.target = other;
  EXPECT_EQ(refusal(&chain.network, 1),
            std::string("compiled for ") + other + ", but this is " + own);
  chain.network.target = "pdp-11";
  EXPECT_TRUE(contains(refusal(&chain.network, 1), "\"pdp-11\""));
}

TEST(Runtime, MissingInputsAndOutputs) {
  Chain chain;
  Model model = create(&chain.network, 1);
  std::vector<int64_t> x(64), y(64);
  const void* inputs[] = {x.data()};
  void* outputs[] = {y.data()};
  EXPECT_EQ(lathe_model_run(model.get(), nullptr, outputs), -1);
  EXPECT_EQ(lathe_last_error(), std::string("no inputs given"));
  EXPECT_EQ(lathe_model_run(model.get(), inputs, nullptr), -1);
  EXPECT_EQ(lathe_last_error(), std::string("no outputs given"));
  inputs[0] = nullptr;
  EXPECT_EQ(lathe_model_run(model.get(), inputs, outputs), -1);
  EXPECT_EQ(lathe_last_error(), std::string("input 0, \"x\", is null"));
  inputs[0] = x.data();
  outputs[0] = nullptr;
  EXPECT_EQ(lathe_model_run(model.get(), inputs, outputs), -1);
  EXPECT_EQ(lathe_last_error(), std::string("output 0, \"y\", is null"));
  std::thread([] {
    EXPECT_EQ(lathe_last_error(), std::string()) << "errors are per thread";
  }).join();
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
