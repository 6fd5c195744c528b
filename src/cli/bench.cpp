// bench.cpp: "lathe bench NETWORK": how fast a network runs here, as a whole and layer by layer.
#include "jobs/bench.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/statistics.h"
#include "cli/verb_listener.h"
#include "cli/verb_peers.h"
#include "cli/verb_precision.h"
#include "cli/verb_target.h"
#include "cli/verb_tuned.h"

namespace lathe::cli {
namespace {

struct BenchArgs {
  BenchJobOptions job;
  TunedArguments tuned;
  PrecisionArguments precision;
  std::string against;
  bool machine = false, json = false;
};

std::string print_rate(double bytes) { return fmt::format("{:.1f} GB/s", bytes / 1e9); }

std::string print_size(long bytes) {
  return bytes >= 1 << 20 ? fmt::format("{} MiB", bytes >> 20) : fmt::format("{} KiB", bytes >> 10);
}

int show_machine(const BenchArgs& options) {
  auto [target, machine] = bench_machine();
  if (options.json) {
    fmt::print("{}\n", to_json(MachineFound{target, machine}).dump());
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

void print_layers(const std::vector<LayerTime>& layers, double peak) {
  double all = 0;
  bool marked = false;
  for (const LayerTime& layer : layers) all += layer.time;
  fmt::print("\n{:<33} {:<12} {:>9} {:>6} {:>8} {:>6}\n", "layer", "schedule", "ms", "share",
             "GFLOP/s", "peak");
  for (const LayerTime& layer : layers) {
    std::string name = layer.name;
    if (name.size() > 33) name = name.substr(0, 30) + "...";
    double rate = layer.flops / layer.time;
    fmt::print("{:<33} {:<12} {:>9.4f} {:>4.1f} %", name,
               layer.schedule.empty() ? "-" : layer.schedule, layer.time * 1e3,
               100 * layer.time / all);
    if (layer.flops > 0) {
      fmt::print(" {:>8.1f}", rate / 1e9);
      if (peak > 0) fmt::print(" {:>4.0f} %", 100 * rate / peak);
      fmt::print("{}", layer.is_algebraic ? "*" : "");
      marked = marked || layer.is_algebraic;
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

void print_found(const BenchResult& found) {
  double median = found.median();
  fmt::print("{}: {} thread{}, {} runs\n", found.network, found.threads,
             found.threads == 1 ? "" : "s", found.times.size());
  fmt::print("median      {:.3f} ms   (p90 {:.3f}, p99 {:.3f})\n", median * 1e3,
             quantile(found.times, 0.9) * 1e3, quantile(found.times, 0.99) * 1e3);
  fmt::print("speed       {:.1f} GFLOP/s{}", found.rate() / 1e9,
             found.is_algebraic ? " direct-equivalent" : "");
  if (found.target.is_gpu()) {
    fmt::print(" on {}\n", found.target.gpu.model);
  } else {
    fmt::print(", {:.0f} % of the peak of {:.1f}\n", 100 * found.rate() / found.peak,
               found.peak / 1e9);
  }
  constexpr double mib = 1 << 20;
  fmt::print("memory      {:.1f} MiB of weights, {:.1f} MiB arena ({:.1f} alive at most)\n",
             static_cast<double>(found.weights_bytes) / mib,
             static_cast<double>(found.arena_bytes) / mib,
             static_cast<double>(found.live_bytes) / mib);
  fmt::print("compiled    in {:.2f} s, {} kernels\n", found.compile_seconds, found.kernels);
  if (!found.layers.empty()) print_layers(found.layers, found.peak);
}

int run_network(const BenchArgs& options) {
  BenchJobOptions job = options.job;
  job.tuned = !options.tuned.ignored;
  job.max_error = options.tuned.max_error;
  job.precision = *precision_named(options.precision.precision);
  job.calibration = source_of(options.precision.calibration);
  BenchResult found;
  {
    JobBar bar("compiling");
    found = bench_network(job, bar.listener());
  }
  for (const std::string& layer : found.kept) fmt::print(stderr, "lathe: {}\n", layer);
  if (options.json) {
    fmt::print("{}\n", to_json(found).dump());
  } else {
    print_found(found);
  }
  return 0;
}

int compare(const BenchArgs& options) {
  const std::string& precision = options.precision.precision;
  PeerReport report =
      measured_peers({options.job.network, options.against, own_path(), options.job.threads,
                      options.job.seconds, precision, PeerOptions::Messages::shown});
  if (options.json) {
    fmt::print("{}\n", report.all);
  } else {
    print_peers(report, options.job.threads, precision);
  }
  return 0;
}

int run_bench(const BenchArgs& options) {
  if (options.machine) return show_machine(options);
  if (options.job.network.network.empty()) fail("give a network, or --machine");
  if (!options.against.empty()) {
    if (options.precision.precision == "tf32") fail("--against compares f32, f16, bf16 and int8");
    return compare(options);
  }
  return run_network(options);
}

std::function<int()> set_up_bench(Command& app) {
  auto options = std::make_shared<BenchArgs>();
  add_network_arguments(app, options->job.network);
  app.option("NETWORK")->optional();
  app.add_option("--threads", options->job.threads, "number of workers, each on its own core")
      ->check(range(1, 256));
  app.add_option("--seconds", options->job.seconds, "how long to measure")
      ->check(range(0.01, 3600.0));
  app.add_option("--against PEER", options->against,
                 "compare with a peer; best means the fastest peer but tvm, all means every peer")
      ->check(one_of(peer_names()));
  app.add_flag("--layers", options->job.layers, "also time each layer alone");
  app.add_flag("--machine", options->machine, "measure this machine, not a network");
  add_precision_arguments(app, options->precision);
  add_data_argument(app, options->precision.calibration);
  add_normalize_argument(app, options->precision.calibration);
  add_target_argument(app, options->job.target, "the machine of this computer that is measured");
  add_tuned_arguments(app, options->tuned);
  add_error_argument(app, options->tuned.max_error);
  app.add_flag("--thorough", options->job.thorough, "optimise the code for longer");
  app.add_option("--seed", options->job.network.seed, "seed of the weights, where they are random");
  app.add_flag("--json", options->json, "print JSON, for machines");
  return [options] { return run_bench(*options); };
}

}  // namespace

Verb bench() {
  return {"bench", "measure how fast a network runs here", set_up_bench,
          "lathe bench resnet18 --threads 2 --layers"};
}

}  // namespace lathe::cli
