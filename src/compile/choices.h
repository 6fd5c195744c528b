// What was chosen while a network was compiled: schedules of its units of work and layouts of its
// values, as data that can be kept beside a network and compiled with elsewhere.
//
//   ChoiceRecord record;
//   Compiled compiled = compile(graph, record.noting(options));
//   RecordedChoices choices = record.choices();
//   compile(graph, with_choices(options, choices))        the same code, without the database
#pragma once

#include <map>
#include <mutex>
#include <nlohmann/json_fwd.hpp>

#include "compile/compile.h"

namespace lathe {

/// What was chosen for each that was asked about; nothing: what the compiler itself chooses.
struct RecordedChoices {
  std::map<std::string, std::optional<Choice>> schedules;      ///< by the keys of units
  std::map<std::string, std::optional<LayoutChoice>> layouts;  ///< by the keys of networks

  friend bool operator==(const RecordedChoices&, const RecordedChoices&) = default;
};

/// Converts to and from JSON; fails where it is not what to_json() writes.
///   {"schedules": [{"unit": "conv(...", "choice": {"schedule": "window", "settings": {}}}, ...],
///    "layouts": [{"network": "layouts of 30 nodes ...", "choice": "64 32; 5:32"}]}
nlohmann::json to_json(const RecordedChoices& choices);
RecordedChoices choices_from_json(const nlohmann::json& json);

/// Returns options that choose so. What is not among the choices is left to the compiler; where
/// they are of one network, others that their layouts fit get them, too: it may have gone through
/// another program, and come back with a node more.
CompileOptions with_choices(CompileOptions options, const RecordedChoices& choices);

/// Notes what is chosen while networks are compiled.
class ChoiceRecord {
 public:
  /// Returns options that choose as these do, and note it here: for as long as this lives.
  CompileOptions noting(CompileOptions options);

  const RecordedChoices& choices() const { return choices_; }

 private:
  std::mutex mutex_;  // units are compiled by several threads
  RecordedChoices choices_;
};

}  // namespace lathe
