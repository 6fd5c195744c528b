// strategy_run.cpp: a strategy's proposals, evaluated. Interface: strategy_run.h.
#include "strategies/strategy_run.h"

#include <cmath>

#include "base/error.h"
#include "transforms/transform_precision.h"

namespace lathe {
namespace {

class SearchRun {
 public:
  SearchRun(const StrategyInput& input, SearchLaboratory& laboratory)
      : input_(input), laboratory_(laboratory) {}

  SearchReport run(const Strategy& strategy) {
    auto searcher = strategy.begin(input_);
    while (auto proposal = searcher->propose()) {
      if (laboratory_.stop && laboratory_.stop()) {
        report_.stopped = true;
        break;
      }
      Trial trial =
          proposal->exact ? tried_or_waiting(proposal->assignment) : judged(proposal->assignment);
      count(trial);
      if (trial.outcome == Trial::Outcome::measured) keep(proposal->assignment, trial);
      if (laboratory_.progress) laboratory_.progress(trial, report_.tried);
      searcher->observe(observation_of(trial));
    }
    if (waits_) throw JobsWait();
    return std::move(report_);
  }

 private:
  StrategyInput input_;
  SearchLaboratory& laboratory_;
  SearchReport report_;
  bool waits_ = false;  // for what is measured elsewhere

  /// Evaluates a network. If it is measured elsewhere, the others are tried before anybody waits.
  Trial tried_or_waiting(const Assignment& assignment) {
    try {
      return tried(assignment);
    } catch (const JobsWait&) {
      waits_ = true;
      Trial trial = trial_of(assignment);
      trial.outcome = Trial::Outcome::failed;
      trial.reason = "it is not measured yet";
      return trial;
    }
  }

  Trial trial_of(const Assignment& assignment) const {
    FirstJudgement first = judge_first(input_.rule, input_.space, input_.tables, assignment);
    Trial trial{.subject = "network",
                .recipe = print(recipe_of(input_.space, assignment)),
                .details = {{"first_order",
                             {{"accepted", first.accepted},
                              {"time", first.time},
                              {"log_ratio", first.log_ratio},
                              {"predicted", first.predicted},
                              {"unknown", first.unknown}}},
                            {"macs", macs_of(input_.space, assignment)},
                            {"weights", weights_of(input_.space, assignment)}}};
    if (!input_.rule.caveat.empty()) trial.details["first_order"]["caveat"] = input_.rule.caveat;
    return trial;
  }

  /// Returns what the tables say of a network.
  Trial judged(const Assignment& assignment) {
    Trial trial = trial_of(assignment);
    if (auto known = laboratory_.journal.find("network", trial.recipe)) return *known;
    FirstJudgement first = judge_first(input_.rule, input_.space, input_.tables, assignment);
    bool within = is_within(input_, assignment);
    trial.outcome = first.accepted && within ? Trial::Outcome::judged : Trial::Outcome::refused;
    trial.reason = first.accepted && !within ? "it is beyond a limit" : first.reason;
    laboratory_.journal.add(trial);
    return trial;
  }

  /// Evaluates a network exactly and, if it passes, measures it.
  Trial tried(const Assignment& assignment) {
    Trial trial = trial_of(assignment);
    auto known = laboratory_.journal.find("network", trial.recipe);
    if (known && known->details.contains("verdict")) return *known;
    try {
      evaluate(trial, recipe_of(input_.space, assignment));
    } catch (const UserError& error) {
      trial.outcome = Trial::Outcome::failed;
      trial.reason = error.what();
      trial.details["verdict"] = nullptr;
    }
    laboratory_.journal.add(trial);
    return trial;
  }

  void evaluate(Trial& trial, const NetworkRecipe& recipe) {
    GateVerdict verdict = judge(input_.rule, laboratory_.compare(recipe));
    trial.details["verdict"] = to_json(verdict);
    if (!verdict.accepted) {
      trial.outcome = Trial::Outcome::refused;
      trial.reason = verdict.reason;
      return;
    }
    NetworkTimes times = laboratory_.bench.measure_made(recipe, [&] {
      Graph timed = initialised(transformed(laboratory_.timed, recipe), laboratory_.seed);
      return laboratory_.finish ? laboratory_.finish(timed, recipe) : timed;
    });
    trial.outcome = times.failure.empty() ? Trial::Outcome::measured : Trial::Outcome::failed;
    trial.reason = times.failure;
    trial.time = times.time;
    trial.own = times.own;
    trial.details["spread"] = times.spread;
    if (times.failure.empty()) {
      trial.details["checks"] = to_json(times.checks);
      trial.details["original_checks"] = to_json(times.own_checks);
    }
    if (times.failure.empty() && times.time > input_.limits.time) {
      trial.outcome = Trial::Outcome::refused;
      trial.reason = "it is slower than the constraint allows";
    }
    if (trial.outcome == Trial::Outcome::measured) {
      judge_precision(trial, recipe, std::move(verdict));
    }
  }

