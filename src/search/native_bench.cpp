// native_bench.cpp: candidates and networks in child processes. Interface: native_bench.h.
//
// A candidate is compiled, checked and timed by a child. Before it is timed its outputs are
// compared with those of the template's own choice; before it can be the best, those of a smaller
// unit with the interpreter's. This process runs no code that it compiled.
#include "search/native_bench.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "search/isolated.h"
#include "search/measure.h"
#include "search/network_times.h"
#include "search/reduced.h"
#include "search/unit_network.h"

namespace lathe {
namespace {

using Json = nlohmann::json;

/// Seconds after which a candidate, or a whole network, is taken to hang.
constexpr double candidate_limit = 10, network_limit = 600;

/// Weights come from as far away as in the network, but not from further than this.
constexpr long far_away = 24L << 20;

/// What is so many times slower than the template's own choice is not looked at for long.
constexpr double hopeless = 1.2;

/// A first look at a candidate is short, and ends early where there is no hope. What seems better
/// is then measured until the median of its times is steady.
constexpr Turns quick_turns{0.12, 5, hopeless}, sure_turns{0.5, 11};

std::string compare_outputs(const UnitRunner& is, const UnitRunner& must, const Made& made) {
  size_t i = 0;
  for (const Tensor& tensor : made.code.tensors) {
    if (tensor.role != Role::output) continue;
    const auto &a = is.outputs()[i], &b = must.outputs()[i];
    ++i;
    if (tensor.element == Element::f32) {
      std::string wrong = difference(reinterpret_cast<const float*>(a.data()),
                                     reinterpret_cast<const float*>(b.data()), a.size() / 4);
      if (!wrong.empty()) return wrong;
    } else if (a != b) {
      return "its elements are others";
    }
  }
  return "";
}

/// Runs by which candidates without hope are told: the first has cold caches.
constexpr int first_runs = 2;

/// Returns the shortest of a few runs of each.
std::vector<double> least_times(UnitRunner& a, UnitRunner& b) {
  std::vector<double> least(2, std::numeric_limits<double>::infinity());
  for (int i = 0; i < first_runs; ++i) {
    for (size_t k : {0, 1}) {
      auto begin = std::chrono::steady_clock::now();
      (k == 0 ? a : b).run();
      std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
      least[k] = std::min(least[k], taken.count());
    }
  }
  return least;
}

class NativeBench : public TuneBench {
 public:
  NativeBench(const Graph& graph, const Target& target, int threads)
      : graph_(graph), target_(target), threads_(threads) {
    target_.workers = threads;
    for (const Value& value : graph.values) {
      if (value.data) weights_ += static_cast<long>(value.data->bytes().size());
    }
  }

  ScheduleSpace space_of(const Unit& unit) override {
    Context context;
    return fitting_schedules(context, unit, target_);
  }

  Tried try_choice(const Unit& unit, const std::optional<Choice>& best, const Choice& choice,
                   const std::set<std::string>& seen, Care care) override {
    std::shared_ptr<const Made> own = made_for(unit, std::nullopt);
    std::shared_ptr<const Made> current = best ? made_for(unit, best) : nullptr;
    auto work = [&] { return tried_text(unit, *own, current.get(), choice, seen, care); };
    Outcome outcome = isolated(work, candidate_limit);
    Tried tried;
    if (!outcome.failure.empty()) {
      // Its kernels have no name where it did not get so far; its choice stands for them.
      tried.code = "failed " + choice.schedule + print_settings(choice.settings);
      tried.failure = outcome.failure;
      return tried;
    }
    Json json = Json::parse(outcome.result);
    tried.code = json["code"];
    tried.seen = json["seen"];
    tried.failure = json["failure"];
    tried.own = json["own"];
    tried.best = json["best"];
    tried.time = json["time"];
    return tried;
  }

  Tried compare_units(const Unit& usual, const Unit& other) override {
    std::shared_ptr<const Made> own = made_for(usual, std::nullopt);
    Outcome outcome = isolated([&] { return compared_text(usual, *own, other); }, candidate_limit);
    Tried tried;
    tried.failure = outcome.failure;
    if (!outcome.failure.empty()) return tried;
    Json json = Json::parse(outcome.result);
    tried.failure = json["failure"];
    tried.own = json["own"];
    tried.time = json["time"];
    return tried;
  }

  std::vector<double> whole_times(const std::vector<TuneVariant>& variants) override {
    auto work = [&] { return Json(times_of_networks(compiled(variants), threads_)).dump(); };
    return answer(work).get<std::vector<double>>();
  }

  std::vector<std::map<std::string, double>> node_times(
      const std::vector<TuneVariant>& variants) override {
    auto work = [&] { return Json(times_of_nodes(compiled(variants), threads_)).dump(); };
    return answer(work).get<std::vector<std::map<std::string, double>>>();
  }

  double elapsed() override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  const Graph& graph_;
  Target target_;
  int threads_;
  long weights_ = 0;  // bytes, of the network
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::map<std::pair<std::string, std::optional<Choice>>, std::shared_ptr<const Made>> made_;

