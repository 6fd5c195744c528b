// Metrics: scores of a network before anybody trained it. Each file X.cpp of this folder defines
// one.
//
//   Evaluation evaluation(network, batch);
//   std::vector<Score> scores = evaluation.run({find_metric("fisher"), find_metric("snip")});
//
// A metric attaches itself to a probe (metric_probe.h: the network as it learns, with its
// gradients). It adds nodes that compute something small, and says how a score is made of that. So
// several metrics share one probe, which is compiled and run once.
//
// A metric also says what it contributes to a prediction of accuracy (capacity/): how its scores
// are compared, which way they may count, and what is known of them when layers are looked at one
// by one. No other code knows a metric by its name.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lathe {

class Evaluation;
struct Mixing;

/// What a metric says of one layer.
struct LayerScore {
  std::string layer;  ///< the node's name
  double score = 0;
  std::vector<double> channels = {};  ///< of which the score is the sum; empty if it is no such sum
};

struct Score {
  double total = 0;
  std::vector<LayerScore> layers = {};  ///< empty if the metric does not score layers
};

/// Makes the score of a metric, after the probes ran.
using Finish = std::function<Score()>;

/// A way to compare the score of a network with the original's. Each is 0 for the original.
enum class Form {
  distance,         ///< |log(score / original's)|, of the network
  log_distance,     ///< log(1 + distance): says that a score is far off, and hardly how far
  layers_distance,  ///< the mean of the layers' distances
  worst_distance,   ///< the largest of the layers' distances
  log_ratio,        ///< log(score / original's)
  times_less,       ///< original's / score - 1, if that is positive: each halving counts for more
  difference,       ///< score - original's
  moved,            ///< |score - original's|
};

/// Names a form: "distance", ...
const char* name_of(Form form);

/// Finds a form by its name; an unknown one is an error.
Form form_named(const std::string& name);

/// Which way a form may count. If it were fitted to count the other way, it counts nothing.
enum class Direction {
  promises,  ///< more of it never means less accuracy
  warns,     ///< more of it never means more accuracy
};

/// A form that a rule may look at.
struct MetricForm {
  Form form;
  Direction direction;
};

/// What a metric says of a network whose layers are evaluated one by one, each alone
/// (capacity/first_order.h).
struct FirstOrderScore {
  /// A recipe can make several layers of one. Do their scores add up, or does the last one count?
  enum class Parts { sum, last } parts = Parts::sum;
  /// The score of a layer grows with this power of the sum of squares of the gradient that it gets.
  double gradient = 0;
};

/// What a metric contributes to a prediction of accuracy.
struct Contribution {
  /// When a rule looks at the metric.
  enum class Use {
    bands,    ///< always: a rule limits how far it may move. Exactly one metric has this
    usual,    ///< unless the user names others
    asked,    ///< only if the user names it
    trained,  ///< of trained networks alone; there the first such metric has the bands
  } use = Use::asked;
  /// Does it measure capacity, or the size, which a search makes smaller on purpose?
  enum class Measures { capacity, size } measures = Measures::capacity;
  std::vector<MetricForm> forms;
  /// How the score of a network follows from those of its layers.
  enum class Whole { other, sum, mean } whole = Whole::other;
  /// Nothing, if layers that are evaluated alone do not tell the score.
  std::optional<FirstOrderScore> first_order = std::nullopt;
  /// The score, if how channels mix tells it; null, if that does not.
  double Mixing::*of_mixing = nullptr;

  /// Is the score known before a network is evaluated?
  bool is_known_early() const { return first_order.has_value() || of_mixing != nullptr; }
};

struct Metric {
  std::string name;
  std::string summary;  ///< one line
  /// Adds what the metric needs to the probes of an evaluation. Returns what makes its score.
  Finish (*attach)(Evaluation& evaluation);
  Contribution contributes;
};

namespace metrics {
/// Returns all metrics, sorted by name.
const std::vector<Metric>& all();
}  // namespace metrics

/// Finds a metric by its name. The error for an unknown name lists all metrics.
const Metric& find_metric(const std::string& name);

/// Returns the metrics of a list, "fisher,naswot", or "all".
std::vector<Metric> parse_metrics(const std::string& list);

/// Returns the metrics that rules use in this way.
std::vector<Metric> metrics_used(Contribution::Use use);

}  // namespace lathe
