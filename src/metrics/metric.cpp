// metric.cpp: programs that metrics share. Interface: metric.h.
#include "metrics/metric.h"

#include <algorithm>
#include <chrono>
#include <fmt/ranges.h>

#include "autodiff/gradient.h"
#include "base/error.h"

namespace lathe {
namespace {

/// Returns the nodes whose outputs are looked at.
std::vector<std::pair<std::string, ValueId>> hooked(const Graph& graph, Hook hook) {
  std::vector<std::pair<std::string, ValueId>> result;
  std::vector<size_t> depth(graph.values.size(), 0);
  for (const Node& node : graph.nodes) {
    size_t deepest = 0;
    for (ValueId id : node.inputs) {
      if (id != no_value) deepest = std::max(deepest, depth[id]);
    }
    for (ValueId id : node.outputs) depth[id] = deepest + 1;
    if (hook == Hook::convolution && node.op == "conv") {
      result.emplace_back(node.name, node.outputs[0]);
    } else if (hook == Hook::normalisation && node.op == "batch_norm") {
      result.emplace_back(node.name, node.outputs[0]);
    } else if (hook == Hook::block && node.op == "add" && node.inputs.size() == 2) {
      ValueId a = node.inputs[0], b = node.inputs[1];
      bool computed = graph.values[a].kind == Value::Kind::computed &&
                      graph.values[b].kind == Value::Kind::computed &&
                      graph.values[a].type == graph.values[b].type;
      if (computed) result.emplace_back(node.name, depth[a] >= depth[b] ? a : b);
    }
  }
  return result;
}

Array one_hot(const std::vector<long>& labels, const Type& type) {
  std::vector<double> values(static_cast<size_t>(count_of(type.shape)), 0);
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= type.shape[1]) {
      fail("sample {} is of class {}, but the network knows {} classes", i, labels[i],
           type.shape[1]);
    }
    values[i * static_cast<size_t>(type.shape[1]) + static_cast<size_t>(labels[i])] = 1;
  }
  return Array::of_reals(type.element, type.shape, values);
}

}  // namespace

std::optional<Hook> hook_named(std::string_view name) {
  if (name == "convolution") return Hook::convolution;
  if (name == "normalisation") return Hook::normalisation;
  if (name == "block") return Hook::block;
  return std::nullopt;
}

Program::Program(const Graph& network, const Batch& batch, Hook hook)
    : batch_(batch), learning_(with_loss(in_training(network))), graph_("") {
  const Graph& graph = learning_.graph;
  std::vector<ValueId> by;
  for (const auto& [layer, value] : hooked(graph, hook)) {
    activations_.push_back({layer, value, no_value});
    by.push_back(value);
  }
  for (ValueId id = 0; id < graph.values.size(); ++id) {
    if (graph.values[id].kind != Value::Kind::weight) continue;
    weights_.push_back({id, no_value});
    by.push_back(id);
  }
  Gradients gradients = with_gradients(graph, learning_.losses, by);
  for (size_t i = 0; i < activations_.size(); ++i) activations_[i].gradient = gradients.by[i];
  for (size_t i = 0; i < weights_.size(); ++i) {
    weights_[i].gradient = gradients.by[activations_.size() + i];
  }
  gradients.graph.outputs.clear();
  graph_ = GraphBuilder(std::move(gradients.graph));
}

size_t Program::want(ValueId value) {
  wanted_.push_back(value);
  return wanted_.size() - 1;
}

void Program::run(const CompileOptions& options, int threads) {
  for (ValueId id : wanted_) graph_.output(id);
  auto start = std::chrono::steady_clock::now();
  Graph graph = graph_.build();
  Compiled compiled = compile(graph, options);
  auto middle = std::chrono::steady_clock::now();
  Runner runner(compiled, threads);
  Array labels = one_hot(batch_.labels, graph_.type(learning_.labels));
  results_ = runner.run({batch_.images, labels});
  auto end = std::chrono::steady_clock::now();
  if (getenv("LATHE_T")) {
    std::vector<std::vector<char>> outs; std::vector<void*> outp;
    for (const auto& f : compiled.outputs) { outs.emplace_back(static_cast<size_t>(count_of(f.type.shape)) * 4 + 64); }
    for (auto& o : outs) outp.push_back(o.data());
    const void* ins[] = {batch_.images.bytes().data(), labels.bytes().data()};
    runner.run(ins, outp.data());
    auto again = std::chrono::steady_clock::now();
    auto ms = [](auto a, auto b) { return std::chrono::duration<double, std::milli>(b - a).count(); };
    fmt::print("compile {} run {} again {} arena {} MiB steps {}\n", ms(start, middle), ms(middle, end), ms(end, again),
               compiled.arena_bytes >> 20, compiled.steps.size());
    std::vector<std::pair<double, std::string>> times;
    for (const CompiledNode& node : compiled.nodes) {
      auto a = std::chrono::steady_clock::now();
      for (size_t i = 0; i < node.steps; ++i) runner.run_step(node.first + i);
      auto b = std::chrono::steady_clock::now();
      times.emplace_back(ms(a, b), fmt::format("{} {} {} {:.1f} GF", node.op, node.name, node.schedule, node.flops / ms(a, b) / 1e6));
    }
    std::sort(times.rbegin(), times.rend());
    for (size_t i = 0; i < times.size() && i < 400; ++i) fmt::print("{:8.2f} {}\n", times[i].first, times[i].second);
  }
}

const Metric& find_metric(const std::string& name) {
  const auto& all = metrics::all();
  auto found = std::find_if(all.begin(), all.end(), [&](const Metric& m) { return m.name == name; });
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  for (const Metric& metric : all) names.push_back(metric.name);
  fail("no metric '{}'; there are {}", name, fmt::join(names, ", "));
}

}  // namespace lathe
