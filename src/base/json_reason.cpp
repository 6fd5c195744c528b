// json_reason.cpp: errors about JSON in words for users. Interface: json_reason.h.
#include "base/json_reason.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

namespace lathe {
namespace {

/// Returns what stands between two texts; "" where they do not.
std::string between(std::string_view text, std::string_view before, std::string_view behind) {
  size_t begin = text.find(before);
  if (begin == std::string_view::npos) return "";
  begin += before.size();
  size_t end = behind.empty() ? text.size() : text.find(behind, begin);
  return end == std::string_view::npos ? "" : std::string(text.substr(begin, end - begin));
}

}  // namespace

std::string plain_reason(const nlohmann::json::exception& error) {
  using nlohmann::json;
  const char* text = error.what();
  if (dynamic_cast<const json::parse_error*>(&error) != nullptr) {
    std::string line = between(text, "at line ", ","), column = between(text, ", column ", ":");
    if (line.empty() || column.empty()) return "it is no JSON";
    return fmt::format("it is no JSON at line {}, column {}", line, column);
  }
  std::string key = between(text, "key '", "' not found");
  if (!key.empty()) return fmt::format("it has no \"{}\"", key);
  std::string wanted = between(text, "type must be ", ", but"), is = between(text, "but is ", "");
  if (!wanted.empty() && !is.empty()) {
    return fmt::format("it has a value of type {} where type {} belongs", is, wanted);
  }
  return "a value in it is missing, or is of the wrong type";
}

}  // namespace lathe
