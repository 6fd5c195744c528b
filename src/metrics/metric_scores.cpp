// metric_scores.cpp: scores for several seeds. Interface: metric_scores.h.
#include "metrics/metric_scores.h"

#include <algorithm>

#include "base/error.h"
#include "base/random.h"
#include "compile/units.h"
#include "metrics/metric_form.h"

namespace lathe {
namespace {

/// Work is split as if for so many workers: schedules, and so the rounding of sums, do not depend
/// on how many there are.
constexpr long usual_workers = 8;

}  // namespace

std::vector<double> Scores::totals() const {
  std::vector<double> result;
  for (const Score& score : of_seeds) result.push_back(score.total);
  return result;
}

Scorer::Scorer(Dataset data, ScorerOptions options)
    : data_(std::move(data)), options_(std::move(options)) {
  if (options_.samples > data_.count) {
    fail("a minibatch of {} samples is larger than '{}', which has {}", options_.samples,
         data_.name, data_.count);
  }
  if (options_.samples < 2) fail("a minibatch needs at least 2 samples, not {}", options_.samples);
  compile_.made = std::make_shared<MadeUnits>();
  compile_.target = options_.target;
  compile_.target.workers = usual_workers;
  compile_.memory = options_.memory;
  compile_.max_error = options_.max_error;
}

Batch Scorer::batch(const Graph& network, uint64_t seed) const {
  Batch batch = batch_of(data_for(network), seed);
  if (!has_labels()) batch.gradient = drawn_gradient(network, seed);
  return batch;
}

Dataset Scorer::data_for(const Graph& network) const {
  return data_.fitted(has_labels() ? form_of(network)
                                   : SampleForm{inputs_of(network), data_.classes});
}

Array Scorer::drawn_gradient(const Graph& network, uint64_t seed) const {
  check(network.outputs.size() == options_.outputs.size(), "each output counts in some way");
  Random random(seed, "outputs");
  std::vector<long> elements;
  long all = 0;
  for (ValueId id : network.outputs) {
    elements.push_back(count_of(network.values[id].type.shape) / options_.samples);
    all += elements.back();
  }
  std::vector<float> values;
  for (long sample = 0; sample < options_.samples; ++sample) {
    for (size_t o = 0; o < elements.size(); ++o) {
      for (long i = 0; i < elements[o]; ++i) {
        values.push_back(static_cast<float>(options_.outputs[o] * random.normal()));
      }
    }
  }
  return Array::of<float>({options_.samples, all}, values);
}

Batch Scorer::batch_of(const Dataset& data, uint64_t seed) const {
  // Minibatches follow each other, from the beginning again where the data end.
  auto places = static_cast<uint64_t>(data.count / options_.samples);
  auto first = static_cast<long>(seed % places) * options_.samples;
  Batch batch{data.images(first, options_.samples), {}, {}, {}};
  for (const Dataset& other : data.others) {
    batch.others.push_back(other.images(first, options_.samples));
  }
  if (!has_labels()) return batch;
  batch.labels = data.labels(first, options_.samples);
  bool mixed = std::any_of(batch.labels.begin(), batch.labels.end(),
                           [&](long label) { return label != batch.labels[0]; });
  if (!mixed) {
    fail(
        "samples {} to {} of '{}' are all of class {}: a loss says nothing about one class alone; "
        "use data that are mixed, or a larger minibatch",
        first, first + options_.samples - 1, data.name, batch.labels[0]);
  }
  return batch;
}

EvaluationOptions Scorer::evaluation(const Graph& network, uint64_t seed) const {
  EvaluationOptions result;
  result.hook = options_.hook;
  result.kind.element = options_.element;
  if (!has_labels()) result.kind.loss = ProbeKind::Loss::given;
  result.threads = options_.threads;
  result.compile = compile_;
  result.seed = seed;
  result.more = [this, seed, data = data_for(network)](size_t i) {
    return batch_of(data, seed + i);
  };
  return result;
}

std::vector<Scores> Scorer::run(const Graph& network, const std::vector<Metric>& metrics) const {
  std::vector<Scores> result;
  for (const Metric& metric : metrics) result.push_back({metric.name, {}});
  auto runners = std::make_shared<Runners>(compile_, options_.threads);
  for (size_t i = 0; i < options_.seeds; ++i) {
    if (options_.progress) options_.progress(i, options_.seeds);
    uint64_t seed = options_.first_seed + i;
    EvaluationOptions how = this->evaluation(network, seed);
    how.runners = runners;
    Graph drawn = initialised(network, seed);
    if (!has_labels()) drawn = with_joined_outputs(drawn);
    Evaluation evaluation(drawn, batch(network, seed), std::move(how));
    std::vector<Score> scores = evaluation.run(metrics);
    for (size_t m = 0; m < metrics.size(); ++m) result[m].of_seeds.push_back(std::move(scores[m]));
  }
  return result;
}

Graph untrained(Graph network) {
  using Kind = Initial::Kind;
  auto begin = [&](const Node& node, size_t operand, Initial initial) {
    if (operand >= node.inputs.size() || node.inputs[operand] == no_value) return;
    Value& value = network.values[node.inputs[operand]];
    bool given = value.kind == Value::Kind::weight || value.kind == Value::Kind::state;
    if (!given || !value.data) return;
    value.data.reset();
    value.initial = initial;
  };
  for (const Node& node : network.nodes) {
    if (node.op == "batch_norm") {
      begin(node, 1, {Kind::ones});
      begin(node, 2, {Kind::zeros});
      begin(node, 3, {Kind::zeros});
      begin(node, 4, {Kind::ones});
    } else if (node.op == "conv" || node.op == "fully_connected") {
      long groups = node.op == "conv" ? call_of(network, node).integer("groups") : 1;
      begin(node, 1, he_fan_out(network.values[node.inputs[1]].type.shape, groups));
      begin(node, 2, {Kind::zeros});
    }
  }
  return network;
}

}  // namespace lathe
