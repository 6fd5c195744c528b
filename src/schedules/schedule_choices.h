// What can be chosen about a template, written where the template decides it.
//
//   long unroll = choices.choose("unroll", 4, {1, 2, 8});   // 4, unless the settings say otherwise
//
// To find the knobs of a template, its recipe is written without settings: each choose() on the way
// is a knob.
#pragma once

#include "schedules/schedule.h"

namespace lathe::schedules {

class Choices {
 public:
  explicit Choices(Settings settings) : settings_(std::move(settings)) {}

  /// Returns the setting of a knob if it is one of "others", otherwise "own".
  long choose(const std::string& name, long own, const std::vector<long>& others);

  /// Returns the setting of a knob, if there is one. For knobs that are decided together: the
  /// caller then says with offer() what it chose, or with refuse() that the settings do not fit.
  std::optional<long> wanted(const std::string& name) const;
  void offer(const std::string& name, long own, const std::vector<long>& others);
  void refuse() { refused_ = true; }

  /// Returns whether all settings were used.
  bool fit() const;
  /// Returns the knobs that leave a choice.
  std::vector<Knob> knobs() const;

 private:
  Settings settings_;
  std::vector<Knob> knobs_;
  bool refused_ = false;
};

/// A function that writes a template's recipe. It asks the choices for each number, and tells them
/// which others are possible.
using Writer = std::optional<Written> (*)(const Situation& situation, Choices& choices);

/// Returns the recipe for these settings; nothing if some could not be used.
std::optional<Written> written_with(const Situation& situation, const Settings& settings,
                                    Writer write);

/// Returns what can be chosen about the recipe; nothing where there is none.
std::vector<Knob> knobs_of(const Situation& situation, Writer write);

/// Returns those numbers of "values" that are from "least" to "most".
std::vector<long> within(const std::vector<long>& values, long least, long most);

}  // namespace lathe::schedules
