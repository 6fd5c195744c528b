// verb_amount.cpp: amounts as people write them. Interface: verb_amount.h.
#include "cli/verb_amount.h"

#include <map>
#include <stdexcept>

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

}  // namespace lathe
