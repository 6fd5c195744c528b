// The networks that a search tried, as reports show them.
//
//   for (const NetworkTrial& trial : network_trials(read_journal("runs/r34"))) use(trial.ms);
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "search/journal.h"
#include "transforms/transform_network.h"

namespace lathe {

/// One network. Unless it was evaluated exactly, its time and scores are to first order.
struct NetworkTrial {
  long number = 0;  ///< among networks, from 1
  std::string recipe, reason, at;
  Trial::Outcome outcome = Trial::Outcome::judged;
  bool exact = false;
  std::optional<double> ms, ratio, predicted;  ///< where they are known and finite
  long weights = 0;

  bool passed() const {
    return outcome == Trial::Outcome::measured || outcome == Trial::Outcome::judged;
  }
};

/// Returns the networks of a journal, in order, without the original. What the journal does not say
/// of a trial stays empty.
std::vector<NetworkTrial> network_trials(const JournalRecord& journal);

/// How often a sequence of steps occurs.
struct SequenceCount {
  std::string sequence;  ///< only the names of steps: "split_range → group"
  long winner = 0;       ///< layers of the winner
  double passed = 0;     ///< the mean over networks that passed and were measured
};

/// Returns the names of a recipe's steps, in the paper's notation.
std::string sequence_of(const Recipe& recipe);

/// Counts the sequences of the winner and of all networks that were measured (the paper's
/// Figure 5), the most frequent first.
std::vector<SequenceCount> sequence_counts(const NetworkRecipe& winner,
                                           const std::vector<NetworkTrial>& trials);

}  // namespace lathe
