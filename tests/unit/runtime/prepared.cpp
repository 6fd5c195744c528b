// Steps that run once: what they prepare of the weights is there in every run of their model.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "runtime/runtime.h"

namespace {

constexpr int64_t length = 40;

/// tensors[1][i] += 2 * tensors[0][i]: a second run would show.
void prepare(void* const* tensors, void*, int64_t from, int64_t to) {
  auto* weights = static_cast<const int64_t*>(tensors[0]);
  auto* prepared = static_cast<int64_t*>(tensors[1]);
  for (int64_t i = from; i < to; ++i) prepared[i] += 2 * weights[i];
}

/// tensors[1][i] = sum of tensors[0], plus i: needs all of what the step before wrote.
void prepare_more(void* const* tensors, void*, int64_t from, int64_t to) {
  auto* prepared = static_cast<const int64_t*>(tensors[0]);
  int64_t sum = 0;
  for (int64_t i = 0; i < length; ++i) sum += prepared[i];
  for (int64_t i = from; i < to; ++i) static_cast<int64_t*>(tensors[1])[i] += sum + i;
}

/// tensors[2][i] = tensors[0][i] + tensors[1][i]
void add(void* const* tensors, void*, int64_t from, int64_t to) {
  auto at = [&](int t) { return static_cast<int64_t*>(tensors[t]); };
  for (int64_t i = from; i < to; ++i) at(2)[i] = at(0)[i] + at(1)[i];
}

/// Two steps that prepare, one that runs.
struct Network {
  alignas(64) int64_t weights[length];
  const int64_t shape[1] = {length};
  lathe_face input{"x", "i64", 1, shape, 8 * length}, output{"y", "i64", 1, shape, 8 * length};
  std::vector<lathe_place> places{{LATHE_WEIGHTS, 0, 0},  {LATHE_PREPARED, 0, 0},
                                  {LATHE_PREPARED, 0, 0}, {LATHE_PREPARED, 0, 384},
                                  {LATHE_INPUT, 0, 0},    {LATHE_PREPARED, 0, 384},
                                  {LATHE_OUTPUT, 0, 0}};
  std::vector<lathe_step> steps{
      {prepare, 0, 2, length}, {prepare_more, 2, 2, length}, {add, 4, 3, length}};
  lathe_network network{};

  Network() {
    for (int64_t i = 0; i < length; ++i) weights[i] = i * i;
    network = {.version = LATHE_RUNTIME_VERSION,
               .name = "test",
               .target = "native",
               .steps = int32_t(steps.size()),
               .places = int32_t(places.size()),
               .inputs = 1,
               .outputs = 1,
               .step = steps.data(),
               .place = places.data(),
               .input = &input,
               .output = &output,
               .weights = weights,
               .arena_bytes = 0,
               .scratch_bytes = 0,
               .prepared_bytes = 384 + 8 * length,
               .first_step = 2};
  }

  std::vector<int64_t> expected(int64_t x) const {
    int64_t sum = 0;
    for (int64_t w : weights) sum += 2 * w;
    std::vector<int64_t> y;
    for (int64_t i = 0; i < length; ++i) y.push_back(x + sum + i);
    return y;
  }
};

using Model = std::unique_ptr<lathe_model, void (*)(lathe_model*)>;

Model create(const lathe_network& network, int threads) {
  return {lathe_model_create(&network, threads), lathe_model_destroy};
}

std::vector<int64_t> run(lathe_model* model, int64_t x) {
  std::vector<int64_t> in(length, x), out(length);
  const void* inputs[] = {in.data()};
  void* outputs[] = {out.data()};
  EXPECT_EQ(lathe_model_run(model, inputs, outputs), 0) << lathe_last_error();
  return out;
}

TEST(Prepared, FirstStepsRunOnce) {
  Network network;
  for (int threads : {1, 2, 3}) {
    Model model = create(network.network, threads);
    ASSERT_TRUE(model) << lathe_last_error();
    for (int64_t x = 0; x < 20; ++x) ASSERT_EQ(run(model.get(), x), network.expected(x));
  }
}

TEST(Prepared, WeightsAreReadWhenAModelIsMade) {
  Network network;
  Model model = create(network.network, 2);
  std::vector<int64_t> wanted = network.expected(3);
  for (int64_t& w : network.weights) w = 7;
  EXPECT_EQ(run(model.get(), 3), wanted);
  EXPECT_EQ(run(create(network.network, 2).get(), 3), network.expected(3));
}

TEST(Prepared, EveryModelHasItsOwn) {
  Network network;
  Model first = create(network.network, 1), second = create(network.network, 2);
  EXPECT_EQ(run(first.get(), 1), network.expected(1));
  EXPECT_EQ(run(second.get(), 2), network.expected(2));
  first.reset();
  EXPECT_EQ(run(second.get(), 4), network.expected(4));
}

TEST(Prepared, ModelsAreMadeAtOnce) {
  Network network;
  std::vector<std::thread> makers;
  std::vector<int> wrong(4, 0);
  for (int maker = 0; maker < 4; ++maker) {
    makers.emplace_back([&, maker] {
      for (int64_t i = 0; i < 25; ++i) {
        Model model = create(network.network, 1 + maker % 2);
        if (run(model.get(), i) != network.expected(i)) ++wrong[size_t(maker)];
      }
    });
  }
  for (std::thread& maker : makers) maker.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(Prepared, DamagedNetworksAreRefused) {
  auto refusal = [](auto damage) {
    Network network;
    damage(network);
    EXPECT_FALSE(create(network.network, 1));
    return std::string(lathe_last_error());
  };
  const std::string sizes = "damaged network: sizes out of range";
  EXPECT_EQ(refusal([](Network& n) { n.network.first_step = -1; }), sizes);
  EXPECT_EQ(refusal([](Network& n) { n.network.first_step = 4; }), sizes);
  EXPECT_EQ(refusal([](Network& n) { n.network.first_step = int64_t(1) << 32; }), sizes);
  EXPECT_EQ(refusal([](Network& n) { n.network.prepared_bytes = -1; }), sizes);
  EXPECT_EQ(refusal([](Network& n) { n.network.prepared_bytes = 300; }),
            "damaged network: place 3");
  EXPECT_EQ(refusal([](Network& n) { n.places[1].offset = -8; }), "damaged network: place 1");
  EXPECT_EQ(refusal([](Network& n) { n.places[0].where = 5; }), "damaged network: place 0");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  std::string text = refusal(
      [](Network& n) { n.network.prepared_bytes = std::numeric_limits<int64_t>::max() / 2; });
  EXPECT_EQ(text.find("no memory for prepared weights"), 0u) << text;
#endif
}

TEST(Prepared, FirstStepsThatNeedARunAreRefused) {
  Network network;
  network.places[0] = {LATHE_INPUT, 0, 0};
  EXPECT_FALSE(create(network.network, 1));
  EXPECT_EQ(lathe_last_error(), std::string("damaged network: step 0"));
}

}  // namespace
