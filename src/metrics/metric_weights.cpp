// metric_weights.cpp: weights and their gradients, for metrics. Interface: metric_weights.h.
//
// Sums over weights are made here and not by nodes of the probe: a gradient is small beside the
// activations that it was computed from, and each kernel less need not be compiled.
#include "metrics/metric_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace lathe {
namespace {

/// Gives a node the number of samples where an attribute states it.
void set_samples(Node& node, long from, long to) {
  auto shape = node.attributes.find("shape");
  if (shape == node.attributes.end()) return;
  auto* sizes = std::get_if<Shape>(&shape->second);
  if (sizes != nullptr && !sizes->empty() && sizes->front() == from) sizes->front() = to;
}

}  // namespace

std::vector<WeightResult> want_gradients(Probe& probe) {
  std::vector<WeightResult> result;
  for (const Probe::Weight& weight : probe.weights()) {
    if (weight.gradient == no_value) continue;
    const Value& value = probe.graph().value(weight.value);
    result.push_back({weight.layer, value.data.value(), probe.want(weight.gradient)});
  }
  return result;
}

Score score_of(const Probe& probe, const std::vector<WeightResult>& results,
               const WeightScore& score) {
  Score all;
  for (const WeightResult& each : results) {
    all.layers.push_back(
        {each.layer, score(each.weight.reals(), probe.result(each.place).reals())});
    all.total += all.layers.back().score;
  }
  return all;
}

double salience(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] * b[i]);
  return sum;
}

double logarithm(double number) {
  return std::log(std::max(number, std::numeric_limits<double>::min()));
}

Graph with_samples(const Graph& network, long samples) {
  Graph result = network;
  long from = network.values.at(network.inputs.at(0)).type.shape.at(0);
  result.values[result.inputs[0]].type.shape[0] = samples;
  for (Node& node : result.nodes) {
    set_samples(node, from, samples);
    std::vector<Type> types;
    try {
      types = infer(call_of(result, node));
    } catch (const UserError&) {
      return network;
    }
    for (size_t i = 0; i < types.size() && i < node.outputs.size(); ++i) {
      if (node.outputs[i] == no_value) continue;
      // All else must stay: then it does the same to each sample.
      Shape wanted = network.values[node.outputs[i]].type.shape, shape = types[i].shape;
      bool counts = !shape.empty() && shape[0] == samples && wanted.size() == shape.size();
      if (counts) wanted[0] = samples;
      if (shape != wanted) return network;
      result.values[node.outputs[i]].type = types[i];
    }
  }
  return result;
}

}  // namespace lathe
