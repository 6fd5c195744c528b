// Rules of the gate: weights and bands, and where they are from.
//
//   GateRule rule = find_rule("two-sided");          the default
//   GateRule own = find_rule("rule.json");           what lathe calibrate --write-rule wrote
//   suited(rule, network, "cifar10").caveat          "" if it was fitted to such a network
//
// A rule predicts the change of accuracy by a sum of features. All features are 0 for the original,
// and a rule has no intercept: a network that nothing changed is predicted to change by 0.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "metrics/metric.h"

namespace lathe {

/// A number that compares a candidate with its original before either is trained.
struct Feature {
  std::string metric;
  Form form = Form::distance;

  friend bool operator==(const Feature&, const Feature&) = default;
};

/// What networks were made of, and how they were trained. This is what a rule is good for.
struct TrainingOrigin {
  std::string network;    ///< the original's name: "resnet34-cifar"
  std::string structure;  ///< structure_of() the original
  std::string dataset;    ///< "cifar10"
  long epochs = 0;
  std::string training;  ///< what else there is to say: "from scratch"
  /// Names and structures of further originals.
  std::map<std::string, std::string> others = {};

  friend bool operator==(const TrainingOrigin&, const TrainingOrigin&) = default;
};

/// Prints an origin: "resnet34-cifar on cifar10, 12 epochs, from scratch".
std::string print(const TrainingOrigin& origin);

/// Returns a hash of a network's structure. Names, weights and the number of samples do not count.
std::string structure_of_network(const Graph& network);

/// How candidates are judged.
struct GateRule {
  std::string name;    ///< "two-sided", "paper"
  std::string source;  ///< how well it does, in words
  /// Is it the published rule? That refuses a network whose score is below the original's.
  bool is_paper = false;
  TrainingOrigin origin;            ///< of the networks that it was fitted to
  std::vector<std::string> tables;  ///< the names of the tables that hold them

  /// How far scores may move to either side: |log(score / original's)|, of the network and of each
  /// layer, by the metric of the first feature.
  double network_band = 0, layer_band = 0;

  /// The expected change of accuracy, in points, is the sum of weights * features, give or take
  /// "deviation". The accuracy may fall by "tolerance".
  std::vector<Feature> features;
  std::vector<double> weights;
  double deviation = 0, tolerance = 0.5;

  /// Some metrics cannot be told from layers alone (Contribution::first_order). To first order,
  /// they are taken to add this share of what the other metrics say, give or take
  /// "beyond_deviation".
  double beyond_share = 0, beyond_deviation = 0;

  /// Why the prediction is not calibrated for the network at hand; "" if it is. Set by suited().
  std::string caveat;

  /// Returns the metrics that the rule reads. The one that has bands is the first.
  std::vector<Metric> metrics() const;
  /// Returns the features whose metrics cannot be told from layers alone.
  std::vector<std::string> unknown_to_first_order() const;
};

/// Returns the rule of a name, "two-sided" (the default) or "paper", or the rule in a file. The
/// error for anything else says what there is.
GateRule find_rule(const std::string& name_or_file);

/// Returns the rule with the caveat that it needs if it judges networks made of "original", for a
/// dataset. It needs none if it was fitted to such networks.
GateRule suited(GateRule rule, const Graph& original, const std::string& dataset);

/// Converts a rule to and from JSON. JSON that is no rule is refused, with the reason.
nlohmann::json to_json(const GateRule& rule);
GateRule rule_from_json(const nlohmann::json& json);

/// Converts an origin to and from JSON.
nlohmann::json to_json(const TrainingOrigin& origin);
TrainingOrigin origin_from_json(const nlohmann::json& json);

}  // namespace lathe
