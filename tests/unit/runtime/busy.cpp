// Workers beside other programs: what they do is right, and nobody waits for one that does not run.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <chrono>
#include <csignal>
#include <ctime>

#include "support/runtime_network.h"

namespace lathe::test {
namespace {

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

}  // namespace
}  // namespace lathe::test
