// amount.cpp: amounts as people write them. Interface: amount.h.
#include "jobs/amount.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <stdexcept>

#include "base/error.h"

namespace lathe {

std::optional<Amount> parse_amount(const std::string& text) {
  try {
    size_t end = 0;
    double value = std::stod(text, &end);
    if (value > 0) return Amount{value, text.substr(end)};
  } catch (const std::logic_error&) {
    // It is no number, or one that is too large.
  }
  return std::nullopt;
}

std::optional<double> parse_duration(const std::string& text) {
  static const std::map<std::string, double> scales{{"s", 1}, {"m", 60}, {"h", 3600}};
  constexpr double longest = 1e9;  // seconds: what is longer is a mistake
  auto amount = parse_amount(text);
  auto scale = amount ? scales.find(amount->unit) : scales.end();
  if (scale == scales.end() || amount->value * scale->second > longest) return std::nullopt;
  return amount->value * scale->second;
}

long parse_limit(const std::string& option, const std::string& text) {
  if (text.empty()) return std::numeric_limits<long>::max();
  auto amount = parse_amount(text);
  static const std::map<std::string, double> scales{{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}};
  auto scale = amount ? scales.find(amount->unit) : scales.end();
  if (scale == scales.end()) {
    fail("{} {}: write a number, as in 9M, 1.2G or 500000", option, text);
  }
  return std::lround(amount->value * scale->second);
}

double parse_latency(const std::string& option, const std::string& text) {
  if (text.empty()) return std::numeric_limits<double>::infinity();
  constexpr const char* name = "latency=";
  static const std::map<std::string, double> scales{{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  if (text.starts_with(name)) {
    auto amount = parse_amount(text.substr(std::strlen(name)));
    auto scale = amount ? scales.find(amount->unit) : scales.end();
    if (scale != scales.end()) return amount->value * scale->second;
  }
  fail("{} {}: write what a run may take, as in latency=2ms", option, text);
}

double parse_budget(const std::string& option, const std::string& text) {
  if (text.empty()) return std::numeric_limits<double>::infinity();
  if (auto seconds = parse_duration(text)) return *seconds;
  fail("{} {}: write a time, as in 90s, 10m or 1h", option, text);
}

}  // namespace lathe
