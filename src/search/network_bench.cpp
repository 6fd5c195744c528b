// network_bench.cpp: networks beside the original. Interface: network_bench.h.
#include "search/network_bench.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/parallel.h"
#include "base/statistics.h"
#include "compile/units.h"
#include "search/isolated.h"
#include "search/measure.h"
#include "search/reduced.h"

namespace lathe {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

/// Of the smaller units that are compared with the interpreter.
constexpr long reduced_products = 150000;

/// What tests ask for: $LATHE_FAULT is "crash:3", and the third candidate crashes; "hang", "wrong".
std::string fault_of(long number) {
  const char* text = std::getenv("LATHE_FAULT");
  if (text == nullptr) return "";
  std::string fault = text;
  size_t colon = fault.find(':');
  bool now = colon != std::string::npos && fault.substr(colon + 1) == std::to_string(number);
  return now ? fault.substr(0, colon) : "";
}

/// A test does not wait as long as a user for what hangs.
double limit_of(const std::string& fault, double limit) { return fault == "hang" ? 2 : limit; }

void commit(const std::string& fault) {
  if (fault == "crash") raise(SIGSEGV);
  if (fault == "hang") pause();
  if (fault == "wrong") fail("it is wrong: element 0 is 1 and should be 0");
}

Json to_json(const std::vector<NodeTime>& times) {
  Json result = Json::array();
  for (const NodeTime& each : times) result.push_back({each.node, each.seconds});
  return result;
}

std::vector<NodeTime> node_times(const Json& json) {
  std::vector<NodeTime> times;
  for (const Json& each : json) times.push_back({each[0], each[1]});
  return times;
}

}  // namespace

NetworkBench::NetworkBench(const Graph& original, BenchOptions options)
    : options_(std::move(options)) {
  how_.target = options_.target;
  how_.target.workers = options_.threads;
  how_.choose = options_.choose;
  how_.layouts = options_.layouts;
  how_.max_error = options_.max_error;
  how_.made = std::make_shared<MadeUnits>();
  original_ = compile(original, how_);
  for (const NodeUnit& each : units_of(original, options_.threads, options_.layouts)) {
    checked_.insert(each.unit.key);  // what the tests of the compiler are for
  }
}

NetworkTimes NetworkBench::measure(const Graph& candidate) {
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
  for (const Json& key : json["checked"]) checked_.insert(key.get<std::string>());
  return times;
}

std::string NetworkBench::measured_text(const Graph& candidate) const {
  commit(fault_of(measured_));
  Compiled compiled = compile(candidate, how_);
  std::vector<std::string> checked;
  std::string wrong = wrong_unit(candidate, checked);
  if (!wrong.empty()) fail("it is wrong: {}", wrong);
  pin(options_.threads);
  TimedNetwork own(original_, options_.threads), other(compiled, options_.threads);
  if (!other.is_finite()) fail("an output is no number");
  Times own_times, times;
  auto begin = Clock::now();
  auto taken = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  constexpr size_t least = 5;
  for (size_t i = 0; i < least || taken() < options_.seconds / 2; ++i) {
    own_times.add([&] { own.run(); });
    times.add([&] { other.run(); });
  }
  begin = Clock::now();
  for (size_t i = 0; i < least || taken() < options_.seconds / 2; ++i) {
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
              {"checked", checked}}
      .dump();
}

std::string NetworkBench::wrong_unit(const Graph& candidate,
                                     std::vector<std::string>& checked) const {
  std::vector<NodeUnit> news;
  std::set<std::string> seen = checked_;
  for (const NodeUnit& each : units_of(candidate, options_.threads, options_.layouts)) {
    if (seen.insert(each.unit.key).second) news.push_back(each);
  }
  std::vector<std::string> wrong(news.size());
  int workers = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  for_each_index(news.size(), workers, [&](size_t i) {
    const Unit& unit = news[i].unit;
    auto smaller = reduced(unit, reduced_products);
    auto choice = choice_for(how_, unit);
    if (!choice) choice = Choice{make_unit(unit, how_)->code.schedule, {}};
    if (smaller) wrong[i] = compare_with_interpreter(*smaller, *choice, how_.target);
  });
  for (size_t i = 0; i < news.size(); ++i) {
    if (!wrong[i].empty()) return fmt::format("{}: {}", news[i].node, wrong[i]);
    checked.push_back(news[i].unit.key);
  }
  return "";
}

}  // namespace lathe