  /// Judges a network by what it loses by its precision, too. That takes time: a network that is
  /// slower than what was found is not worth it.
  void judge_precision(Trial& trial, const NetworkRecipe& recipe, GateVerdict verdict) const {
    bool in_time = std::isfinite(input_.limits.time);
    bool says_precision = without_precisions(recipe) != recipe;
    if (says_precision && !in_time && report_.best && trial.time >= report_.best->time) {
      trial.outcome = Trial::Outcome::refused;
      trial.reason = "another precision is faster";
      return;
    }
    if (!laboratory_.points_of_precision) return;
    verdict =
        with_precision(input_.rule, std::move(verdict), laboratory_.points_of_precision(recipe));
    trial.details["verdict"] = to_json(verdict);
    if (verdict.accepted) return;
    trial.outcome = Trial::Outcome::refused;
    trial.reason = verdict.reason;
  }

  void count(const Trial& trial) {
    ++report_.tried;
    bool accepted = trial.time > 0 && !trial.recipe.empty();
    if (accepted) report_.fastest_accepted = std::min(report_.fastest_accepted, trial.time);
    if (trial.outcome == Trial::Outcome::refused) ++report_.refused;
    if (trial.outcome == Trial::Outcome::failed) ++report_.failed;
    if (!trial.reason.empty()) ++report_.reasons[trial.reason];
  }

  void keep(const Assignment& assignment, const Trial& trial) {
    report_.passed.push_back({assignment, recipe_of(input_.space, assignment), trial.own,
                              trial.time, trial.details.value("spread", 0.0),
                              trial.details["verdict"], checks_of(trial, "checks"),
                              checks_of(trial, "original_checks")});
    const Winner& last = report_.passed.back();
    // The original is no find, though it may seem faster than itself by a hair.
    if (last.recipe.empty()) return;
    if (!report_.best || is_better(last, *report_.best)) report_.best = last;
  }

  /// Returns what was compared; nothing of a trial that does not say.
  static std::optional<NetworkChecks> checks_of(const Trial& trial, const char* which) {
    if (!trial.details.contains(which)) return std::nullopt;
    return network_checks_from_json(trial.details[which]);
  }

  /// Is one network that passed a better winner than another: faster, or, where the time is given,
  /// more accurate?
  bool is_better(const Winner& a, const Winner& b) const {
    if (std::isfinite(input_.limits.time)) {
      return a.verdict.value("predicted", 0.0) > b.verdict.value("predicted", 0.0);
    }
    // What else runs makes times longer, never shorter. The ratio to the original's time would be
    // too good if that was disturbed.
    return a.time < b.time;
  }

  static Observation observation_of(const Trial& trial) {
    const nlohmann::json& first = trial.details["first_order"];
    bool exact = trial.details.contains("verdict") && trial.details["verdict"].is_object();
    Observation result;
    result.accepted =
        trial.outcome == Trial::Outcome::measured || trial.outcome == Trial::Outcome::judged;
    if (trial.outcome == Trial::Outcome::failed) result.failure = trial.reason;
    result.time = trial.time > 0 ? trial.time : first["time"].get<double>();
    result.log_ratio = exact ? std::log(trial.details["verdict"]["ratio"].get<double>())
                             : first["log_ratio"].get<double>();
    result.predicted = exact && trial.details["verdict"].contains("predicted")
                           ? trial.details["verdict"]["predicted"].get<double>()
                           : first["predicted"].get<double>();
    if (exact) trial.details["verdict"]["layers"].get_to(result.layers);
    return result;
  }
};

}  // namespace

SearchReport run_search(const Strategy& strategy, const StrategyInput& input,
                        SearchLaboratory& laboratory) {
  return SearchRun(input, laboratory).run(strategy);
}

nlohmann::json to_json(const GateVerdict& verdict) {
  nlohmann::json json{
      {"accepted", verdict.accepted}, {"reason", verdict.reason}, {"ratio", verdict.ratio}};
  if (verdict.sure) json["sure"] = *verdict.sure;
  if (verdict.interval) json["interval"] = {verdict.interval->low, verdict.interval->high};
  json["layers"] = nlohmann::json::object();
  for (const LayerMove& layer : verdict.layers) json["layers"][layer.layer] = layer.log_ratio;
  if (verdict.predicted) {
    json["predicted"] = verdict.predicted->points;
    json["uncertainty"] = verdict.predicted->deviation;
    Interval interval = verdict.predicted->interval();
    json["prediction"] = {interval.low, interval.high};
  }
  if (!verdict.caveat.empty()) json["caveat"] = verdict.caveat;
  return json;
}

}  // namespace lathe
