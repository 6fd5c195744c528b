// bench.cpp: how fast a network runs here. Interface: bench.h.
#include "jobs/bench.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <nlohmann/json.hpp>

#include "base/statistics.h"
#include "jobs/compile.h"
#include "program/random_inputs.h"
#include "search/measure.h"
#include "transforms/transform.h"

namespace lathe {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The inputs of a network, drawn at random, and room for its outputs.
struct Buffers {
  std::vector<Array> inputs;
  std::vector<std::vector<std::byte>> outputs;
  std::vector<const void*> from;
  std::vector<void*> to;

  Buffers(const Graph& graph, const Compiled& compiled) : inputs(random_inputs(graph, 1)) {
    for (const Array& input : inputs) from.push_back(input.bytes().data());
    for (const CompiledFace& face : compiled.outputs) {
      long bytes = count_of(face.type.shape) * size_of(face.type.element);
      outputs.emplace_back(static_cast<size_t>(std::max(1L, bytes)));
      to.push_back(outputs.back().data());
    }
  }
};

/// Runs "work" for so long, at least five times, and returns the time of each run.
template <class Work>
std::vector<double> measure(double seconds, const JobListener& listener, Work work) {
  work();
  std::vector<double> times;
  for (auto begin = Clock::now(); times.size() < 5 || seconds_since(begin) < seconds;) {
    if (listener.is_stopped()) throw JobStopped();
    auto start = Clock::now();
    work();
    times.push_back(seconds_since(start));
  }
  return times;
}

bool is_algebraic(const CompiledNode& node) {
  Recipe recipe = parse_recipe(node.recipe);
  return std::any_of(recipe.begin(), recipe.end(), [](const Step& step) {
    return find_transform(step.name).kind == Transform::Kind::algebraic;
  });
}

/// Times the steps of each node alone, several at a time so that the clock can tell.
std::vector<LayerTime> measure_layers(const Compiled& compiled, Runner& runner, double seconds,
                                      const JobListener& listener) {
  std::vector<LayerTime> layers;
  double each = seconds / static_cast<double>(std::max<size_t>(1, compiled.nodes.size()));
  for (const CompiledNode& node : compiled.nodes) {
    if (node.steps == 0) continue;
    std::vector<double> times = measure(each, listener, [&] {
      for (size_t i = 0; i < node.steps; ++i) runner.run_step(node.first + i);
    });
    layers.push_back({node.name, node.op, node.schedule, node.recipe, median(times), node.flops,
                      is_algebraic(node)});
  }
  return layers;
}

/// Measures what was compiled, on processors of its own.
void run_measured(BenchResult& result, const BenchJobOptions& options, const Graph& graph,
                  const Compiled& compiled, const JobListener& listener) {
  pin(options.threads);
  Runner runner(compiled, options.threads);
  Buffers buffers(graph, compiled);
  if (!result.target.is_gpu()) result.peak = measure_peak(result.target) * options.threads;
  result.times = measure(options.seconds, listener,
                         [&] { runner.run(buffers.from.data(), buffers.to.data()); });
  if (options.layers) result.layers = measure_layers(compiled, runner, options.seconds, listener);
}

/// Does work in a thread that ends with it: whoever pins it pins nobody else.
template <class Work>
auto aside(Work work) {
  return std::async(std::launch::async, work).get();
}

}  // namespace

double BenchResult::median() const { return quantile(times, 0.5); }

BenchResult bench_network(const BenchJobOptions& options, const JobListener& listener) {
  BenchResult result;
  Narrowed narrowed = with_precision(
      initialised(load_network(options.network), options.network.seed),
      {precisions_of(options.network, options.precision), options.calibration, options.threads},
      listener);
  const Graph& graph = narrowed.network;
  CompileOptions how;
  how.effort = options.thorough ? Effort::thorough : Effort::quick;
  how.target = result.target = machine_named(options.target);
  how.target.workers = options.threads;
  if (options.tuned) use_tuned(how, options.threads, listener);
  how.max_error = options.max_error;
  how.progress = [&](size_t n, size_t all) {
    if (listener.is_stopped()) throw JobStopped();
    listener(WorkDone{"layers compiled", n, all});
  };
  auto begin = Clock::now();
  Compiled compiled = compile(graph, how);
  result.compile_seconds = seconds_since(begin);
  result.network = graph.name;
  result.threads = options.threads;
  result.kept = std::move(narrowed.kept);
  result.arena_bytes = compiled.arena_bytes;
  result.live_bytes = compiled.live_bytes;
  result.weights_bytes = static_cast<long>(compiled.weights.size());
  result.kernels = compiled.objects.size();
  for (const CompiledNode& node : compiled.nodes) {
    result.flops += node.flops;
    result.is_algebraic = result.is_algebraic || is_algebraic(node);
  }
  aside([&] { run_measured(result, options, graph, compiled, listener); });
  return result;
}

MachineFound bench_machine() {
  return aside([] {
    pin(1);
    Target target = native_target();
    return MachineFound{target, measure_machine(target)};
  });
}

nlohmann::json to_json(const BenchResult& found) {
  nlohmann::json json{{"network", found.network},
                      {"threads", found.threads},
                      {"runs", found.times.size()},
                      {"median_ms", found.median() * 1e3},
                      {"p90_ms", quantile(found.times, 0.9) * 1e3},
                      {"p99_ms", quantile(found.times, 0.99) * 1e3},
                      {"gflops", found.rate() / 1e9},
                      {"direct_equivalent", found.is_algebraic},
                      {"peak_gflops", found.peak / 1e9},
                      {"compile_s", found.compile_seconds},
                      {"arena_bytes", found.arena_bytes},
                      {"live_bytes", found.live_bytes},
                      {"weights_bytes", found.weights_bytes}};
  for (const LayerTime& layer : found.layers) {
    json["layers"].push_back({{"name", layer.name},
                              {"op", layer.op},
                              {"schedule", layer.schedule},
                              {"recipe", layer.recipe},
                              {"ms", layer.time * 1e3},
                              {"direct_equivalent", layer.is_algebraic},
                              {"flops", layer.flops}});
  }
  return json;
}

nlohmann::json to_json(const MachineFound& found) {
  nlohmann::json json{{"target", found.target.name}, {"peak_gflops", found.machine.peak / 1e9}};
  for (const Bandwidth& b : found.machine.bandwidths) {
    json["bandwidths"].push_back({{"level", b.level}, {"bytes", b.bytes}, {"gb_s", b.rate / 1e9}});
  }
  return json;
}

}  // namespace lathe
