// The gate: may a network that neural steps made take the place of the original?
//
//   GateRule rule = default_rule();
//   GateVerdict verdict = judge(rule, scorer.run(original, metrics), scorer.run(candidate,
//   metrics));
//
// Neural steps change what is computed: dependences say nothing about them. Scores at
// initialisation do, if they are read from both sides: a network whose score moved far, up or down,
// is another network. What "far" means, and which other metrics have a say, was fitted to networks
// that were trained (lathe calibrate), and is data.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/statistics.h"
#include "metrics/metric_scores.h"

namespace lathe {

/// Something that is known of a candidate beside its original, before either is trained.
struct Feature {
  enum class Form {
    distance,         ///< |log(score / original's)|, of the network
    log_distance,     ///< log(1 + distance): that a score is far off, not how far
    layers_distance,  ///< the mean of distances over layers
    worst_distance,   ///< the largest of them
    log_ratio,        ///< log(score / original's)
    difference,       ///< score - original's
    moved,            ///< |score - original's|
  };
  std::string metric;
  Form form = Form::distance;

  friend bool operator==(const Feature&, const Feature&) = default;
};

/// Names a form: "distance", ...
const char* name_of(Feature::Form form);

/// How candidates are judged.
struct GateRule {
  std::string name;    ///< "two-sided", "paper"
  std::string source;  ///< what it was fitted to
  /// The published rule: refused if the score of the network is below the original's.
  bool is_paper = false;

  /// Accepted while the logarithms of ratios of the first feature's metric stay within these.
  double network_band = 0, layer_band = 0;

  /// The change of accuracy to expect, in points: intercept + sum of weights * features, give or
  /// take "deviation"; what it may fall by.
  std::vector<Feature> features;
  std::vector<double> weights;
  double intercept = 0, deviation = 0, tolerance = 0.5;

  /// Returns the metrics that the rule reads.
  std::vector<Metric> metrics() const;
};

/// Returns the rule of that name: "two-sided", the default, or "paper".
GateRule find_rule(const std::string& name);

/// Converts a rule to and from JSON; what is no rule is refused with the reason.
nlohmann::json to_json(const GateRule& rule);
GateRule rule_from_json(const nlohmann::json& json);

/// How far one layer moved: the mean over seeds of log(score / original's).
struct LayerMove {
  std::string layer;
  double log_ratio = 0;
};

/// Two networks compared by one metric, seed by seed.
struct Comparison {
  std::string metric;
  std::vector<double> log_ratios;   ///< of the network; empty where a score is not positive
  std::vector<double> differences;  ///< of the network
  std::vector<LayerMove> layers;    ///< of the original's layers
};

/// Compares scores that have the same metrics and seeds. A candidate's layers that are made of one
/// layer of the original begin with its name; they count together.
std::vector<Comparison> compared(const std::vector<Scores>& original,
                                 const std::vector<Scores>& candidate);

/// Returns the values of features.
std::vector<double> values_of(const std::vector<Feature>& features,
                              const std::vector<Comparison>& comparisons);

struct GateVerdict {
  bool accepted = false;
  double sure = 0.5;   ///< the probability that the verdict is the right one, as far as seeds tell
  std::string reason;  ///< one sentence
  double ratio = 1;    ///< of the network's scores
  Interval interval;   ///< of that ratio, 95 %
  std::vector<LayerMove> layers;
  bool predicts = false;
  double predicted = 0, uncertainty = 0;  ///< of the change of accuracy, in points
};

/// Is a network within the bands of a rule (or not below the original, by the paper's)? This is
/// what can be said where only the rule's first metric is known.
bool is_within_bands(const GateRule& rule, const Comparison& comparison);

GateVerdict judge(const GateRule& rule, const std::vector<Comparison>& comparisons);

}  // namespace lathe
