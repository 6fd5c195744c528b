// network_bench.cpp: networks beside the original. Interface: network_bench.h.
#include "search/network_bench.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/parallel.h"
#include "base/statistics.h"
#include "compile/ready.h"
#include "compile/units.h"
#include "program/random_inputs.h"
#include "search/broken_kernel.h"
#include "search/isolated.h"
#include "search/measure.h"
#include "search/network_check.h"
#include "search/reduced.h"

namespace lathe {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

/// Products of the smaller units that are compared: few, as every candidate brings new units.
constexpr long reduced_products = 150000;

/// How often each network runs at least, however long that takes: a median needs a few times.
constexpr size_t least_runs = 5;

/// What rounding may change of the outputs, in root mean squares: other passes lead to other orders
/// of sums, and to other algorithms for convolutions.
constexpr double rounding_tolerance = 1e-3;
constexpr uint64_t input_seed = 1;

/// Seconds for which a network runs while power is read: sensors are slow.
constexpr double power_seconds = 1;

/// Seconds that a test waits for a candidate that hangs: less than a user does.
constexpr double test_limit = 2;

/// What tests ask for: $LATHE_FAULT is "crash:3", and the third candidate crashes; "hang"; "wrong":
/// an instruction of its new kernels is another one.
std::string fault_of(long number) {
  const char* text = std::getenv("LATHE_FAULT");
  if (text == nullptr) return "";
  std::string fault = text;
  size_t colon = fault.find(':');
  bool now = colon != std::string::npos && fault.substr(colon + 1) == std::to_string(number);
  return now ? fault.substr(0, colon) : "";
}

double limit_of(const std::string& fault, double limit) {
  return fault == "hang" ? test_limit : limit;
}

void commit(const std::string& fault) {
  if (fault == "crash") raise(SIGSEGV);
  if (fault == "hang") pause();
}

Json to_json(const std::vector<NodeTime>& times) {
  Json result = Json::array();
  for (const NodeTime& each : times) result.push_back({each.node, each.seconds});
  return result;
}

Json to_json(const PowerReading& reading) {
  auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
  return {{"seconds", reading.seconds},
          {"watts", number(reading.watts)},
          {"celsius", number(reading.celsius)}};
}

PowerReading power_from_json(const Json& json) {
  if (json.is_null()) return {};
  auto number = [&](const char* name) {
    return json[name].is_null() ? std::nullopt : std::optional<double>(json[name]);
  };
  return {json["seconds"], number("watts"), number("celsius")};
}

/// Returns the root mean square of the differences in terms of that of the values.
double relative_difference(const std::vector<double>& values, const std::vector<double>& others) {
  double squares = 0, differences = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    squares += values[i] * values[i];
    differences += (values[i] - others[i]) * (values[i] - others[i]);
  }
  if (differences == 0) return 0;
  return std::sqrt(differences / std::max(squares, std::numeric_limits<double>::min()));
}

Json to_json(const std::map<std::string, KnownUnit>& units) {
  Json result = Json::object();
  for (const auto& [key, unit] : units) result[key] = {unit.full, unit.reduced};
  return result;
}

std::map<std::string, KnownUnit> known_units(const Json& json) {
  std::map<std::string, KnownUnit> units;
  for (const auto& [key, unit] : json.items()) units[key] = {unit[0], unit[1]};
  return units;
}

/// Returns the units of a graph that are not compiled alike, by their keys.
std::vector<std::string> keys_of(const Graph& ready) {
  std::set<std::string> keys;
  for (const Unit& unit : collect_units(ready).units) keys.insert(unit.key);
  return {keys.begin(), keys.end()};
}

std::vector<NodeTime> node_times(const Json& json) {
  std::vector<NodeTime> times;
  for (const Json& each : json) times.push_back({each[0], each[1]});
  return times;
}

}  // namespace

NetworkBench::NetworkBench(const Graph& original, BenchOptions options)
    : options_(std::move(options)), original_graph_(original) {
  how_.target = options_.target;
  how_.target.workers = options_.threads;
  how_.choose = options_.choose;
  how_.layouts = options_.layouts;
  how_.max_error = options_.max_error;
  how_.made = std::make_shared<MadeUnits>();
  original_ = compile(original, how_);
  own_units_ = keys_of(ready_for({original, usual_passes()}));
}

Graph NetworkBench::ready_for(const Candidate& network) const {
  return ready_to_compile(network.graph, context_of(how_), network.passes);
}

void NetworkBench::check_original() {
  if (is_original_checked_) return;
  auto work = [&] {
    return to_json(compared({original_graph_, usual_passes()}, original_)).dump();
  };
  Outcome outcome = isolated(work, options_.limit);
  if (!outcome.failure.empty()) {
    fail("the network as it is cannot be measured: {}", outcome.failure);
  }
  known_ = known_units(Json::parse(outcome.result));
  is_original_checked_ = true;
}

NetworkTimes NetworkBench::measure(const Graph& candidate) {
  return measure(Candidate{candidate, usual_passes()});
}

NetworkTimes NetworkBench::measure_passes(const std::vector<std::string>& passes,
                                          double tolerance) {
  return measure(Candidate{original_graph_, passes, tolerance});
}

NetworkTimes NetworkBench::measure(const Candidate& candidate) {
  check_original();
  ++measured_;
  double limit = limit_of(fault_of(measured_), options_.limit);
  Outcome outcome = isolated([&] { return measured_text(candidate); }, limit);
  NetworkTimes times;
  times.failure = outcome.failure;
  if (!times.failure.empty()) return times;
  Json json = Json::parse(outcome.result);
  times.own = json["own"];
  times.time = json["time"];
  times.spread = json["spread"];
  times.own_nodes = node_times(json["own_nodes"]);
  times.nodes = node_times(json["nodes"]);
  known_.merge(known_units(json["known"]));
  times.checks = counted(json["units"].get<std::vector<std::string>>());
  times.own_checks = counted(own_units_);
  times.bytes = json["bytes"];
  times.own_bytes = memory_of(original_, options_.threads);
  times.power = power_from_json(json["power"]);
  times.own_power = power_from_json(json["own_power"]);
  return times;
}

