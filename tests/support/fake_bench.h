// A bench that measures nothing: times come from a formula, so that a search is the same each time.
#pragma once

#include <cmath>

#include "base/error.h"
#include "search/tune.h"

namespace lathe::test {

/// The template "fast" takes 1 ms, less with "a" near 7 and "b" at 2; "slow" always takes twice as
/// long; "broken" fails. Setting "c" changes nothing: the kernels are the same.
class FakeBench : public TuneBench {
 public:
  /// Times that only a unit alone shows, not the network.
  bool deceptive = false;
  long tries = 0, seconds = 0;
  std::set<std::string> measured;  ///< kernels, by unit
  std::vector<std::string> twice;  ///< those that were measured again without being asked for

  ScheduleSpace space_of(const Unit&) override {
    std::vector<long> many{1};
    for (long i = 2; i <= 12; ++i) many.push_back(i);
    return {{"fast", {{"a", many}, {"b", {1, 2, 3}}, {"c", {0, 1}}}}, {"slow", {}}, {"broken", {}}};
  }

  Tried try_choice(const Unit& unit, const std::optional<Choice>& best, const Choice& choice,
                   const std::set<std::string>& seen, Care care) override {
    ++tries;
    Tried tried;
    tried.code = code_of(choice);
    if (seen.contains(tried.code)) {
      tried.seen = true;
      return tried;
    }
    if (care == Care::quick && !measured.insert(unit.key + tried.code).second) {
      twice.push_back(tried.code);
    }
    if (choice.schedule == "broken") {
      tried.failure = "it crashed";
      return tried;
    }
    tried.own = time_of({"fast", {}});
    tried.best = best ? time_of(*best) : tried.own;
    tried.time = time_of(choice);
    return tried;
  }

  Tried compare_units(const Unit& usual, const Unit& other) override {
    if (!layouts_measured.insert(other.key + usual.key).second) twice.push_back(other.key);
    Tried tried;
    tried.own = unit_time ? unit_time(usual) : 1e-3;
    tried.time = unit_time ? unit_time(other) : 1e-3;
    return tried;
  }

  std::vector<double> whole_times(const std::vector<TuneVariant>& variants) override {
    std::vector<double> times;
    for (const auto& each : node_times(variants)) {
      times.push_back(0);
      for (const auto& [name, time] : each) times.back() += time;
    }
    return times;
  }

  std::vector<std::map<std::string, double>> node_times(
      const std::vector<TuneVariant>& variants) override {
    std::vector<std::map<std::string, double>> times(variants.size());
    for (size_t i = 0; i < variants.size(); ++i) {
      if (unit_time) {
        for (const NodeUnit& node : units_of(graph, 1, variants[i].layouts)) {
          times[i][node.node] = unit_time(node.unit);
        }
        continue;
      }
      for (const auto& [name, key] : nodes) {
        std::optional<Choice> choice = variants[i].choose ? variants[i].choose(key) : std::nullopt;
        double ratio = choice ? time_of(*choice) / time_of({"fast", {}}) : 1;
        times[i][name] = 0.001 * (deceptive && choice ? 2 - ratio : ratio);
      }
    }
    return times;
  }

  double elapsed() override { return static_cast<double>(seconds += 1); }

  std::map<std::string, std::string> nodes;  ///< keys of units, by node

  /// Where it is set, times are those of the units of "graph" in their layouts, and nothing else.
  std::function<double(const Unit&)> unit_time = nullptr;
  Graph graph;
  std::set<std::string> layouts_measured;

  static double time_of(const Choice& choice) {
    auto value = [&](const char* name, long otherwise) {
      auto found = choice.settings.find(name);
      return static_cast<double>(found == choice.settings.end() ? otherwise : found->second);
    };
    double time =
        0.7e-3 + 0.05e-3 * std::abs(value("a", 1) - 7) + 0.1e-3 * std::abs(value("b", 1) - 2);
    return choice.schedule == "slow" ? 2e-3 : time;
  }

  static std::string code_of(const Choice& choice) {
    Settings settings = choice.settings;
    settings.erase("c");
    return choice.schedule + print_settings(settings);
  }
};

}  // namespace lathe::test
