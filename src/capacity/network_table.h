// Tables of networks that were made of one and trained: what rules are fitted to.
//
//   NetworkTable table = read_network_table("networks.csv", "resnet34-cifar", graph);
//   table.networks[1].recipe, .top1                     what was done to it, what training said
//   table.original().accuracy()                         of the network as it was
//
// A table is a CSV file. Lines that begin with # say where it is from; each is optional:
//   # dataset: cifar10
//   # epochs: 12
//   # training: from scratch
// The first other line names the columns: name and top1, the accuracy in percent; maybe seed and
// parameters; then either recipe (transforms/transform_network.h; lines are separated by ; and a
// text with a comma stands in quotes), or one column for each 3x3 convolution, which has its kind
// (transforms/transform_kinds.h):
//   name,seed,top1,recipe
//   original,0,90.1,
//   halves,0,90.3,"layer3.*.conv?: group(2); layer4.*.conv?: group(2)"
//   halves,1,90.0,"layer3.*.conv?: group(2); layer4.*.conv?: group(2)"
// Lines with the same name are one network, trained several times. One network must be the
// original, which nothing changed: all accuracies are compared with the original's of the same
// table.
//
// With scores, a table is a JSON file (lathe calibrate --write-table): rules can be fitted to it
// without the data that the networks were scored on.
#pragma once

#include "capacity/calibration.h"
#include "transforms/transform_network.h"

namespace lathe {

/// A network of a table.
struct TrainedNetwork {
  std::string name;
  std::vector<double> top1;        ///< accuracies in percent, of each time that it was trained
  NetworkRecipe recipe;            ///< that makes it of the original; empty for the original
  std::optional<long> parameters;  ///< elements of all weights, where the table has them
  std::vector<Scores> scores;      ///< empty where it was not scored

  /// Returns the mean of its accuracies.
  double accuracy() const;
};

struct NetworkTable {
  std::string name;  ///< the file's, without its folder and ending
  TrainingOrigin origin;
  std::string scored_on;  ///< "64 samples of cifar10, 3 seeds"; "" where it was not scored
  std::vector<TrainedNetwork> networks;

  /// Returns the network that nothing changed; a table without one is refused when it is read.
  const TrainedNetwork& original() const;
};

/// Reads a table of networks that are made of "original", which has that name. A malformed file is
/// an error that says where.
NetworkTable read_network_table(const std::string& path, const std::string& name,
                                const Graph& original);

/// Prints a table with its scores, as JSON; all networks must have the same metrics and seeds. What
/// it holds of layers is what the metrics' forms need. Scores have six digits.
std::string print_scored(const NetworkTable& table);

/// Returns the networks, the original left out, as a rule is fitted to them. Each must have scores
/// by all these metrics.
std::vector<Trained> trained_in(const NetworkTable& table, const std::vector<Metric>& metrics);

}  // namespace lathe
