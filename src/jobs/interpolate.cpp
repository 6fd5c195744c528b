// interpolate.cpp: networks between two networks. Interface: interpolate.h.
#include "jobs/interpolate.h"

#include <nlohmann/json.hpp>

#include "program/layers.h"

namespace lathe {
namespace {

void set_costs(InterpolatedNetwork& network, const Graph& graph) {
  for (const Layer& layer : layers_of(graph)) {
    network.macs += layer.cost.macs;
    network.weights += layer.weights;
  }
}

void mark_best(std::vector<InterpolatedNetwork>& networks) {
  auto is_measured = [](const InterpolatedNetwork& n) { return n.times.failure.empty(); };
  for (InterpolatedNetwork& network : networks) {
    network.is_best = is_measured(network);
    for (const InterpolatedNetwork& other : networks) {
      if (!is_measured(other)) continue;
      double faster = other.speed_up() - network.speed_up();
      double better = other.points() - network.points();
      if (faster >= 0 && better >= 0 && faster + better > 0) network.is_best = false;
    }
  }
}

BenchOptions bench_options(const InterpolateOptions& options) {
  BenchOptions bench;
  bench.target = native_target();
  bench.threads = options.threads;
  bench.seconds = options.seconds;
  bench.max_error = options.score.max_error;
  return bench;
}

/// Measures and judges every network of the row.
class Row {
 public:
  explicit Row(const InterpolateOptions& options)
      : options_(options),
        seed_(options.score.network.seed),
        timed_(load_network(options.score.network)),
        row_(interpolated(timed_, options.first, options.second, options.between)),
        scored_(load_judged(options.score)),
        scorer_(make_scorer(options.score)),
        rule_(suited(options.rule, timed_, scorer_.dataset())),
        bench_(initialised(timed_, seed_), bench_options(options)) {}

  std::vector<InterpolatedNetwork> run(const JobListener& listener) {
    std::vector<Scores> original = scorer_.run(scored_, rule_.metrics());
    std::vector<InterpolatedNetwork> networks;
    listener(WorkDone{"networks", 0, row_.size()});
    for (const Between& between : row_) {
      if (listener.is_stopped()) break;
      networks.push_back(evaluated(between, original));
      listener(WorkDone{"networks", networks.size(), row_.size()});
    }
    mark_best(networks);
    return networks;
  }

 private:
  const InterpolateOptions& options_;
  uint64_t seed_;
  Graph timed_;
  std::vector<Between> row_;
  Graph scored_;
  Scorer scorer_;
  GateRule rule_;
  NetworkBench bench_;

  InterpolatedNetwork evaluated(const Between& between, const std::vector<Scores>& original) {
    InterpolatedNetwork network{between};
    Graph graph = transformed(timed_, between.recipe);
    set_costs(network, graph);
    network.times = bench_.measure(initialised(graph, seed_));
    Graph untrained = transformed(scored_, between.recipe);
    network.verdict = judge(rule_, compared(original, scorer_.run(untrained, rule_.metrics())));
    return network;
  }
};

}  // namespace

std::string name_of(const Between& between, const InterpolationEnds& ends) {
  if (between.way != Between::Way::end) {
    return fmt::format("{} {:.0f} % {}",
                       between.way == Between::Way::filters ? "filters" : "layers",
                       100 * between.part, ends.second);
  }
  return between.part == 0 ? ends.first : ends.second;
}

nlohmann::json to_json(const InterpolatedNetwork& network, const InterpolationEnds& ends) {
  nlohmann::json json{{"name", name_of(network.between, ends)},
                      {"way", name_of(network.between.way)},
                      {"part", network.between.part},
                      {"recipe", to_json(network.between.recipe)},
                      {"macs", network.macs},
                      {"weights", network.weights},
                      {"ratio", network.verdict.ratio},
                      {"accepted", network.verdict.accepted},
                      {"pareto", network.is_best}};
  if (network.verdict.predicted) {
    Interval interval = network.verdict.predicted->interval();
    json["prediction"] = {interval.low, interval.high};
    if (network.verdict.caveat.empty()) json["predicted"] = network.points();
  }
  if (!network.verdict.caveat.empty()) json["caution"] = network.verdict.caveat;
  if (network.times.failure.empty()) {
    json["ms"] = network.times.time * 1e3;
    json["original_ms"] = network.times.own * 1e3;
  } else {
    json["failure"] = network.times.failure;
  }
  return json;
}

Plot picture_of(const InterpolateOptions& options, const InterpolationEnds& ends,
                const std::vector<InterpolatedNetwork>& networks) {
  Plot plot{.title = fmt::format("{}: from {} to {}", options.score.network.network, ends.first,
                                 ends.second),
            .x = {"latency, ms"},
            .y = {"expected change of accuracy, points"}};
  bool is_calibrated = networks.empty() || networks.front().verdict.caveat.empty();
  if (!is_calibrated) plot.y.title += " (not calibrated)";
  plot.series = {{"the two networks", {}, Marker::square},
                 {"filters in between", {}, Marker::circle},
                 {"layers in between", {}, Marker::triangle}};
  for (const InterpolatedNetwork& network : networks) {
    if (!network.times.failure.empty()) continue;
    plot.series[static_cast<size_t>(network.between.way)].points.push_back(
        {network.times.time * 1e3, network.points(), name_of(network.between, ends)});
  }
  return plot;
}

std::vector<InterpolatedNetwork> interpolate(const InterpolateOptions& options,
                                             const JobListener& listener) {
  return Row(options).run(listener);
}

}  // namespace lathe
