// The gate: may a network that neural steps made take the place of the original?
//
//   GateRule rule = suited(find_rule("two-sided"), original, "cifar10");
//   GateVerdict verdict = judge(rule, compared(scorer.run(original, rule.metrics()),
//                                              scorer.run(candidate, rule.metrics())));
//
// Neural steps change what is computed. Dependences say nothing about them. Scores at
// initialisation do, if they are read from both sides: a network whose score moved far, up or down,
// is another network. What "far" means, and what other metrics add, was fitted to networks that
// were trained (lathe calibrate). It is data (capacity/rule.h).
#pragma once

#include <optional>

#include "base/statistics.h"
#include "capacity/rule.h"
#include "metrics/metric_scores.h"
#include "program/mixing.h"

namespace lathe {

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

/// Compares scores that have the same metrics and seeds. If a candidate has several layers made of
/// one layer of the original, their names begin with its name, and they count together.
std::vector<Comparison> compared(const std::vector<Scores>& original,
                                 const std::vector<Scores>& candidate);

/// Returns the score of a candidate with one entry for each layer of the original: the sum over the
/// layers that are made of it.
Score folded(const Score& original, const Score& candidate);

/// Returns the value of a feature.
double value_of(const Feature& feature, const Comparison& comparison);

/// Returns the values of features. The comparisons must have all their metrics.
std::vector<double> values_of(const std::vector<Feature>& features,
                              const std::vector<Comparison>& comparisons);

/// The change of accuracy that a rule expects.
struct Prediction {
  double points = 0;
  double deviation = 0;  ///< by how many points it is usually wrong
  /// Returns the interval that holds the true change with a probability of 95 %.
  Interval interval() const;
};

/// How the mixing of channels changed.
struct MixingChange {
  Mixing before, after;
};

/// Says what a change of mixing means to a reader, each in a sentence; nothing where nothing
/// changed.
std::vector<std::string> print_mixing(const MixingChange& mixing);

struct GateVerdict {
  bool accepted = false;
  /// The probability that the verdict is right. Nothing if it is not known: if there is only one
  /// seed, or if the rule was fitted to another network.
  std::optional<double> sure;
  std::string reason;                ///< one sentence
  double ratio = 1;                  ///< of the network's scores
  std::optional<Interval> interval;  ///< of that ratio, to 95 %; nothing with one seed
  std::vector<LayerMove> layers;
  std::optional<Prediction> predicted;
  std::string caveat;  ///< why the prediction is not calibrated here; "" if it is
  /// Do the channels mix: as the network was, and as it is now? Nothing if nobody looked.
  std::optional<MixingChange> mixing = std::nullopt;
};

/// Is a network within the bands of a rule (by the paper's rule: not below the original)? This can
/// be told when only the rule's first metric is known.
bool is_within_bands(const GateRule& rule, const Comparison& comparison);

/// Judges a candidate.
GateVerdict judge(const GateRule& rule, const std::vector<Comparison>& comparisons);

/// Returns the verdict of a candidate that computes less precisely, and gains so many points of
/// accuracy by that: fewer than 0, if it loses any. What it seems to gain by luck does not count.
GateVerdict with_precision(const GateRule& rule, GateVerdict verdict, double points);

/// Says how sure a verdict is: ": 94 % sure"; "" if that is not known. It never says 100 %.
std::string print_sure(const std::optional<double>& sure);

/// Says what a verdict predicts: "accuracy -0.31 points, give or take 0.75". If the rule is not
/// calibrated for the network, it says the interval only.
std::string print_prediction(const GateVerdict& verdict);

}  // namespace lathe