  static Json answer(const std::function<std::string()>& work) {
    Outcome outcome = isolated(work, network_limit);
    if (!outcome.failure.empty()) fail("the network cannot be measured: {}", outcome.failure);
    return Json::parse(outcome.result);
  }

  std::vector<Compiled> compiled(const std::vector<TuneVariant>& variants) const {
    std::vector<Compiled> result;
    for (const TuneVariant& variant : variants) {
      CompileOptions options;
      options.target = target_;
      options.choose = variant.choose;
      options.layouts = variant.layouts;
      result.push_back(compile(graph_, options));
    }
    return result;
  }

  CompileOptions options_for(const std::optional<Choice>& choice) const {
    CompileOptions options;
    options.target = target_;
    if (choice) options.choose = [choice](const std::string&) { return choice; };
    return options;
  }

  /// Returns the code of what was confirmed, or of the template's own choice.
  std::shared_ptr<const Made> made_for(const Unit& unit, const std::optional<Choice>& choice) {
    auto [at, is_new] = made_.try_emplace({unit.key, choice});
    if (is_new) at->second = make_unit(unit, options_for(choice));
    return at->second;
  }

  /// Compiles, checks and times a candidate: all of it in the child.
  std::string tried_text(const Unit& unit, const Made& own, const Made* best, const Choice& choice,
                         const std::set<std::string>& seen, Care care) const {
    Json json{{"code", ""}, {"seen", false}, {"failure", ""}, {"own", 0}, {"best", 0}, {"time", 0}};
    CompileOptions options = options_for(choice);
    options.cache = care == Care::sure;
    auto made = make_unit(unit, options);
    if (!made->code.as_chosen) return (json["seen"] = true, json.dump());
    std::string code = name_of_kernels(made->code);
    json["code"] = code;
    bool is_own = care == Care::quick && code == name_of_kernels(own.code);
    if (seen.contains(code) || is_own) return (json["seen"] = true, json.dump());
    std::string wrong = time_unit(unit, own, best, *made, care, json);
    bool better = json["time"].get<double>() < json["best"].get<double>();
    if (!wrong.empty()) json["failure"] = "it is wrong: " + wrong;
    if (wrong.empty() && better) json["failure"] = problem_of(unit, choice);
    return json.dump();
  }

  /// Compiles, times and, where it is faster, checks a unit in other layouts: in the child.
  std::string compared_text(const Unit& usual, const Made& own, const Unit& other) const {
    auto made = make_unit(other, options_for(std::nullopt));
    pin(threads_);
    std::vector<double> times =
        careful_times({{&own, random_data(usual)}, {made.get(), random_data(other)}}, Care::quick);
    bool faster = times.back() < times.front();
    std::string problem = faster ? problem_of(other, {made->code.schedule, {}}) : "";
    return Json{{"failure", problem}, {"own", times.front()}, {"time", times.back()}}.dump();
  }

  /// Says what the interpreter has against a candidate, or why it could not be asked; "" if it
  /// agrees.
  std::string problem_of(const Unit& unit, const Choice& choice) const {
    UnitComparison comparison = compare_any_size(unit, choice, target_);
    if (!comparison.wrong.empty()) return "it is wrong: " + comparison.wrong;
    if (!comparison.unchecked.empty()) return "it cannot be checked: " + comparison.unchecked;
    return "";
  }

  std::string time_unit(const Unit& unit, const Made& own, const Made* best, const Made& made,
                        Care care, Json& json) const {
    pin(threads_);
    UnitData data = random_data(unit);
    std::vector<double> times;
    {
      UnitRunner first(own, data, target_, threads_), last(made, data, target_, threads_);
      std::string wrong = compare_outputs(last, first, own);
      if (!wrong.empty()) return wrong;
      times = least_times(first, last);
    }
    if (care == Care::sure || times.back() < hopeless * times.front()) {
      std::vector<Timed> variants{{&own, data}};
      if (best != nullptr) variants.push_back({best, data});
      variants.push_back({&made, data});
      times = careful_times(variants, care);
    }
    json["own"] = times.front();
    json["best"] = times[times.size() - 2];
    json["time"] = times.back();
    return "";
  }

  /// Code, and what it runs on.
  struct Timed {
    const Made* made;
    UnitData data;
  };

  /// Returns the times of variants that take turns, the weights as far away as in the network.
  std::vector<double> careful_times(const std::vector<Timed>& variants, Care care) const {
    long once = std::max(1L, weight_bytes(*variants.front().made));
    long copies = std::clamp(std::min(weights_, far_away) / once, 1L, 3L);
    std::vector<std::unique_ptr<UnitRunner>> runners;
    std::vector<std::function<void()>> works;
    for (const auto& [made, data] : variants) {
      runners.push_back(std::make_unique<UnitRunner>(*made, data, target_, threads_, copies));
      works.emplace_back([runner = runners.back().get()] { runner->run(); });
    }
    return times_in_turn(works, care == Care::quick ? quick_turns : sure_turns);
  }
};

}  // namespace

std::unique_ptr<TuneBench> native_bench(const Graph& graph, const Target& target, int threads) {
  return std::make_unique<NativeBench>(graph, target, threads);
}

}  // namespace lathe
