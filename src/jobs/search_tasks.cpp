// search_tasks.cpp: see search_tasks.h.
#include "jobs/search_tasks.h"

#include "base/error.h"
#include "base/json_reason.h"
#include "compile/embedded.h"
#include "compile/tuned.h"
#include "search/task_forms.h"

namespace lathe {
namespace {

using Json = nlohmann::json;

constexpr size_t most_loaded = 2;  // searches: each has a network, and what its layers read

Json to_json(const NetworkArguments& network) {
  Json json{{"network", network.network},
            {"shapes", network.shapes},
            {"apply", network.recipes},
            {"batch", network.model.batch},
            {"seed", network.seed},
            {"classes", nullptr},
            {"size", nullptr}};
  if (network.model.classes) json["classes"] = *network.model.classes;
  if (network.model.size) json["size"] = *network.model.size;
  return json;
}

NetworkArguments network_in(const Json& json) {
  NetworkArguments network;
  json.at("network").get_to(network.network);
  json.at("shapes").get_to(network.shapes);
  json.at("apply").get_to(network.recipes);
  json.at("batch").get_to(network.model.batch);
  json.at("seed").get_to(network.seed);
  if (!json.at("classes").is_null()) network.model.classes = json["classes"].get<long>();
  if (!json.at("size").is_null()) network.model.size = json["size"].get<long>();
  return network;
}

}  // namespace

Json to_json(const TaskSearch& search) {
  const ScoreArguments& score = search.score;
  return {{"network", to_json(score.network)},
          {"data", score.data},
          {"normalize", score.normalize},
          {"hook", score.hook},
          {"loss", score.loss},
          {"samples", score.samples},
          {"seeds", score.seeds},
          {"double", score.is_double},
          {"memory", score.memory},
          {"max_error", score.max_error == any_error ? Json() : Json(score.max_error)},
          {"rule", to_json(search.rule)},
          {"threads", search.threads}};
}

TaskSearch task_search_from_json(const Json& json) {
  TaskSearch search;
  ScoreArguments& score = search.score;
  score.network = network_in(json.at("network"));
  json.at("data").get_to(score.data);
  json.at("normalize").get_to(score.normalize);
  json.at("hook").get_to(score.hook);
  json.at("loss").get_to(score.loss);
  json.at("samples").get_to(score.samples);
  json.at("seeds").get_to(score.seeds);
  json.at("double").get_to(score.is_double);
  json.at("memory").get_to(score.memory);
  if (!json.at("max_error").is_null()) json["max_error"].get_to(score.max_error);
  search.rule = rule_from_json(json.at("rule"));
  json.at("threads").get_to(search.threads);
  return search;
}

Json about_this_machine() {
  Target target = native_target();
  return {{"version", lathe_version()},
          {"architecture", fmt::format("{}, caches of {} and {} KiB", full_name(target),
                                       target.cpu.l1_bytes >> 10, target.cpu.l2_bytes >> 10)},
          {"machine", tuned_target(target)},
          {"target", full_name(target)},
          {"caches", {target.cpu.l1_bytes, target.cpu.l2_bytes}}};
}

Target target_of_machine(const Json& about) {
  Target target = target_named(about.at("target").get<std::string>());
  target.cpu.l1_bytes = about.at("caches").at(0);
  target.cpu.l2_bytes = about.at("caches").at(1);
  return target;
}

SearchTasks::Loaded& SearchTasks::load(const Json& search) {
  std::string about = search.dump();
  auto known = std::find_if(loaded_.begin(), loaded_.end(),
                            [&](const Loaded& each) { return each.about == about; });
  if (known == loaded_.end()) {
    Loaded loaded{about, task_search_from_json(search)};
    loaded.search.score.threads = threads_;
    loaded_.push_front(std::move(loaded));
    if (loaded_.size() > most_loaded) loaded_.pop_back();
  } else {
    loaded_.splice(loaded_.begin(), loaded_, known);
  }
  return loaded_.front();
}

SearchJudge& SearchTasks::judge_of(Loaded& loaded) const {
  if (!loaded.judge) loaded.judge = judge_for(loaded.search.score, loaded.search.rule);
  return *loaded.judge;
}

Json SearchTasks::scored_layers(Loaded& loaded, const Json& task) const {
  std::vector<LayerQuestion> questions;
  for (const Json& each : task.at("layers")) questions.push_back(question_from_json(each));
  Json changes(Json::array_t(questions.size()));
  LayerAnswers answers;
  answers.wanted = [](size_t) { return true; };
  // Each writes its own place.
  answers.tell = [&](size_t i, const std::optional<LayerChange>& change) {
    if (change) changes[i] = to_json(*change);
  };
  judge_of(loaded).layers->change_all(questions, threads_, answers);
  return {{"changes", changes}};
}

Json SearchTasks::measured(Loaded& loaded, const std::string& recipe) {
  const TaskSearch& search = loaded.search;
  uint64_t seed = search.score.network.seed;
  if (!loaded.bench) {
    loaded.network = load_network(search.score.network);
    BenchOptions how;
    how.target = native_target();
    how.threads = search.threads;
    how.max_error = search.score.max_error;
    loaded.bench = std::make_unique<NetworkBench>(initialised(loaded.network, seed), how);
  }
  // Another order of its channels, which a trained network gets, takes no other time.
  Graph changed;
  try {
    changed = initialised(transformed(loaded.network, parse_network_recipe(recipe)), seed);
  } catch (const UserError& error) {
    NetworkTimes times;
    times.failure = error.what();
    return to_json(times);
  }
  return to_json(loaded.bench->measure(changed));
}

Json SearchTasks::done(const Json& task) {
  auto what = task.at("do").get<std::string>();
  Loaded& loaded = load(task.at("search"));
  if (what == "layers") return scored_layers(loaded, task);
  if (what == "ready") {
    judge_of(loaded).layers->original_scores();
    return Json::object();
  }
  std::string recipe = task.at("recipe");
  if (what == "measure") return measured(loaded, recipe);
  if (what != "network")
    fail("there is no task '{}'; there are ready, layers, network, measure", what);
  return {{"comparisons", to_json(judge_of(loaded).compare(parse_network_recipe(recipe)))}};
}

Json SearchTasks::run(const Json& task) {
  try {
    return done(task);
  } catch (const UserError& error) {
    return {{"failed", error.what()}};
  } catch (const Json::exception& error) {
    return {{"failed", plain_reason(error)}};
  }
}

}  // namespace lathe
