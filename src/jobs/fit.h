// Weights for a changed network from the trained original, as a job: what it knows before training.
//
//   FitJobOptions options{.network = {.network = "model.onnx", .recipes = {"winner.recipe"}},
//                         .data = "cifar10:/data/cifar10"};
//   FitResult found = fit_network(options);
//   found.original.top1(), found.sliced.top1(), found.fitted.top1()         93.2, 11.0, 68.4
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "capacity/fit.h"
#include "jobs/evaluate.h"

namespace lathe {

/// Samples that weights are fitted to, unless the user says otherwise.
inline constexpr long fitted_samples = 1024;

struct FitJobOptions {
  NetworkArguments network;  ///< with the recipes that change it
  std::string data;          ///< as load_dataset() reads it
  Normalize normalize = Normalize::none;
  long samples = fitted_samples;  ///< that weights are fitted to: some that train.py trains on
  long validate = 2000;  ///< that accuracies are counted on: some that it validates with; 0: none
  double ridge = FitOptions().ridge;
  int threads = 0;  ///< 0: one for each processor
};

struct FitResult {
  Fit fit;
  /// Of the original, of the changed network with the weights that the steps left it, and fitted.
  std::optional<AnswerCounts> original, sliced, fitted;
  /// The network compared with the original by what rules for trained networks may read: the values
  /// of all forms of each metric.
  std::map<std::string, std::map<std::string, double>> features = {};
};

/// Returns the first samples of a dataset in minibatches, in the form that the network reads.
std::vector<Array> minibatches_of(const Dataset& data, const Graph& network, long samples);

/// Returns the steps of a recipe that put channels into another order, and nothing else: exact
/// ones.
NetworkRecipe orders_in(const NetworkRecipe& recipe);

/// Fits the weights of "network" with a recipe applied.
Fit fit_recipe(const Graph& network, const NetworkRecipe& recipe, const Dataset& data, long samples,
               const FitOptions& options);

/// Counts the answers of a network, which may be for any number of samples, for the first of the
/// data.
AnswerCounts validated(const Graph& network, const Dataset& data, long samples, int threads,
                       const JobListener& listener = {});

/// Fits, and counts the answers before and after. Fails unless the network is trained.
FitResult fit_network(const FitJobOptions& options, const JobListener& listener = {});

/// Converts what was found to JSON, without the network.
nlohmann::json to_json(const FitResult& found);

}  // namespace lathe
