// Amounts as people write them: "9M", "90s", "2ms".
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace lathe {

/// A number and the unit behind it: "90s" is 90 and "s".
struct Amount {
  double value;
  std::string unit;
};

/// Reads an amount; nothing if it does not begin with a positive number.
std::optional<Amount> parse_amount(const std::string& text);

/// Reads a time in seconds: "90s", "10m" or "1h"; nothing if it is none.
std::optional<double> parse_duration(const std::string& text);

/// Read what an option may be given; "" is no bound. They fail where the text is something else.
/// How much there may be of something: "9M", "1.2G", "500k" or a number.
long parse_limit(const std::string& option, const std::string& text);
/// How long a run may take, in seconds: "latency=2ms".
double parse_latency(const std::string& option, const std::string& text);
/// What a whole search may take, in seconds: "10m".
double parse_budget(const std::string& option, const std::string& text);

}  // namespace lathe
