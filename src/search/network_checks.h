// How much of a compiled network was compared with the interpreter, and why the rest was not.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lathe {

/// Counts units (compile/units.h); those that are compiled alike count once.
struct NetworkChecks {
  long units = 0;
  long full = 0;                          ///< those that were compared at full size
  long reduced = 0;                       ///< those that were compared on a smaller shape
  std::map<std::string, long> unchecked;  ///< why others were not at full size, with their number
  friend bool operator==(const NetworkChecks&, const NetworkChecks&) = default;
};

/// Says what was compared in a line: "41 units with the interpreter, 35 of them in two sizes".
std::string print_checked(const NetworkChecks& checks);

/// Says what was not: "2 units (an instance reads what a later one overwrites)"; "none".
std::string print_unchecked(const NetworkChecks& checks);

/// Converts to and from JSON, as the journal keeps it.
nlohmann::json to_json(const NetworkChecks& checks);
NetworkChecks network_checks_from_json(const nlohmann::json& json);

}  // namespace lathe
