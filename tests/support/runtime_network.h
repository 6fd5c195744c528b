// Networks that tests of the runtime put together, and kernels that tell what they were called
// with.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "runtime/runtime.h"

namespace lathe::test {

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

inline Model create(const lathe_network* network, int threads) {
  Model model(lathe_model_create(network, threads), lathe_model_destroy);
  EXPECT_TRUE(model) << lathe_last_error();
  return model;
}

inline std::string refusal(const lathe_network* network, int threads) {
  Model model(lathe_model_create(network, threads), lathe_model_destroy);
  EXPECT_FALSE(model);
  return lathe_last_error();
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline lathe_place arena(int64_t offset) { return {LATHE_ARENA, 0, offset}; }
inline lathe_place weights(int64_t offset) { return {LATHE_WEIGHTS, 0, offset}; }
inline lathe_place input(int32_t index, int64_t offset = 0) { return {LATHE_INPUT, index, offset}; }
inline lathe_place output(int32_t index, int64_t offset = 0) {
  return {LATHE_OUTPUT, index, offset};
}

inline const int64_t vector_shape[] = {64};
inline lathe_face face(const char* name, int64_t bytes) {
  return {name, "i64", 1, vector_shape, bytes};
}

/// What the kernel below was called with.
struct Calls {
  std::atomic<int> calls{0};
  std::atomic<int> empty{0};
  std::atomic<int64_t> least{std::numeric_limits<int64_t>::max()}, most{0};
  std::vector<std::atomic<int>> seen = std::vector<std::atomic<int>>(2000);
  std::thread::id last;
};

/// tensors[0] is a Calls.
inline void record(void* const* tensors, void*, int64_t from, int64_t to) {
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

/// tensors[1][i] = sum of tensors[0], plus i: needs all of what the step before wrote.
inline void sum_all(void* const* tensors, void*, int64_t from, int64_t to) {
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

inline std::vector<int64_t> numbers(int64_t seed) {
  std::vector<int64_t> x(64);
  for (size_t i = 0; i < x.size(); ++i) x[i] = seed * 64 + int64_t(i);
  return x;
}

inline std::vector<int64_t> run_once(lathe_model* model, const std::vector<int64_t>& x) {
  std::vector<int64_t> y(64);
  const void* inputs[] = {x.data()};
  void* outputs[] = {y.data()};
  EXPECT_EQ(lathe_model_run(model, inputs, outputs), 0) << lathe_last_error();
  return y;
}

}  // namespace lathe::test
