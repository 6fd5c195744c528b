// Metrics: scores of a network before anybody trained it. Each file X.cpp of this folder defines
// one.
//
//   Evaluation evaluation(network, batch);
//   std::vector<Score> scores = evaluation.run({find_metric("fisher"), find_metric("snip")});
//
// A metric adds nodes to a program (metric_program.h: the network as it learns, with its gradients)
// that compute something small, and says how a score is made of that. So several metrics share one
// program, which is compiled and run once.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace lathe {

class Evaluation;

/// What a metric says of one layer.
struct LayerScore {
  std::string layer;  ///< the node's name
  double score = 0;
  std::vector<double> channels = {};  ///< of which it is the sum, where there are any
};

struct Score {
  double total = 0;
  std::vector<LayerScore> layers = {};  ///< where the metric knows any
};

/// Makes a score, once the programs ran.
using Finish = std::function<Score()>;

struct Metric {
  std::string name;
  std::string summary;  ///< one line
  /// Adds what the metric needs to the programs of an evaluation.
  Finish (*prepare)(Evaluation& evaluation);
};

namespace metrics {
/// Returns all metrics, sorted by name.
const std::vector<Metric>& all();
}  // namespace metrics

/// Finds a metric by name; an unknown one gets an error that lists what there is.
const Metric& find_metric(const std::string& name);

/// Returns the metrics of a list, "fisher,naswot", or "all".
std::vector<Metric> parse_metrics(const std::string& list);

}  // namespace lathe
