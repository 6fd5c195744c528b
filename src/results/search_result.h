// The result of a search, as the file result.json in its folder keeps it. Later versions of Lathe
// read the file, too.
//
//   write_search_result(result, "runs/r34");
//   SearchResult result = read_search_result("runs/r34");
//   result.winner.ms                             6.9, where result.original.ms is 26.4
//
// Times are milliseconds of one run of the network. If nothing was found, the winner is the
// original. Numbers that are not known are left out of the file.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "search/network_checks.h"
#include "transforms/transform_network.h"

namespace lathe {

/// How candidates were judged (capacity/gate.h).
struct ResultRule {
  std::string name;
  double tolerance = 0, network_band = 0, layer_band = 0;
  bool paper = false;
  std::string metric = {};  ///< that the bands are of; "" in files of an earlier Lathe

  /// Returns what texts call the score that the bands are of.
  std::string score_name() const { return metric.empty() ? "score" : metric; }
  friend bool operator==(const ResultRule&, const ResultRule&) = default;
};

/// What a network costs.
struct ResultCost {
  double ms = 0;
  long macs = 0, weights = 0;
  friend bool operator==(const ResultCost&, const ResultCost&) = default;
};

/// What the gate said of the winner.
struct ResultVerdict {
  bool accepted = false;
  std::optional<double> sure;  ///< the probability that it is right; none if that is not known
  std::string reason;
  double ratio = 1;                               ///< of scores: the winner's to the original's
  std::optional<std::vector<double>> interval;    ///< of that ratio: two ends; none with one seed
  std::map<std::string, double> layers;           ///< logarithm of the ratio of each
  std::optional<double> predicted, uncertainty;   ///< of the change of accuracy, in points
  std::optional<std::vector<double>> prediction;  ///< ends of what holds that change, to 95 %
  /// Why the prediction is not calibrated for this network; then there is no "predicted".
  std::optional<std::string> caveat;
  friend bool operator==(const ResultVerdict&, const ResultVerdict&) = default;
};

struct ResultWinner {
  double ms = 0, original_ms = 0;  ///< of one run in which they took turns
  double spread = 0;               ///< half of its times lie in a range of so many ms
  bool tuned = false;
  long macs = 0, weights = 0;
  NetworkRecipe recipe;
  std::optional<ResultVerdict> verdict;  ///< none if nothing was found
  /// How much of its code, and of the original's, was compared with the interpreter.
  std::optional<NetworkChecks> checks, original_checks;
  friend bool operator==(const ResultWinner&, const ResultWinner&) = default;
};

/// The best network that one way of choosing found in the list of blocks.
struct ResultBaseline {
  std::string way;           ///< "sampled": drawn at random; "assigned": over all layers at once
  std::optional<double> ms;  ///< none if no network of the list passed
  double original_ms = 0;    ///< of the run in which they took turns
  bool tuned = false;
  long macs = 0, weights = 0;
  std::string recipe;  ///< in text
  long tried = 0, refused = 0;
  /// Returns the time where the original takes so long. Other runs, other speeds of the machine: so
  /// times of several ways can stand beside each other.
  double ms_beside(double original) const { return ms.value() * original / original_ms; }
  friend bool operator==(const ResultBaseline&, const ResultBaseline&) = default;
};

/// What a search over the list of blocks found (search/block_list.h), with the same compiler, gate
/// and tuning.
struct ResultBlocks {
  long most = 0;            ///< blocks that a layer can choose from, at most
  double log_networks = 0;  ///< logarithm, to base 10, of how many networks the list makes
  std::vector<ResultBaseline> ways;
  friend bool operator==(const ResultBlocks&, const ResultBlocks&) = default;
};

/// The fastest network that some families of variants could make, by the tables of the search
/// (strategies/strategy_ablation.h).
struct ResultFamilies {
  std::string families;  ///< "everything", "groups only", "its own", "all but shuffled"
  double ms = 0, original_ms = 0;
  double predicted = 0;           ///< change of accuracy, in points
  std::vector<std::string> used;  ///< families that some layer uses
  friend bool operator==(const ResultFamilies&, const ResultFamilies&) = default;
};

/// How often a trained network and the winner made of it are right, in percent.
struct ResultAccuracy {
  double original = 0, before = 0;  ///< before the winner is tuned
  long images = 0;                  ///< that validate
  // What train.py reached, on the test images; none before it ran.
  std::optional<double> tuned = {}, tuned_original = {};
  std::optional<long> epochs = {};
  std::string of = "labels";  ///< "outputs": percent of what the original's outputs vary
  friend bool operator==(const ResultAccuracy&, const ResultAccuracy&) = default;
};

/// A limit that was set, and how the result stands to it.
struct ResultLimit {
  std::string what;  ///< "latency" in ms, "weights", "MACs"
  double limit = 0;
  /// What the winner has; if nothing was found, the least that was possible.
  double reached = 0;
  bool met = false;  ///< by the winner, which may be the original
  friend bool operator==(const ResultLimit&, const ResultLimit&) = default;
};

/// Another library, on the original network.
struct ResultPeer {
  std::string name;
  double ms = 0, original_ms = 0;  ///< its time and Lathe's, from one run in which they took turns
  friend bool operator==(const ResultPeer&, const ResultPeer&) = default;
};

/// The original and the winner with all layers in one precision.
struct ResultPrecision {
  std::string precision;                ///< "int8"
  double ms = 0, original_ms = 0;       ///< of the original in it, and in f32 in the same run
  std::optional<double> accuracy = {};  ///< of the original in it, in percent
  /// Of the network with the winner's steps, if these change more than its precision.
  std::optional<double> winner_ms = {}, winner_original_ms = {};
  friend bool operator==(const ResultPrecision&, const ResultPrecision&) = default;
};

/// A layer that could change, and what it is in the winner.
struct ResultLayer {
  std::string layer, kind;
  std::string recipe;  ///< in text; "" if the layer did not change
  std::string meaning;
  double before_ms = 0, after_ms = 0;
  long macs_before = 0, macs = 0, weights_before = 0, weights = 0;
  std::optional<double> first_order, exact;  ///< logarithm of the ratio of scores
  friend bool operator==(const ResultLayer&, const ResultLayer&) = default;
};

/// Something that a kind of layer can become.
struct ResultVariant {
  std::string recipe, meaning;
  long macs = 0, weights = 0;
  std::optional<double> before_ms, after_ms;  ///< none if it failed
  std::optional<double> first_order;          ///< the mean over the layers of the kind
  std::string failure;
  std::optional<std::string> family = std::nullopt;  ///< "grouped"; none if that is not known
  friend bool operator==(const ResultVariant&, const ResultVariant&) = default;
};

/// Layers of one shape.
struct ResultKind {
  std::string kind;
  std::vector<std::string> sites;
  std::vector<ResultVariant> variants;
  friend bool operator==(const ResultKind&, const ResultKind&) = default;
};

/// A network that passed and was measured; no other was better in all of time, prediction and
/// weights.
struct ResultPoint {
  std::string recipe;
  double ms = 0, original_ms = 0, ratio = 1;
  std::optional<double> predicted;
  long macs = 0, weights = 0;
  friend bool operator==(const ResultPoint&, const ResultPoint&) = default;
};

struct SearchResult {
  std::string lathe;  ///< its version
  std::string network, command, strategy;
  std::map<std::string, std::string> identity;  ///< as in the journal
  bool found = false;                           ///< is the winner faster than the original?
  bool stopped = false;                         ///< interrupted: the best so far
  double seconds = 0;
  long threads = 1;
  ResultRule rule;
  ResultCost original;
  ResultWinner winner;
  /// Logarithm, to base 10, of how many networks there were to choose from.
  std::optional<double> log_networks;
  std::optional<ResultAccuracy> accuracy;  ///< none if the network was not trained
  std::optional<ResultBlocks> blocks;
  /// What families contribute; nothing if that is not known.
  std::optional<std::vector<ResultFamilies>> families;
  std::vector<ResultLimit> limits;  ///< those that were set
  std::vector<ResultPeer> peers;
  /// Where layers could have several.
  std::optional<std::vector<ResultPrecision>> precisions = std::nullopt;
  long tried = 0, refused = 0, failed = 0;
  std::map<std::string, long> reasons;  ///< of refusals and failures, with their number
  std::vector<ResultLayer> layers;      ///< all that could change, in the network's order
  double rest_ms = 0;                   ///< of what could not
  std::vector<ResultKind> kinds;
  std::vector<ResultPoint> pareto;
  friend bool operator==(const SearchResult&, const SearchResult&) = default;
};

/// Names the way that found the winner. This is "Lathe", unless there was only the list of blocks
/// to choose from: then it is the way of choosing.
std::string way_of_winner(const SearchResult& result);

/// Converts to and from JSON. If a field is missing or of another type, the error names its place:
/// "winner.verdict.ratio". A result of a later version is refused. Unknown fields are passed over.
nlohmann::json to_json(const SearchResult& result);
SearchResult search_result_from_json(const nlohmann::json& json);

/// Converts parts of a result to JSON, as the whole has them.
nlohmann::json to_json(const ResultLayer& layer);
nlohmann::json to_json(const ResultVariant& variant);

/// Reads a verdict as the journal keeps it.
ResultVerdict verdict_from_json(const nlohmann::json& json);

/// Writes result.json into the folder of a search, all or nothing; reads it. A folder without the
/// file holds no search, or one that has not ended. The message says which.
void write_search_result(const SearchResult& result, const std::string& folder);
SearchResult read_search_result(const std::string& folder);

}  // namespace lathe
