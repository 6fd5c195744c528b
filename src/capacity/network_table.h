// Tables of trained networks, all made of one original. Rules are fitted to them.
//
//   NetworkTable table = read_network_table("networks.csv", "resnet34-cifar", graph);
//   table.networks[1].recipe, .top1                     what was done to it, what training said
//   table.original().accuracy()                         of the network as it was
//
// A table is a CSV file. Lines that begin with # say where it is from; each is optional:
//   # dataset: cifar10
//   # epochs: 12
//   # training: from scratch
// The first other line names the columns: name, top1 (the accuracy in percent), and maybe seed and
// parameters. Then follows either recipe (transforms/transform_network.h; its lines are separated
// by ; and a text with a comma stands in quotes), or one column for each layer that may change,
// with its kind (transforms/transform_kinds.h):
//   name,seed,top1,recipe
//   original,0,90.1,
//   halves,0,90.3,"layer3.*.conv?: group(2); layer4.*.conv?: group(2)"
//   halves,1,90.0,"layer3.*.conv?: group(2); layer4.*.conv?: group(2)"
// Lines with the same name are one network, trained several times. One network must be the
// original, unchanged: all accuracies are compared with the original's in the same table.
//
// A table with scores is a JSON file (lathe calibrate --write-table). Rules can be fitted to it
// without the data that the networks were scored on.
#pragma once

#include "capacity/calibration.h"
#include "transforms/transform_network.h"

namespace lathe {

/// A network of a table.
struct TrainedNetwork {
  std::string name;
  std::vector<double> top1;        ///< the accuracy in percent, each time that it was trained
  NetworkRecipe recipe;            ///< that makes it of the original; empty for the original
  std::optional<long> parameters;  ///< elements of all weights, if the table says
  std::vector<Scores> scores;      ///< empty if it was not scored

  /// Returns the mean of its accuracies.
  double accuracy() const;
};

struct NetworkTable {
  std::string name;  ///< the file's, without its folder and ending
  TrainingOrigin origin;
  std::string scored_on;  ///< "64 samples of cifar10, 3 seeds"; "" if it was not scored
  std::vector<TrainedNetwork> networks;

  /// Returns the original. A table without one is refused when it is read.
  const TrainedNetwork& original() const;
};

/// Reads a table of networks that are made of "original", which has that name. A malformed file is
/// an error that says where.
NetworkTable read_network_table(const std::string& path, const std::string& name,
                                const Graph& original);

/// Prints a table with its scores, as JSON. All networks must have the same metrics and seeds.
/// Scores of layers are printed for those metrics that compare layers. Scores have six digits.
std::string print_scored(const NetworkTable& table);

/// Returns all networks except the original, in the form that rules are fitted to. Each must have
/// scores by all these metrics.
std::vector<Trained> trained_in(const NetworkTable& table, const std::vector<Metric>& metrics);

}  // namespace lathe
