// bench.cpp: "lathe bench NETWORK": how fast a network runs here, as a whole and layer by layer.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/statistics.h"
#include "cli/verb_nest.h"
#include "cli/verb_network.h"
#include "cli/verb_peers.h"
#include "cli/verb_precision.h"
#include "cli/verb_target.h"
#include "cli/verb_tuned.h"
#include "compile/compile.h"
#include "compile/machine.h"
#include "program/random_inputs.h"
#include "search/measure.h"
#include "transforms/transform.h"

namespace lathe::cli {
namespace {

struct BenchArgs {
  NetworkArguments network;
  TunedArguments tuned;
  PrecisionArguments precision;
  int threads = 1;
  double seconds = 2;
  std::string against, target = "native";
  bool layers = false, machine = false, json = false, thorough = false;
};

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string print_rate(double bytes) { return fmt::format("{:.1f} GB/s", bytes / 1e9); }

std::string print_size(long bytes) {
  return bytes >= 1 << 20 ? fmt::format("{} MiB", bytes >> 20) : fmt::format("{} KiB", bytes >> 10);
}

int show_machine(const BenchArgs& options) {
  pin(1);
  Target target = native_target();
  Machine machine = measure_machine(target);
  if (options.json) {
    nlohmann::json json{{"target", target.name}, {"peak_gflops", machine.peak / 1e9}};
    for (const Bandwidth& b : machine.bandwidths) {
      json["bandwidths"].push_back(
          {{"level", b.level}, {"bytes", b.bytes}, {"gb_s", b.rate / 1e9}});
    }
    fmt::print("{}\n", json.dump());
    return 0;
  }
  fmt::print("target      {}, vectors of {} bytes\n", target.name, target.cpu.vector_bytes);
  fmt::print("peak        {:.1f} GFLOP/s, f32, one core\n", machine.peak / 1e9);
  for (const Bandwidth& b : machine.bandwidths) {
    fmt::print("{:<11} {:>10}  read again and again: {}\n", b.level, print_size(b.bytes),
               print_rate(b.rate));
  }
  return 0;
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
std::vector<double> measure(double seconds, Work work) {
  work();
  std::vector<double> times;
  for (auto begin = Clock::now(); times.size() < 5 || seconds_since(begin) < seconds;) {
    auto start = Clock::now();
    work();
    times.push_back(seconds_since(start));
  }
  return times;
}

struct LayerTime {
  const CompiledNode* node;
  double time;
};

/// Times the steps of each node alone, several at a time so that the clock can tell.
std::vector<LayerTime> measure_layers(const Compiled& compiled, Runner& runner, double seconds) {
  std::vector<LayerTime> layers;
  double each = seconds / static_cast<double>(std::max<size_t>(1, compiled.nodes.size()));
  for (const CompiledNode& node : compiled.nodes) {
    if (node.steps == 0) continue;
    std::vector<double> times = measure(each, [&] {
      for (size_t i = 0; i < node.steps; ++i) runner.run_step(node.first + i);
    });
    layers.push_back({&node, median(times)});
  }
  return layers;
}

/// Does a node do other products than its nest has? Then their rate is that of a direct computation
/// that would take as long, not that of the machine.
bool is_algebraic(const CompiledNode& node) {
  Recipe recipe = parse_recipe(node.recipe);
  return std::any_of(recipe.begin(), recipe.end(), [](const Step& step) {
    return find_transform(step.name).kind == Transform::Kind::algebraic;
  });
}

void print_layers(const std::vector<LayerTime>& layers, double peak) {
  double all = 0;
  bool marked = false;
  for (const LayerTime& layer : layers) all += layer.time;
  fmt::print("\n{:<33} {:<12} {:>9} {:>6} {:>8} {:>6}\n", "layer", "schedule", "ms", "share",
             "GFLOP/s", "peak");
  for (const LayerTime& layer : layers) {
    std::string name = layer.node->name;
    if (name.size() > 33) name = name.substr(0, 30) + "...";
    double rate = layer.node->flops / layer.time;
    fmt::print("{:<33} {:<12} {:>9.4f} {:>4.1f} %", name,
               layer.node->schedule.empty() ? "-" : layer.node->schedule, layer.time * 1e3,
               100 * layer.time / all);
    if (layer.node->flops > 0) {
      bool mark = is_algebraic(*layer.node);
      fmt::print(" {:>8.1f}", rate / 1e9);
      if (peak > 0) fmt::print(" {:>4.0f} %", 100 * rate / peak);
      fmt::print("{}", mark ? "*" : "");
      marked = marked || mark;
    }
    fmt::print("\n");
  }
  fmt::print("{:<33} {:<12} {:>9.4f}\n", "sum", "", all * 1e3);
  if (marked) {
    fmt::print(
        "* direct-equivalent: counts the products of a direct convolution. This schedule\n"
        "  does fewer, so the share of the peak may be above 100 %.\n");
  }
}

int run_network(const BenchArgs& options) {
  Graph graph = with_precisions(initialised(load_network(options.network), options.network.seed),
                                precisions_of(options.precision, options.network),
                                options.precision.calibration, options.threads);
  CompileOptions compile_options;
  compile_options.effort = options.thorough ? Effort::thorough : Effort::quick;
  compile_options.target = machine_named(options.target);
  compile_options.target.workers = options.threads;
  compile_options.choose = choices_for(options.tuned, compile_options.target, options.threads);
  compile_options.layouts = layouts_for(options.tuned, compile_options.target, options.threads);
  compile_options.max_error = options.tuned.max_error;
  auto begin = Clock::now();
  Compiled compiled;
  {
    ProgressBar bar("compiling");
    compile_options.progress = [&](size_t n, size_t all) { bar.show(n, all); };
    compiled = compile(graph, compile_options);
  }
  double compile_time = seconds_since(begin);
  pin(options.threads);
  Runner runner(compiled, options.threads);
  Buffers buffers(graph, compiled);
  bool gpu = compile_options.target.is_gpu();
  double peak = gpu ? 0 : measure_peak(compile_options.target) * options.threads, flops = 0;
  for (const CompiledNode& node : compiled.nodes) flops += node.flops;
  bool algebraic = std::any_of(compiled.nodes.begin(), compiled.nodes.end(), is_algebraic);
  std::vector<double> times =
      measure(options.seconds, [&] { runner.run(buffers.from.data(), buffers.to.data()); });
  double median = quantile(times, 0.5);
  std::vector<LayerTime> layers;
  if (options.layers) layers = measure_layers(compiled, runner, options.seconds);
  if (options.json) {
    nlohmann::json json{{"network", graph.name},
                        {"threads", options.threads},
                        {"runs", times.size()},
                        {"median_ms", median * 1e3},
                        {"p90_ms", quantile(times, 0.9) * 1e3},
                        {"p99_ms", quantile(times, 0.99) * 1e3},
                        {"gflops", flops / median / 1e9},
                        {"direct_equivalent", algebraic},
                        {"peak_gflops", peak / 1e9},
                        {"compile_s", compile_time},
                        {"arena_bytes", compiled.arena_bytes},
                        {"live_bytes", compiled.live_bytes},
                        {"weights_bytes", compiled.weights.size()}};
    for (const LayerTime& layer : layers) {
      json["layers"].push_back({{"name", layer.node->name},
                                {"op", layer.node->op},
                                {"schedule", layer.node->schedule},
                                {"recipe", layer.node->recipe},
                                {"ms", layer.time * 1e3},
                                {"direct_equivalent", is_algebraic(*layer.node)},
                                {"flops", layer.node->flops}});
    }
    fmt::print("{}\n", json.dump());
    return 0;
  }
  fmt::print("{}: {} thread{}, {} runs\n", graph.name, options.threads,
             options.threads == 1 ? "" : "s", times.size());
  fmt::print("median      {:.3f} ms   (p90 {:.3f}, p99 {:.3f})\n", median * 1e3,
             quantile(times, 0.9) * 1e3, quantile(times, 0.99) * 1e3);
  fmt::print("speed       {:.1f} GFLOP/s{}", flops / median / 1e9,
             algebraic ? " direct-equivalent" : "");
  if (gpu) {
    fmt::print(" on {}\n", compile_options.target.gpu.model);
  } else {
    fmt::print(", {:.0f} % of the peak of {:.1f}\n", 100 * flops / median / peak, peak / 1e9);
  }
  fmt::print("memory      {:.1f} MiB of weights, {:.1f} MiB arena ({:.1f} alive at most)\n",
             static_cast<double>(compiled.weights.size()) / (1 << 20),
             static_cast<double>(compiled.arena_bytes) / (1 << 20),
             static_cast<double>(compiled.live_bytes) / (1 << 20));
  fmt::print("compiled    in {:.2f} s, {} kernels\n", compile_time, compiled.objects.size());
  if (options.layers) print_layers(layers, peak);
  return 0;
}

int compare(const BenchArgs& options) {
  const std::string& precision = options.precision.precision;
  PeerReport report = measured_peers({options.network, options.against, own_path(), options.threads,
                                      options.seconds, precision, PeerOptions::Messages::shown});
  if (options.json) {
    fmt::print("{}\n", report.all);
  } else {
    print_peers(report, options.threads, precision);
  }
  return 0;
}

int run_bench(const BenchArgs& options) {
  if (options.machine) return show_machine(options);
  if (options.network.network.empty()) fail("give a network, or --machine");
  if (!options.against.empty()) {
    if (options.precision.precision == "bf16") fail("--against compares f32, f16 and int8");
    return compare(options);
  }
  return run_network(options);
}

std::function<int()> set_up_bench(Command& app) {
  auto options = std::make_shared<BenchArgs>();
  add_network_arguments(app, options->network);
  app.option("NETWORK")->optional();
  app.add_option("--threads", options->threads, "number of workers, each on its own core")
      ->check(range(1, 256));
  app.add_option("--seconds", options->seconds, "how long to measure")->check(range(0.01, 3600.0));
  app.add_option("--against PEER", options->against,
                 "compare with a peer; best means the fastest peer but tvm, all means every peer")
      ->check(one_of(peer_names()));
  app.add_flag("--layers", options->layers, "also time each layer alone");
  app.add_flag("--machine", options->machine, "measure this machine, not a network");
  add_precision_arguments(app, options->precision);
  add_data_argument(app, options->precision.calibration);
  add_normalize_argument(app, options->precision.calibration);
  add_target_argument(app, options->target, "the machine of this computer that is measured");
  add_tuned_arguments(app, options->tuned);
  add_error_argument(app, options->tuned.max_error);
  app.add_flag("--thorough", options->thorough, "optimise the code for longer");
  app.add_option("--seed", options->network.seed, "seed of the weights, where they are random");
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run_bench(*options); };
}

}  // namespace

Verb bench() {
  return {"bench", "measure how fast a network runs here", set_up_bench,
          "lathe bench resnet18 --threads 2 --layers"};
}

}  // namespace lathe::cli
