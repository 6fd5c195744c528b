// What holds for all metrics: equal scores for equal seeds, whatever the threads and the other
// metrics; scores of batches, and of networks through which nothing goes.
#include "metrics/metric_weights.h"
#include "models/model.h"
#include "support/tiny_network.h"

namespace lathe::test {
namespace {

EvaluationOptions with_more(int threads = 1) {
  EvaluationOptions options;
  options.compile.target = native_target();
  options.threads = threads;
  options.more = [](size_t i) { return TinyBatch(4, i + 1).batch(); };
  return options;
}

TEST(Metrics, AreTheSameEveryTimeWithAnyThreads) {
  Graph graph = TinyNetwork().graph(4);
  Batch batch = TinyBatch(4).batch();
  for (const Metric& metric : parse_metrics("all")) {
    SCOPED_TRACE(metric.name);
    double score = scored(metric.name, graph, batch, with_more()).total;
    EXPECT_EQ(scored(metric.name, graph, batch, with_more()).total, score);
    EXPECT_EQ(scored(metric.name, graph, batch, with_more(2)).total, score);
  }
}

TEST(Metrics, AreTheSameAlongsideOthers) {
  Graph graph = TinyNetwork().graph(4);
  Batch batch = TinyBatch(4).batch();
  Evaluation evaluation(graph, batch, with_more());
  std::vector<Score> scores = evaluation.run(parse_metrics("all"));
  for (size_t i = 0; i < scores.size(); ++i) {
    const Metric metric = parse_metrics("all")[i];
    double alone = scored(metric.name, graph, batch, with_more()).total;
    EXPECT_NEAR(scores[i].total, alone, 1e-4 * std::abs(alone)) << metric.name;
  }
}

TEST(Metrics, OfABatchTwiceOver) {
  TinyBatch once(4), twice(8);
  for (size_t i = 0; i < twice.images.values.size(); ++i) {
    twice.images.values[i] = once.images.values[i % once.images.values.size()];
  }
  for (size_t n = 0; n < 8; ++n) twice.labels[n] = once.labels[n % 4];
  for (const char* metric :
       {"fisher", "snip", "grad_norm", "grasp", "synflow", "zen", "params", "macs"}) {
    double score = scored(metric, TinyNetwork(), once).total;
    EXPECT_NEAR(scored(metric, TinyNetwork(), twice).total, score, 1e-4 * std::abs(score))
        << metric;
  }
}

TEST(Metrics, OfANetworkThroughWhichNothingGoes) {
  const char* cell = "nasbench201:|none~0|+|none~0|none~1|+|none~0|none~1|none~2|";
  constexpr long samples = 64;
  Graph graph = initialised(load_model(cell, {.batch = samples}), 1);
  auto batch = [](size_t seed) {
    Random random(seed, "images");
    std::vector<double> values(samples * 3 * 32 * 32);
    for (double& value : values) value = random.normal();
    return Batch{Array::of_reals(Element::f32, {samples, 3, 32, 32}, values),
                 std::vector<long>(samples, 1)};
  };
  EvaluationOptions options;
  options.compile.target = native_target();
  options.more = batch;
  Evaluation evaluation(graph, batch(0), options);
  std::vector<Score> scores = evaluation.run(parse_metrics("all"));
  for (size_t i = 0; i < scores.size(); ++i) {
    const std::string name = parse_metrics("all")[i].name;
    EXPECT_TRUE(std::isfinite(scores[i].total)) << name;
    // No two images can be told apart, which is far worse than that most can.
    if (name == "jacob_cov" || name == "naswot") {
      EXPECT_LT(scores[i].total, -100) << name;
    }
  }
}

TEST(Metrics, SamplesOfANetworkCanBeChosen) {
  for (const char* name : {"nasbench201:1234", "resnet18-cifar", "densenet121-cifar",
                           "nasbench201:|none~0|+|none~0|none~1|+|none~0|none~1|nor_conv_1x1~2|"}) {
    Graph many = load_model(name, {.batch = 8}), one = load_model(name, {.batch = 1});
    EXPECT_EQ(structural_hash(with_samples(many, 1)), structural_hash(one)) << name;
  }
}

}  // namespace
}  // namespace lathe::test
