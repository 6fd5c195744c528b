// The choices that were made while a network was compiled: schedules of its units of work, and
// layouts of its values. They are data: they can be stored beside a network, and another
// compilation can use them.
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

/// The choices, for each unit and network that was asked about. Nothing: the compiler itself chose.
struct RecordedChoices {
  std::map<std::string, std::optional<Choice>> schedules;      ///< by the keys of units
  std::map<std::string, std::optional<LayoutChoice>> layouts;  ///< by the keys of networks

  friend bool operator==(const RecordedChoices&, const RecordedChoices&) = default;
};

/// Converts to and from JSON. Fails if the JSON is not what to_json() writes.
///   {"schedules": [{"unit": "conv(...", "choice": {"schedule": "window", "settings": {}}}, ...],
///    "layouts": [{"network": "layouts of 30 nodes ...", "choice": "64 32; 5:32"}]}
nlohmann::json to_json(const RecordedChoices& choices);
RecordedChoices choices_from_json(const nlohmann::json& json);

/// Returns options that make these choices, and leave all else to the compiler. If the choices are
/// of one network, its layouts are used for any network that they fit. This may be the same network
/// after another program rewrote it.
CompileOptions with_choices(CompileOptions options, const RecordedChoices& choices);

/// Notes what is chosen while networks are compiled.
class ChoiceRecord {
 public:
  /// Returns options that choose as these do, and note it here. The record must live as long as the
  /// options are used.
  CompileOptions noting(CompileOptions options);

  const RecordedChoices& choices() const { return choices_; }

 private:
  std::mutex mutex_;  // units are compiled by several threads
  RecordedChoices choices_;
};

}  // namespace lathe
