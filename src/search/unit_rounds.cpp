// unit_rounds.cpp: rounds of candidates. Interface: unit_rounds.h.
#include "search/unit_rounds.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/parallel.h"
#include "compile/objects.h"
#include "search/isolated.h"
#include "search/job_record.h"
#include "search/sampled_outputs.h"
#include "transforms/transform_toom.h"

namespace lathe {
namespace {

using Json = nlohmann::json;

/// A choice must take this share of the default's time to be found.
constexpr double enough_of_own = 0.98;

/// What rounding may change of outputs, as a part of the root mean square of sums over them: in
/// f32, and as a multiple of the last digit where a type has fewer. CPUs sum in such a type, too.
constexpr double rounding = 1e-3, rounding_of_digit = 8;

/// Candidates that one process compiles, and the seconds that it has for each, and for a network.
constexpr size_t made_at_once = 8;
constexpr double seconds_for_each = 20, seconds_for_network = 600;

/// So many of the best are measured again in the last round.
constexpr size_t best_again = 3;

std::string short_name(const std::string& text) { return fingerprint(text).substr(0, 16); }

/// Says what is wrong with a result, or why it does not count; "" if it does.
std::string problem_of(const JobResult& result, const Json& entry) {
  if (!result.failure.empty()) return result.failure;
  std::string unchecked = entry.value("unchecked", "");
  if (!unchecked.empty()) return "it cannot be checked: " + unchecked;
  if (result.off < 0) return "it cannot be checked: its outputs were not compared";
  double most = rounding + entry.value("error", 0.0);
  if (result.off <= most) return "";
  return fmt::format("it is wrong: its outputs are off by {:.2g} of their root mean square",
                     result.off);
}

/// Returns what rounding to the types of a unit's tensors may change, beyond that of f32.
double rounding_in(const std::vector<Tensor>& tensors) {
  double most = 0;
  for (const Tensor& tensor : tensors) {
    bool is_short = is_float(tensor.element) && is_wider(Element::f32, tensor.element);
    if (is_short) most = std::max(most, unit_of(tensor.element));
  }
  return rounding_of_digit * 2 * most;
}

Choice choice_of(const Json& entry) {
  auto settings = parse_settings(entry["settings"].dump());
  if (!settings) fail("the plan of the jobs is damaged: give --again");
  return {entry["schedule"].get<std::string>(), *settings};
}

}  // namespace

/// What was compiled for one choice. Nothing: the template's own.
struct UnitRounds::Candidate {
  std::optional<Choice> choice;
  std::string code, failure, record;
  double error = 0;   ///< that its algebraic steps state
  bool seen = false;  ///< is it no candidate: the same kernels as another, or not as chosen?
};

UnitRounds::UnitRounds(JobFolder& folder, const Target& target, TunedStore& store,
                       UnitRoundsOptions options)
    : folder_(folder), target_(target), store_(store), options_(std::move(options)) {
  target_.workers = options_.threads;
  if (folder_.plan.is_null()) folder_.plan = Json::object();
  if (!folder_.plan.contains("round")) folder_.plan["round"] = 0;
  if (!folder_.plan.contains("units")) folder_.plan["units"] = Json::array();
  if (!folder_.plan.contains("networks")) folder_.plan["networks"] = Json::object();
}

int UnitRounds::round() const { return folder_.plan["round"].get<int>(); }

size_t UnitRounds::jobs() const {
  auto has_job = [](const Json& entry) { return !entry.value("job", "").empty(); };
  const Json& units = folder_.plan["units"];
  return static_cast<size_t>(std::count_if(units.begin(), units.end(), has_job)) +
         folder_.plan["networks"].size();
}

size_t UnitRounds::missing() const {
  size_t count = 0;
  for (const Json& entry : folder_.plan["units"]) {
    std::string job = entry.value("job", "");
    count += !job.empty() && folder_.result(job) == nullptr ? 1 : 0;
  }
  for (const auto& [name, job] : folder_.plan["networks"].items()) {
    count += folder_.result(job.get<std::string>()) == nullptr ? 1 : 0;
  }
  return count;
}

TunedFor UnitRounds::about(const std::string& unit) const {
  Target target = target_;
  if (auto device = folder_.device()) target.gpu.model = device->model;
  return {unit, tuned_target(target), options_.threads};
}

const UnitOwn* UnitRounds::own(const std::string& unit) const {
  auto found = own_.find(unit);
  return found == own_.end() ? nullptr : &found->second;
}

void UnitRounds::take_in() {
  own_.clear();
  tried_ = failed_ = 0;
  std::map<std::pair<std::string, int>, double> own;  // by unit and round
  for (const Json& entry : folder_.plan["units"]) {
    if (entry.contains("schedule")) continue;
    std::string unit = entry["unit"], job = entry["job"];
    const JobResult* result = job.empty() ? nullptr : folder_.result(job);
    if (result == nullptr && !job.empty()) continue;
    std::string problem =
        job.empty() ? entry["failure"].get<std::string>() : problem_of(*result, entry);
    // What cannot be checked has a time all the same: it is the default.
    bool runs = result != nullptr && result->failure.empty() && !problem.starts_with("it is wrong");
    own_[unit] = {runs ? result->time : 0, runs ? "" : problem};
    if (runs) own[{unit, entry["round"].get<int>()}] = result->time;
  }
  std::map<std::string, Found> best;
  std::vector<std::pair<TunedFor, Measurement>> measured;
  for (const Json& entry : folder_.plan["units"]) {
    if (!entry.contains("schedule")) continue;
    std::string unit = entry["unit"], job = entry["job"], failure = entry["failure"];
    const JobResult* result = job.empty() ? nullptr : folder_.result(job);
    if (result == nullptr && failure.empty()) continue;
    if (result != nullptr) failure = problem_of(*result, entry);
    auto beside = own.find({unit, entry["round"].get<int>()});
    double time = failure.empty() ? result->time : 0;
    double of_own = beside == own.end() ? 0 : beside->second;
    Choice choice = choice_of(entry);
    measured.push_back({about(unit), {choice, entry["code"], time, of_own, failure}});
    ++tried_;
    failed_ += failure.empty() ? 0 : 1;
    if (!failure.empty() || of_own <= 0) continue;
    auto [at, is_first] = best.try_emplace(unit, Found{choice, time, of_own});
    Found& now = at->second;
    // Of what was measured again the later counts: the plan is in order.
    bool better = time / of_own < now.time / now.own;
    if (better || now.choice == choice) now = {choice, time, of_own};
  }
  store_.add_all(measured);
  for (const auto& [unit, found] : best) {
    if (found.time < enough_of_own * found.own) store_.set_found(about(unit), found);
  }
}

std::vector<Choice> UnitRounds::proposals(const Share& share, Kind kind) {
  UnitSearch& search = *share.search;
  Random random(options_.seed, fmt::format("round {} of {}", round() + 1, search.work().key));
  auto space_of = [this](const Unit& unit) {
    Context context;
    return fitting_schedules(context, unit, target_);
  };
  std::vector<Choice> choices;
  if (kind == Kind::last) choices = search.best(best_again);
  while (choices.size() < share.count) {
    auto choice = kind == Kind::broad ? search.propose_broadly(space_of, store_, random)
                                      : search.propose(space_of, store_, random);
    if (!choice) break;
    choices.push_back(*choice);
  }
  return choices;
}

std::vector<UnitRounds::Candidate> UnitRounds::made(
    const UnitSearch& search, const std::vector<std::optional<Choice>>& choices) const {
  const Unit& unit = search.work();
  auto compile_one = [&](const std::optional<Choice>& choice) -> Json {
    CompileOptions options;
    options.target = target_;
    options.cache = false;
    if (choice) options.choose = [&](const std::string&) { return choice; };
    try {
      auto made = make_unit(unit, options);
      if (choice && !made->code.as_chosen) return {{"seen", true}};
      std::string code = name_of_kernels(made->code);
      std::string name = "u" + short_name(unit.key + code + tuned_target(target_)) +
                         fmt::format("r{}", round() + 1);
      return {{"code", code},
              {"error", algebraic_error(unit, made->code.recipe) + rounding_in(made->code.tensors)},
              {"record", unit_job(name, unit, *made, target_, options_.network_weights)}};
    } catch (const std::exception& error) {
      return {{"failure", error.what()}};
    }
  };
  auto work = [&] {
    std::vector<Json> answers(choices.size());
    for_each_index(choices.size(), processors(),
                   [&](size_t i) { answers[i] = compile_one(choices[i]); });
    // Records have bytes of constants, which no text could hold.
    std::string bytes;
    Json::to_cbor(Json(answers), bytes);
    return bytes;
  };
  Outcome outcome = isolated(work, seconds_for_each * static_cast<double>(choices.size()));
  std::vector<Candidate> result;
  if (!outcome.failure.empty() && choices.size() > 1) {
    // One of them is at fault: each gets a process of its own.
    for (const auto& choice : choices) {
      for (Candidate& candidate : made(search, {choice})) result.push_back(std::move(candidate));
    }
    return result;
  }
  Json answers = outcome.failure.empty() ? Json::from_cbor(outcome.result)
                                         : Json::array({Json{{"failure", outcome.failure}}});
  for (size_t i = 0; i < choices.size(); ++i) {
    const Json& json = answers[i];
    Candidate candidate{choices[i],
                        json.value("code", ""),
                        json.value("failure", ""),
                        json.value("record", ""),
                        json.value("error", 0.0),
                        json.value("seen", false)};
    if (candidate.code.empty() && choices[i]) {
      candidate.code = "failed " + choices[i]->schedule + print_settings(choices[i]->settings);
    }
    result.push_back(std::move(candidate));
  }
  return result;
}

bool UnitRounds::add_expected(const Unit& unit) {
  if (!expected_.insert(unit.key).second) return true;
  auto work = [&] {
    ExpectedOutputs expected = expected_outputs(unit);
    return expected.unchecked.empty() ? "r" + expected.records : "u" + expected.unchecked;
  };
  Outcome outcome = isolated(work, seconds_for_each);
  bool has = outcome.failure.empty() && outcome.result.front() == 'r';
  if (has) return folder_.add(outcome.result.substr(1));
  folder_.plan["unchecked"][unit.key] =
      outcome.failure.empty() ? outcome.result.substr(1) : outcome.failure;
  return true;
}

std::string UnitRounds::unchecked(const std::string& unit) const {
  if (!folder_.plan.contains("unchecked")) return "";
  return folder_.plan["unchecked"].value(unit, "");
}

void UnitRounds::add(const UnitSearch& search, std::vector<Candidate> candidates) {
  const std::string& unit = search.work().key;
  std::string reason = unchecked(unit);
  for (Candidate& candidate : candidates) {
    if (candidate.seen) continue;
    Json entry{{"unit", unit},
               {"code", candidate.code},
               {"round", round() + 1},
               {"failure", candidate.failure},
               {"job", ""}};
    if (candidate.error > 0) entry["error"] = candidate.error;
    if (!reason.empty()) entry["unchecked"] = reason;
    if (candidate.choice) {
      entry["schedule"] = candidate.choice->schedule;
      entry["settings"] = candidate.choice->settings;
    }
    if (!candidate.record.empty()) {
      if (!folder_.add(candidate.record)) continue;  // it is full
      constexpr size_t before = 4;                   // "job "
      entry["job"] = candidate.record.substr(before, candidate.record.find(' ', before) - before);
    }
    folder_.plan["units"].push_back(std::move(entry));
  }
}

bool UnitRounds::prepare(const std::vector<Share>& shares, Kind kind) {
  size_t all = 0, done = 0;
  for (const Share& share : shares) all += share.count + 1;  // and the template's own
  for (const Share& share : shares) {
    std::vector<std::optional<Choice>> choices{std::nullopt};
    for (const Choice& choice : proposals(share, kind)) choices.emplace_back(choice);
    std::set<std::string> known = share.search->codes();
    std::vector<Choice> again =
        kind == Kind::last ? share.search->best(best_again) : std::vector<Choice>();
    if (!add_expected(share.search->work())) break;
    for (size_t at = 0; at < choices.size(); at += made_at_once) {
      if (options_.stop && options_.stop()) return false;
      size_t end = std::min(at + made_at_once, choices.size());
      auto from = choices.begin();
      std::vector<Candidate> candidates =
          made(*share.search, {from + static_cast<long>(at), from + static_cast<long>(end)});
      for (Candidate& candidate : candidates) {
        bool repeated = candidate.choice &&
                        std::find(again.begin(), again.end(), *candidate.choice) != again.end();
        bool is_new = candidate.code.empty() || known.insert(candidate.code).second;
        candidate.seen = candidate.seen || (!is_new && !repeated && candidate.choice.has_value());
      }
      add(*share.search, std::move(candidates));
      done += end - at;
      if (options_.progress) options_.progress(std::min(done, all), all);
    }
  }
  return true;
}

void UnitRounds::add_network(const std::string& name, const Graph& graph,
                             const CompileOptions& how) {
  auto work = [&] { return network_job("@", compile(graph, how)); };
  Outcome outcome = isolated(work, seconds_for_network);
  if (!outcome.failure.empty()) fail("the network cannot be compiled: {}", outcome.failure);
  std::string job = "n" + short_name(name + outcome.result);
  std::string record = "job " + job + outcome.result.substr(std::string("job @").size());
  if (!folder_.add(record)) {
    fail("a network has more than the {} MiB that jobs may have: give --most",
         folder_.most_bytes() >> 20);
  }
  folder_.plan["networks"][name] = job;
}

bool UnitRounds::has_network(const std::string& name) const {
  return folder_.plan["networks"].contains(name);
}

const JobResult* UnitRounds::network(const std::string& name) const {
  if (!has_network(name)) return nullptr;
  return folder_.result(folder_.plan["networks"][name].get<std::string>());
}

void UnitRounds::write() {
  folder_.plan["round"] = round() + 1;
  folder_.write(fmt::format("round{}", round()));
  expected_.clear();
}

}  // namespace lathe
