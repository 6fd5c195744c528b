// How precisely the networks of a search compute: all in one precision, or each layer in its own.
//
//   SearchPrecision precision("any", options.score, *judge, listener);
//   precision.offered()                              f32, f16, int8
//   precision.timed(network, recipe, others)         a network to measure
//   precision.made(fitted, recipe, others)           a network to use: integers fit the data
#pragma once

#include "jobs/judging.h"
#include "jobs/precision.h"

namespace lathe {

/// The option's value for: whatever is fastest, layer by layer.
inline constexpr const char* any_precision = "any";

class SearchPrecision {
 public:
  /// "wanted" names a precision, or is any_precision. Fails if that cannot be had: integers need
  /// a trained network and data. What cannot be offered of "any", the listener is told.
  SearchPrecision(const std::string& wanted, const ScoreArguments& arguments,
                  const SearchJudge& judge, const JobListener& listener);

  /// May layers have several precisions?
  bool is_any() const { return is_any_; }
  /// Returns the precisions that a layer may have; f32 is the first of several.
  const std::vector<Precision>& offered() const { return offered_; }
  /// Returns the precision of the original: the only one, or f32 where any is wanted.
  Precision original() const { return offered_.front(); }
  /// Do all networks compute in f32?
  bool is_plain() const { return offered_.size() == 1 && original() == Precision::f32; }

  /// Returns a network with the precisions of a recipe, for its time alone: its integers are for
  /// no data. Layers that the recipe says nothing of have the precision "others".
  Graph timed(const Graph& network, const NetworkRecipe& recipe, Precision others) const;
  /// Returns it with integers that are made for the data, if there are any.
  Graph made(const Graph& network, const NetworkRecipe& recipe, Precision others) const;

  /// Returns how good a trained network is that a recipe made, and how many points of that are due
  /// to its precision. Nothing if the network is not trained.
  struct Judged {
    Agreement agreement;
    double points = 0;
  };
  std::optional<Judged> judged(const NetworkRecipe& recipe, Precision others) const;

  /// What integers are made for; no data: nothing.
  const CalibrationSource& calibration() const { return calibration_; }

 private:
  const SearchJudge& judge_;
  CalibrationSource calibration_;
  int threads_;
  bool is_any_;
  std::vector<Precision> offered_;
};

}  // namespace lathe
