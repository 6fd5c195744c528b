// tune.cpp: tuning as a job. Interface: tune.h.
#include "jobs/tune.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "jobs/amount.h"
#include "search/native_bench.h"

namespace lathe {
namespace {

nlohmann::json to_json(const TunedUnit& unit) {
  nlohmann::json json{{"layers", unit.nodes}};
  if (unit.time > 0) json["network_ms"] = unit.time * 1e3;
  if (!unit.found) return json;
  const Found& found = *unit.found;
  json["schedule"] = found.choice.schedule;
  json["settings"] = found.choice.settings;
  json["own_ms"] = found.own * 1e3;
  json["ms"] = found.time * 1e3;
  json["gain"] = found.own / found.time;
  json["kept"] = unit.kept;
  return json;
}

nlohmann::json to_json(const ChosenLayout& layout) {
  return {{"layers", layout.nodes},
          {"copy", layout.is_copy},
          {"channels_together", layout.block},
          {"otherwise", layout.usual}};
}

}  // namespace

void set_budget(TuneOptions& options, const std::string& budget, bool elsewhere) {
  if (budget.empty() && elsewhere) return;
  std::string text = budget.empty() ? "60s" : budget;
  auto amount = parse_amount(text);
  auto seconds = parse_duration(text);
  bool is_count = amount && amount->unit.empty() && amount->value <= 1e9;
  if (!seconds && !is_count) {
    fail(
        "--budget {}: write a time, as in 90s, 10m or 1h, or how many candidates are tried, as "
        "in 500",
        text);
  }
  if (seconds && elsewhere) {
    fail("--budget {}: with --jobs, write how many candidates are tried, as in 500", text);
  }
  if (is_count) options.trials = std::max(1L, static_cast<long>(amount->value));
  if (seconds) options.seconds = *seconds;
}

Graph network_to_tune(const TuneJobOptions& options, const JobListener& listener) {
  Graph network = initialised(load_network(options.network), options.network.seed);
  LayerPrecisions precisions = precisions_of(options.network, options.precision);
  Narrowed found =
      with_precision(network, {precisions, options.calibration, options.tune.threads}, listener);
  for (const std::string& layer : found.kept) listener(JobWarning{layer});
  return found.network;
}

TunedStore open_tuned_store() {
  std::string path = tuned_path();
  if (path.empty()) fail("there is no place to keep what is found: set LATHE_TUNED or LATHE_CACHE");
  return TunedStore(path);
}

TuneReport tune_network(const Graph& network, TuneOptions options, const JobListener& listener) {
  TunedStore store = open_tuned_store();
  check_data(network);
  Target target = native_target();
  if (!options.stop) options.stop = [&] { return listener.is_stopped(); };
  auto shown = options.progress;
  options.progress = [&](const TuneState& state) {
    if (shown) shown(state);
    listener(TuningGoesOn{network.name, state.elapsed, options.seconds});
  };
  auto bench = native_bench(network, target, options.threads);
  return tune(network, target, *bench, store, options);
}

TuneReport tuned_network(const Graph& network, const Target& target, int threads,
                         const std::string& layers) {
  std::string path = tuned_path();
  std::optional<TunedStore> store;
  if (!path.empty() && access(path.c_str(), F_OK) == 0) store.emplace(path);
  return tuned_before(network, target, threads, store ? &*store : nullptr, layers);
}

nlohmann::json to_json(const std::string& network, const TunedWhere& where,
                       const TuneReport& report) {
  nlohmann::json json{{"network", network},
                      {"threads", where.threads},
                      {"trials", report.trials},
                      {"failed", report.failed}};
  if (!where.gpu.empty()) json["target"] = where.gpu;
  if (report.own > 0) {
    json["own_ms"] = report.own * 1e3;
    json["tuned_ms"] = report.tuned * 1e3;
    json["kept"] = report.kept;
  }
  json["layouts"] = nlohmann::json::array();
  for (const ChosenLayout& layout : report.layouts) json["layouts"].push_back(to_json(layout));
  json["layers"] = nlohmann::json::array();
  for (const TunedUnit& unit : report.units) json["layers"].push_back(to_json(unit));
  return json;
}

}  // namespace lathe
