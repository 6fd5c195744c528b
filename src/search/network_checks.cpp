// network_checks.cpp: what was compared. Interface: network_checks.h.
#include "search/network_checks.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace lathe {
namespace {

std::string print_units(long count) {
  return fmt::format("{} unit{}", count, count == 1 ? "" : "s");
}

}  // namespace

std::string print_checked(const NetworkChecks& checks) {
  return fmt::format("{} with the interpreter, {} of them in two sizes", print_units(checks.full),
                     checks.reduced);
}

std::string print_unchecked(const NetworkChecks& checks) {
  std::string text;
  for (const auto& [why, count] : checks.unchecked) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", print_units(count), why);
  }
  return text.empty() ? "none" : text;
}

nlohmann::json to_json(const NetworkChecks& checks) {
  return {{"units", checks.units},
          {"full", checks.full},
          {"reduced", checks.reduced},
          {"unchecked", checks.unchecked}};
}

NetworkChecks network_checks_from_json(const nlohmann::json& json) {
  return {json.at("units"), json.at("full"), json.at("reduced"),
          json.at("unchecked").get<std::map<std::string, long>>()};
}

}  // namespace lathe
