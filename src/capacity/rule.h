// Rules of the gate: weights and bands, and where they are from.
//
//   GateRule rule = find_rule("two-sided");          the default
//   GateRule own = find_rule("rule.json");           what lathe calibrate --write-rule wrote
//   suited(rule, network, "cifar10").caveat          "" if it was fitted to such a network
//
// A rule predicts the change of accuracy by a sum of features. All features are 0 for the original,
// and a rule has no intercept: a network that nothing changed is predicted to change by 0.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "metrics/metric.h"

namespace lathe {

/// Something that is known of a candidate beside its original, before either is trained.
struct Feature {
  std::string metric;
  Form form = Form::distance;

  friend bool operator==(const Feature&, const Feature&) = default;
};

/// What networks were made of and how they were trained: what a rule is good for.
struct TrainingOrigin {
  std::string network;    ///< the original's name: "resnet34-cifar"
  std::string structure;  ///< structure_of() the original
  std::string dataset;    ///< "cifar10"
  long epochs = 0;
  std::string training;  ///< what else there is to say: "from scratch"

  friend bool operator==(const TrainingOrigin&, const TrainingOrigin&) = default;
};

/// Says it in words: "resnet34-cifar on cifar10, 12 epochs, from scratch".
std::string print(const TrainingOrigin& origin);

/// Names what a network is made of, for any number of samples: neither names nor weights count.
std::string structure_of_network(const Graph& network);

/// How candidates are judged.
struct GateRule {
  std::string name;    ///< "two-sided", "paper"
  std::string source;  ///< how well it does, in words
  /// The published rule: refused if the score of the network is below the original's.
  bool is_paper = false;
  TrainingOrigin origin;            ///< of the networks that it was fitted to
  std::vector<std::string> tables;  ///< the names of the tables that hold them

  /// Accepted while the logarithms of ratios of the first feature's metric stay within these.
  double network_band = 0, layer_band = 0;

  /// The change of accuracy to expect, in points, is the sum of weights * features, give or take
  /// "deviation". It may fall by "tolerance".
  std::vector<Feature> features;
  std::vector<double> weights;
  double deviation = 0, tolerance = 0.5;

  /// Some metrics say nothing of layers alone (Contribution::first_order). What they add to a
  /// prediction is taken to be this share of what the others say, give or take "beyond_deviation".
  double beyond_share = 0, beyond_deviation = 0;

  /// Why the prediction is not calibrated for the network at hand; "" if it is. Set by suited().
  std::string caveat;

  /// Returns the metrics that the rule reads; that of the bands is the first.
  std::vector<Metric> metrics() const;
  /// Returns the features whose metrics say nothing of layers alone.
  std::vector<std::string> unknown_to_first_order() const;
};

/// Returns the rule of that name: "two-sided", the default, or "paper"; or the one that a file
/// holds. Anything else is an error that says what there is.
GateRule find_rule(const std::string& name_or_file);

/// Returns the rule with what is to be said where it judges networks made of "original" for a
/// dataset: nothing, if it was fitted to such networks.
GateRule suited(GateRule rule, const Graph& original, const std::string& dataset);

/// Converts a rule to and from JSON; what is no rule is refused with the reason.
nlohmann::json to_json(const GateRule& rule);
GateRule rule_from_json(const nlohmann::json& json);

/// Converts an origin to and from JSON.
nlohmann::json to_json(const TrainingOrigin& origin);
TrainingOrigin origin_from_json(const nlohmann::json& json);

}  // namespace lathe