void NetworkBench::check_outputs(const Compiled& compiled, double tolerance) const {
  std::vector<Array> inputs = random_inputs(original_graph_, input_seed);
  std::vector<Array> own = Runner(original_, options_.threads).run(inputs);
  std::vector<Array> other = Runner(compiled, options_.threads).run(inputs);
  for (size_t i = 0; i < own.size(); ++i) {
    double error = relative_difference(own[i].reals(), other[i].reals());
    if (error <= rounding_tolerance + tolerance) continue;
    fail("it is wrong: output '{}' differs by {:.2g} of its root mean square",
         original_.outputs[i].name, error);
  }
}

PowerReading NetworkBench::power_of(TimedNetwork& network) {
  PowerMeter meter;
  return meter.during([&] {
    auto begin = Clock::now();
    while (std::chrono::duration<double>(Clock::now() - begin).count() < power_seconds) {
      network.run();
    }
  });
}

std::string NetworkBench::measured_text(const Candidate& candidate) const {
  std::string fault = fault_of(measured_);
  commit(fault);
  CompileOptions how = how_;
  how.passes = candidate.passes;
  Compiled compiled = compile(candidate.graph, how);
  if (fault == "wrong") break_new_units(candidate, compiled);
  std::map<std::string, KnownUnit> known = compared(candidate, compiled);
  if (candidate.tolerance) check_outputs(compiled, *candidate.tolerance);
  pin(options_.threads);
  TimedNetwork own(original_, options_.threads), other(compiled, options_.threads);
  if (!other.is_finite()) fail("an output is no number");
  Times own_times, times;
  auto begin = Clock::now();
  auto taken = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  // Half of the time is for whole networks, half for their nodes.
  for (size_t i = 0; i < least_runs || taken() < options_.seconds / 2; ++i) {
    own_times.add([&] { own.run(); });
    times.add([&] { other.run(); });
  }
  begin = Clock::now();
  for (size_t i = 0; i < least_runs || taken() < options_.seconds / 2; ++i) {
    own.run_nodes();
    other.run_nodes();
  }
  std::vector<double> typical = typical_times({own_times, times});
  double spread = quantile(times.all, 0.75) - quantile(times.all, 0.25);
  return Json{{"own", typical[0]},
              {"time", typical[1]},
              {"spread", spread},
              {"own_nodes", to_json(own.node_times())},
              {"nodes", to_json(other.node_times())},
              {"bytes", memory_of(compiled, options_.threads)},
              {"power", options_.power ? to_json(power_of(other)) : Json()},
              {"own_power", options_.power ? to_json(power_of(own)) : Json()},
              {"units", keys_of(ready_for(candidate))},
              {"known", to_json(known)}}
      .dump();
}

void NetworkBench::break_new_units(const Candidate& candidate, Compiled& compiled) const {
  for (const std::string& key : keys_of(ready_for(candidate))) {
    if (known_.contains(key)) continue;
    std::shared_ptr<const Made> made = how_.made->find(key);
    for (size_t k = 0; k < made->code.kernels.size(); ++k) {
      if (break_kernel(compiled, *made, k)) break;
    }
  }
}

std::map<std::string, KnownUnit> NetworkBench::compared(const Candidate& network,
                                                        const Compiled& compiled) const {
  Graph ready = ready_for(network);
  std::set<std::string> before;
  for (const auto& [key, unit] : known_) before.insert(key);
  std::map<std::string, KnownUnit> result;
  for (const UnitCheck& check : check_at_full_size(ready, compiled, *how_.made, before)) {
    if (!check.wrong.empty()) fail("it is wrong: {}: {}", check.node, check.wrong);
    result[check.key].full = check.unchecked;
  }
  std::vector<Unit> news;
  for (const Unit& unit : collect_units(ready).units) {
    if (result.contains(unit.key) && before.insert(unit.key).second) news.push_back(unit);
  }
  std::vector<UnitComparison> comparisons(news.size());
  for_each_index(news.size(), processors(),
                 [&](size_t i) { comparisons[i] = compared_small(news[i]); });
  for (size_t i = 0; i < news.size(); ++i) {
    if (!comparisons[i].wrong.empty()) {
      fail("it is wrong: {}, made smaller: {}", print(news[i].call), comparisons[i].wrong);
    }
    result[news[i].key].reduced = comparisons[i].unchecked;
  }
  return result;
}

UnitComparison NetworkBench::compared_small(const Unit& unit) const {
  auto smaller = reduced(unit, reduced_products);
  if (!smaller) return {"", "it cannot be made smaller"};
  auto choice = choice_for(how_, unit);
  if (!choice) choice = Choice{how_.made->find(unit.key)->code.schedule, {}};
  return compare_with_interpreter(*smaller, *choice, how_.target);
}

NetworkChecks NetworkBench::counted(const std::vector<std::string>& keys) const {
  NetworkChecks checks;
  checks.units = static_cast<long>(keys.size());
  for (const std::string& key : keys) {
    const KnownUnit& unit = known_.at(key);
    if (unit.reduced.empty()) ++checks.reduced;
    if (unit.full.empty()) {
      ++checks.full;
    } else {
      ++checks.unchecked[unit.full];
    }
  }
  return checks;
}

}  // namespace lathe
