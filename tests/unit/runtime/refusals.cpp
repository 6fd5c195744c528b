// What the runtime refuses: networks that are damaged or for other machines, missing inputs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/target.h"
#include "support/runtime_network.h"

namespace lathe::test {
namespace {

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
  EXPECT_EQ(refusal(&chain.network, 1), fmt::format("compiled for {}, but this is {}", other, own));
  chain.network.target = "pdp-11";
  EXPECT_TRUE(contains(refusal(&chain.network, 1), "\"pdp-11\""));
}

/// The processor has an extra, or the network is refused, and the message names what is missing.
TEST(Runtime, Extras) {
  Chain chain;
  Target here = native_target();
  for (Extra extra : possible_extras(here)) {
    std::string target = full_name(here, {extra});
    chain.network.target = target.c_str();
    if (here.has(extra)) {
      create(&chain.network, 1);
      continue;
    }
    EXPECT_TRUE(contains(
        refusal(&chain.network, 1),
        fmt::format("compiled for {}, but this processor lacks {}: ", target, name_of(extra))));
  }
  std::string all = full_name(here);
  chain.network.target = all.c_str();
  create(&chain.network, 1);
}

TEST(Runtime, UnknownExtras) {
  Chain chain;
  std::string base = native_target().name;
  for (const char* extra : {"+mmx", "+", "+f", "+f161", "++f16"}) {
    std::string target = base + extra;
    chain.network.target = target.c_str();
    EXPECT_EQ(refusal(&chain.network, 1),
              fmt::format("compiled for \"{}\", which this runtime does not know", target));
  }
#if defined(__aarch64__)
  chain.network.target = "x86-64-v4+f16+dot+bf16";
  EXPECT_EQ(refusal(&chain.network, 1), "compiled for x86-64-v4+f16+dot+bf16, but this is aarch64");
#else
  chain.network.target = "aarch64+f16";
  EXPECT_EQ(refusal(&chain.network, 1), "compiled for aarch64+f16, but this is x86-64");
#endif
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

}  // namespace
}  // namespace lathe::test
