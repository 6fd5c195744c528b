// fit.cpp: see fit.h.
#include "jobs/fit.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/parallel.h"
#include "capacity/kept.h"
#include "program/rebatch.h"
#include "transforms/transform.h"

namespace lathe {
namespace {

constexpr long minibatch = 32;  // samples that run at a time

/// Returns all that a rule for trained networks may look at, by metric and form.
std::map<std::string, std::map<std::string, double>> features_of(const Graph& original,
                                                                 const FitResult& found) {
  std::map<std::string, std::map<std::string, double>> result;
  std::string list = "kept,macs,params,units,inputs,neighbours,connected,across";
  double gained = 0;
  if (found.fitted) {
    list += ",untuned";
    gained = found.fitted->top1() - found.original->top1();
  }
  for (const Comparison& comparison :
       compared_trained(original, found.fit, parse_metrics(list), gained)) {
    for (const MetricForm& each : find_metric(comparison.metric).contributes.forms) {
      result[comparison.metric][name_of(each.form)] =
          value_of({comparison.metric, each.form}, comparison);
    }
  }
  return result;
}

}  // namespace

std::vector<Array> minibatches_of(const Dataset& data, const Graph& network, long samples) {
  const Shape& shape = network.values[network.inputs.front()].type.shape;
  Dataset fitting = data.fitted({{InputForm{Shape(shape.begin() + 1, shape.end())}}, data.classes});
  long each = std::min({minibatch, samples, fitting.count});
  std::vector<Array> result;
  for (long first = 0; first + each <= std::min(samples, fitting.count); first += each) {
    result.push_back(fitting.images(first, each));
  }
  return result;
}

NetworkRecipe orders_in(const NetworkRecipe& recipe) {
  NetworkRecipe orders;
  for (const LayerRecipe& layer : recipe) {
    LayerRecipe only{layer.layers, {}};
    std::copy_if(layer.recipe.begin(), layer.recipe.end(), std::back_inserter(only.recipe),
                 [](const Step& step) {
                   return find_transform(step.name).kind == Transform::Kind::network;
                 });
    if (!only.recipe.empty()) orders.push_back(std::move(only));
  }
  return orders;
}

Fit fit_recipe(const Graph& network, const NetworkRecipe& recipe, const Dataset& data, long samples,
               const FitOptions& options) {
  return fitted(transformed(network, orders_in(recipe)), transformed(network, recipe),
                minibatches_of(data, network, samples), options);
}

AnswerCounts validated(const Graph& network, const Dataset& data, long samples, int threads,
                       const JobListener& listener) {
  long batch = std::min(minibatch, data.count);
  Runnable runnable = make_runnable(rebatched(initialised(network, 0), batch),
                                    {.network = {}, .target = native_target(), .threads = threads});
  return answers_of(runnable, data, samples, listener);
}

FitResult fit_network(const FitJobOptions& options, const JobListener& listener) {
  NetworkArguments plain = options.network;
  plain.recipes.clear();
  Graph original = load_network(plain);
  if (!is_trained(original)) {
    fail("'{}' has weights without data: there is nothing to fit to", plain.network);
  }
  NetworkRecipe recipe;
  for (const std::string& text : options.network.recipes) {
    for (LayerRecipe& layer : load_network_recipe("--apply", text)) recipe.push_back(layer);
  }
  int threads = options.threads > 0 ? options.threads : processors();
  auto progress = [&](size_t done, size_t all) {
    if (listener.is_stopped()) fail("stopped after {} of {} layers", done, all);
    listener(WorkDone{"layers fitted", done, all});
  };
  FitOptions how;
  how.target = native_target();
  how.ridge = options.ridge;
  how.threads = threads;
  how.progress = progress;
  FitResult result;
  result.fit =
      fit_recipe(original, recipe, load_dataset(options.data, Split::learnt, options.normalize),
                 options.samples, how);
  if (options.validate > 0) {
    Dataset data = load_dataset(options.data, Split::validation, options.normalize);
    auto counted = [&](const Graph& graph) {
      return validated(graph, data, options.validate, threads, listener);
    };
    result.original = counted(original);
    result.sliced = counted(transformed(original, recipe));
    result.fitted = counted(result.fit.network);
  }
  result.features = features_of(transformed(original, orders_in(recipe)), result);
  return result;
}

nlohmann::json to_json(const FitResult& found) {
  nlohmann::json layers = nlohmann::json::array(), result;
  for (const LayerFit& layer : found.fit.layers) {
    layers.push_back(
        {{"layer", layer.layer}, {"sliced", layer.before}, {"fitted", layer.unexplained}});
  }
  result = {{"layers", layers}, {"unfitted", found.fit.unfitted}, {"features", found.features}};
  if (found.original) {
    auto of = [](const AnswerCounts& counts) {
      return nlohmann::json{{"top1", counts.top1()}, {"loss", counts.loss}};
    };
    result["original"] = of(*found.original);
    result["sliced"] = of(*found.sliced);
    result["fitted"] = of(*found.fitted);
    result["images"] = found.original->samples;
  }
  return result;
}

}  // namespace lathe
