// Zen-score against its definition, on the same draws.
#include "support/tiny_network.h"

namespace lathe::test {
namespace {

constexpr long samples = 16;

TinyNetwork drawn(uint64_t seed) {
  TinyNetwork plain;
  for (auto& [name, values] : plain.weights) {
    bool scale = name.starts_with("bn") && name.ends_with("weight");
    Random random(seed, "zen." + name);
    for (double& value : values) value = scale ? 1 : 0;
    if (name.starts_with("bn") || name.ends_with("bias")) continue;
    for (double& value : values) value = random.normal();
  }
  return plain;
}

double of_one_draw(const TinyNetwork& plain, Random random) {
  Map x{samples, TinyNetwork::channels, TinyNetwork::size};
  for (double& value : x.values) value = random.normal();
  plain.logits(x);
  Map here = plain.features;
  double score = 0;
  for (const auto& variances : plain.variances) {
    double sum = 0;
    for (double variance : variances) sum += variance;
    score += std::log(std::sqrt(sum / static_cast<double>(variances.size())));
  }
  for (double& value : x.values) value += 0.01 * random.normal();
  plain.logits(x);
  size_t count = here.values.size() / samples;
  double mean = 0;
  for (size_t n = 0; n < samples; ++n) {
    double square = 0;
    for (size_t i = n * count; i < (n + 1) * count; ++i) {
      square += std::pow(here.values[i] - plain.features.values[i], 2);
    }
    mean += std::sqrt(square) / samples;
  }
  return score + std::log(mean);
}

TEST(Zen, EqualsItsDefinition) {
  constexpr uint64_t seed = 7;
  TinyNetwork plain = drawn(seed);
  double wanted = 0;
  for (int i = 0; i < 4; ++i) {
    wanted += of_one_draw(plain, Random(seed, fmt::format("zen.{}", i))) / 4;
  }
  EvaluationOptions options;
  options.compile.target = native_target();
  options.seed = seed;
  EXPECT_NEAR(scored("zen", TinyNetwork(), TinyBatch(3), options).total, wanted, 1e-3);
}

TEST(Zen, DependsOnTheSeedOnly) {
  EvaluationOptions options;
  options.compile.target = native_target();
  options.seed = 7;
  double score = scored("zen", TinyNetwork(), TinyBatch(3, 1), options).total;
  EXPECT_EQ(scored("zen", TinyNetwork(), TinyBatch(5, 2), options).total, score);
  options.seed = 8;
  EXPECT_NE(scored("zen", TinyNetwork(), TinyBatch(3, 1), options).total, score);
}

}  // namespace
}  // namespace lathe::test
