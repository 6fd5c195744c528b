// Knobs of a template. Each is written at the place where the template decides.
//
//   long unroll = choices.choose("unroll", 4, {1, 2, 8});   // 4, unless the settings say otherwise
//
// To find the knobs of a template, its recipe is written once without settings. Each choose() on
// the way is a knob.
#pragma once

#include "schedules/schedule.h"

namespace lathe::schedules {

/// The settings of knobs, and the knobs that were asked for.
class Choices {
 public:
  explicit Choices(Settings settings) : settings_(std::move(settings)) {}

  /// Returns the setting of a knob if it is one of "others", otherwise "own".
  long choose(const std::string& name, long own, const std::vector<long>& others);

  /// Returns the setting of a knob, if there is one. This is for knobs that are decided together.
  /// The caller then tells with offer() what it chose, or with refuse() that the settings do not
  /// fit.
  std::optional<long> wanted(const std::string& name) const;
  void offer(const std::string& name, long own, const std::vector<long>& others);
  void refuse() { refused_ = true; }

  /// Were all settings used?
  bool fit() const;
  /// Returns the knobs that have more than one value.
  std::vector<Knob> knobs() const;

 private:
  Settings settings_;
  std::vector<Knob> knobs_;
  bool refused_ = false;
};

/// Returns each of "factors" times "unit".
std::vector<long> multiples(long unit, const std::vector<long>& factors);

/// Returns those numbers of "values" that are from "least" to "most".
std::vector<long> within(const std::vector<long>& values, long least, long most);

}  // namespace lathe::schedules
