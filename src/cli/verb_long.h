// What verbs share that take long: interruptions, and amounts as people write them.
#pragma once

#include <optional>
#include <string>

namespace lathe {

/// From now on the first interruption (Ctrl-C) is noted and the second ends the program.
void listen_to_interruptions();
bool is_interrupted();

/// Returns the command that this is, as a shell would read it: "lathe optimize ...".
std::string command_line();

/// A number and the unit behind it: "90s" is 90 and "s".
struct Amount {
  double value;
  std::string unit;
};

/// Reads an amount; nothing if it does not begin with a positive number.
std::optional<Amount> parse_amount(const std::string& text);

}  // namespace lathe
